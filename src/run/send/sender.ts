// Sends messages: at most so many calls at once an integration, each begun in the database before it is made.
import type { Group } from '../../commit/group.ts'
import { createGroup } from '../../commit/group.ts'
import { createSeating } from '../../deliver/seats.ts'
import { createTokenDeaths } from '../../deliver/token-deaths.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import type { Job } from '../../domain/job.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { unsure } from '../../domain/outcome.ts'
import { recordBeginnings } from '../../record/begin-calls.ts'
import { recordDecisions } from '../../record/record-decisions.ts'
import type { JobOutcome } from '../../record/record-outcomes.ts'
import { recordOutcomes } from '../../record/record-outcomes.ts'
import { settles } from '../../record/settlement.ts'
import type { Pipeline } from '../pipeline.ts'
import { askProviders } from './ask-providers.ts'
import { lookAgainMs } from './look-again.ts'
import type { BegunMessage, Called, Outgoing, OutgoingMessage } from './outgoing.ts'
import { begunSettlement } from './settle-begun.ts'
import { settleOutcomes } from './settle-outcomes.ts'
import { lineOf, restOver, takeSlots } from './take-slots.ts'

export interface Sender {
  /** Calls that hold their slots and were begun with the decision. Resolves when all is recorded. */
  call(outgoing: readonly Outgoing<BegunMessage>[]): Promise<void>
  /** Waits for slots, begins, calls. Resolves when all is recorded. */
  queue(outgoing: readonly Outgoing[]): Promise<void>
  /** How many may still wait here; more should be looked at again later. */
  room(integrationId: string): number
  /** This node may send again: whoever waited goes on. */
  wake(): void
  /** Begins nothing more: the jobs that were waiting are given back. Calls that are under way go on. */
  stop(): Job[]
}

interface Waiting {
  readonly outgoing: Outgoing
  readonly sinceMs: number
  done(): void
}

interface Begun {
  readonly outgoing: Outgoing<BegunMessage>
  done(): void
}

/** A slot comes free within the 20 s that a call may take: whoever is still in line then goes back before the lease ends. */
const patienceMs = 20_000
/** What a batch of jobs sent is recorded in one go, and some more with it. */
const outcomesPerCommitMax = 400
/** An outcome that cannot be recorded is tried again for about half a lease; after that the job is looked at anew. */
const recordTries = 25
const recordAgainMs = 1_000

/**
 * `waitingMax`: jobs that wait for a slot of one integration. Fewer than a node has in hand, and those that find no room
 * would be decided again and again in vain; as many, and nothing is claimed until a slot comes free.
 */
export function createSender(pipeline: Pipeline, waitingMax: number): Sender {
  return new SendingLines(pipeline, waitingMax)
}

class SendingLines implements Sender {
  readonly #pipeline: Pipeline
  readonly #waitingMax: number
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #pumping = new Set<string>()
  readonly #outcomes: Group<JobOutcome, true>
  readonly #deaths = createTokenDeaths()
  #stopped = false

  constructor(pipeline: Pipeline, waitingMax: number) {
    this.#pipeline = pipeline
    this.#waitingMax = waitingMax
    const { db, world, queue } = pipeline
    this.#outcomes = createGroup({
      sizeMax: outcomesPerCommitMax,
      keyOf: (outcome) => outcome.settlement.job.id,
      commit: async (environment, items) => {
        await recordOutcomes(db, world, environment, queue, items)
        return items.map((): true => true)
      },
    })
  }

  async call(outgoing: readonly Outgoing<BegunMessage>[]): Promise<void> {
    await Promise.all(this.#callJobs(outgoing))
  }

  async queue(outgoing: readonly Outgoing[]): Promise<void> {
    // Whoever comes now is given back with the node's other leases.
    if (this.#stopped) return
    const sinceMs = this.#pipeline.world.now().getTime()
    await Promise.all(
      outgoing.map((one) => {
        const integrationId = lineOf(one)
        const line = this.#waiting.get(integrationId) ?? []
        this.#waiting.set(integrationId, line)
        return new Promise<void>((resolve) => {
          line.push({ outgoing: one, sinceMs, done: resolve })
          this.#pumpSoon(integrationId)
        })
      }),
    )
  }

  room(integrationId: string): number {
    return this.#stopped ? 0 : this.#waitingMax - (this.#waiting.get(integrationId)?.length ?? 0)
  }

  wake(): void {
    for (const integrationId of this.#waiting.keys()) this.#pumpSoon(integrationId)
  }

  stop(): Job[] {
    this.#stopped = true
    const left = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    for (const { done } of left) done()
    return left.map(({ outgoing }) => outgoing.facts.job)
  }

  /** Each resolves when what came of its job is recorded. */
  #callJobs(all: readonly Outgoing<BegunMessage>[]): Promise<void>[] {
    const answers = askProviders(this.#pipeline, all)
    return all.map((outgoing) => this.#settle(outgoing, answers))
  }

  async #settle(outgoing: Outgoing<BegunMessage>, answers: ReadonlyMap<BegunMessage, Promise<Outcome>>): Promise<void> {
    const { world, queue } = this.#pipeline
    const asked = await Promise.all(outgoing.messages.map((message) => this.#answered(message, answers.get(message))))
    const calls = this.#withDeaths(asked)
    const moment = { now: world.now(), random: world.random() }
    const settled = settleOutcomes(outgoing.facts, calls, moment, outgoing.later)
    const { span } = outgoing.facts
    const recording = span && world.tracer?.begin('record outcome', span.traceparent)
    await this.#record(outgoing.environment, settled)
    const { due, status } = settled.settlement
    recording?.end({ attributes: { 'posthorn.step.status': status } })
    // What is left of the job goes on at once: no poll has to find it.
    if (due instanceof Date && due <= moment.now) queue.poke()
  }

  /** Its seat is free as soon as it is over, whatever the job's other calls do. */
  async #answered(message: BegunMessage, answer: Promise<Outcome> | undefined): Promise<Called> {
    const { world, slots } = this.#pipeline
    const { _id: integrationId, providerId } = message.integration
    const outcome = (await answer) ?? unsure('The message was not among those that were called')
    message.seat.leave()
    if (outcome.kind === 'busy' && outcome.retryAfterMs !== undefined && outcome.ofRecipient !== true) {
      slots.pauseUntil(integrationId, new Date(world.now().getTime() + outcome.retryAfterMs))
    }
    this.#pumpSoon(integrationId)
    return { message, asked: { integrationId, providerId }, isThere: true, outcome }
  }

  /** Which of them end a device's token: none, where an integration calls most of its devices dead. */
  #withDeaths(calls: readonly Called[]): readonly Called[] {
    const isDead = ({ outcome }: Called): boolean => outcome.kind === 'refused' && outcome.reason === 'dead-token'
    for (const call of calls) {
      const tells = call.message.channel === 'push' && (call.outcome.kind === 'sent' || isDead(call))
      if (tells) this.#deaths.note(call.asked.integrationId, isDead(call))
    }
    const dead = calls.filter(isDead)
    if (dead.length === 0) return calls
    const doubted = new Set(dead.map(({ asked }) => asked.integrationId).filter((id) => !this.#deaths.mayPrune(id)))
    for (const integrationId of doubted) {
      const words =
        'Most devices of an integration are said to be gone: its account is likely wrong, so no token is removed'
      this.#pipeline.world.log.warn({ integrationId }, words)
    }
    return calls.map((call) => (isDead(call) ? { ...call, prunes: !doubted.has(call.asked.integrationId) } : call))
  }

  async #record(environment: Environment, outcome: JobOutcome): Promise<void> {
    const { world } = this.#pipeline
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#outcomes.add(environment, outcome)
        return
      } catch (error) {
        const facts = { err: error, jobId: outcome.settlement.job.id, attempt }
        if (attempt === recordTries) {
          world.log.error(facts, 'An outcome could not be recorded; the message counts as perhaps sent')
          return
        }
        world.log.warn(facts, 'An outcome could not be recorded; will try again')
        await world.sleep(recordAgainMs)
      }
    }
  }

  /**
   * A turn of the loop later, and one at a time: slots that come free together, or while others are being begun, are taken
   * together.
   */
  #pumpSoon(integrationId: string): void {
    if (this.#pumping.has(integrationId) || !this.#waiting.has(integrationId)) return
    this.#pumping.add(integrationId)
    setImmediate(async () => {
      await this.#pump(integrationId)
      this.#pumping.delete(integrationId)
      if (this.#mayPump(integrationId)) this.#pumpSoon(integrationId)
    })
  }

  /** Whether somebody waits and there is a slot for them: no reason to come back otherwise, a freed slot will call. */
  #mayPump(integrationId: string): boolean {
    const { slots, isAlive, world } = this.#pipeline
    const isOpen = slots.has(integrationId) || slots.isPaused(integrationId, world.now())
    return this.#waiting.has(integrationId) && isAlive() && isOpen
  }

  async #pump(integrationId: string): Promise<void> {
    const { slots, world } = this.#pipeline
    const line = this.#waiting.get(integrationId) ?? []
    // Whoever waits stays in line: should their leases end meanwhile, their beginnings are refused.
    if (!this.#pipeline.isAlive()) return
    const nowMs = world.now().getTime()
    const isPaused = slots.isPaused(integrationId, world.now())
    const tired = line.findLastIndex((one) => isPaused || nowMs - one.sinceMs > patienceMs) + 1
    const putOff = line.splice(0, tired)
    const begun = this.#seat(line)
    if (line.length === 0) this.#waiting.delete(integrationId)
    await this.#putOff(putOff)
    for (const group of grouped(begun, (one) => one.outgoing.environment.id).values()) await this.#begin(group)
  }

  /** Takes from the front of the line whoever finds a seat. */
  #seat(line: Waiting[]): Begun[] {
    const { slots, world } = this.#pipeline
    const now = world.now()
    const seating = createSeating(slots)
    const begun: Begun[] = []
    for (let first = line[0]; first !== undefined; first = line[0]) {
      const seated = takeSlots(slots, seating, first.outgoing, now)
      if (seated.messages.length === 0) break
      begun.push({ outgoing: seated, done: first.done })
      line.shift()
    }
    return begun
  }

  /** Jobs that come back later without a call: the provider asked for patience, or theirs has ended. */
  async #putOff(batch: readonly Pick<Waiting, 'outgoing' | 'done'>[]): Promise<void> {
    const { slots, world } = this.#pipeline
    await Promise.all(
      batch.map(async ({ outgoing, done }) => {
        const now = world.now()
        const due = new Date(Math.max(restOver(slots, outgoing, now).getTime(), now.getTime() + lookAgainMs))
        const status = outgoing.unwritten === undefined ? 'running' : 'queued'
        const settlement = settles(outgoing.facts.job, status, { due })
        await this.#record(outgoing.environment, { settlement, results: [] })
        done()
      }),
    )
  }

  /** Returns the ids of the jobs whose calls may be made. */
  async #recordBegun(environment: Environment, begun: readonly Outgoing[], now: Date): Promise<ReadonlySet<string>> {
    const { db, world, queue } = this.#pipeline
    const fresh = begun.filter((outgoing) => outgoing.unwritten !== undefined)
    const resumed = begun.filter((outgoing) => outgoing.unwritten === undefined)
    const settlements = fresh.map((outgoing) => begunSettlement(outgoing, now))
    const beginnings = resumed.map(({ facts, messages }) => ({ job: facts.job, messages: messages.map(beginningOf) }))
    // Two statements: should one fail, what the other wrote as begun is still called.
    const written = await Promise.allSettled([
      recordDecisions(db, world, environment, queue, { settlements, wishes: [] }),
      recordBeginnings(db, world, environment, queue, beginnings),
    ])
    const failed = written.find((one) => one.status === 'rejected')
    if (failed !== undefined) {
      const facts = { err: failed.reason, jobs: begun.length }
      world.log.warn(facts, 'Calls could not be begun; the jobs are looked at again')
    }
    return new Set(written.flatMap((one) => (one.status === 'fulfilled' ? [...one.value] : [])))
  }

  async #begin(batch: readonly Begun[]): Promise<void> {
    const environment = batch[0]?.outgoing.environment as Environment
    const all = batch.map(({ outgoing }) => outgoing)
    const kept = await this.#recordBegun(environment, all, this.#pipeline.world.now())
    const isKept = ({ outgoing }: Begun): boolean => kept.has(outgoing.facts.job.id)
    const lost = batch.filter((one) => !isKept(one))
    for (const { outgoing } of lost) for (const { seat } of outgoing.messages) seat.leave()
    const called = batch.filter(isKept)
    for (const [index, settled] of this.#callJobs(called.map(({ outgoing }) => outgoing)).entries()) {
      void settled.then(called[index]?.done)
    }
    // Uncounted, should they still be ours: decided anew, one that cannot be written is told apart from the others.
    await this.#putOff(lost)
  }
}

function beginningOf(message: OutgoingMessage) {
  const { integration, sending, id } = message
  return { id, providerId: integration.providerId, integrationId: integration._id, sending }
}
