// Sends messages: at most so many calls at once an integration, each begun in the database before it is made.
import type { Group } from '../commit/group.ts'
import { createGroup } from '../commit/group.ts'
import { deliver } from '../deliver/deliver.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import type { Job } from '../domain/job.ts'
import type { Outcome } from '../domain/outcome.ts'
import { misconfigured } from '../domain/outcome.ts'
import { providerOf } from '../providers/registry.ts'
import { recordBeginnings } from '../record/begin-calls.ts'
import { recordDecisions } from '../record/record-decisions.ts'
import type { JobOutcome } from '../record/record-outcomes.ts'
import { recordOutcomes } from '../record/record-outcomes.ts'
import { settles } from '../record/settlement.ts'
import { lookAgainAt } from './look-again.ts'
import type { Outgoing, OutgoingMessage } from './outgoing.ts'
import { withOperatorMail } from './outgoing.ts'
import type { Pipeline } from './pipeline.ts'
import { begunNow, begunSettlement } from './settle-begun.ts'
import { settleOutcomes } from './settle-outcomes.ts'

export interface Sender {
  /** Calls that hold their slots and were begun with the decision. Resolves when all is recorded. */
  call(outgoing: readonly Outgoing[]): Promise<void>
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
  done(): void
}

/** Jobs that wait for a slot of one integration: all a node has in hand. More go back to the queue, where they hold no lease. */
const waitingMax = 2_000
const outcomesPerCommitMax = 200
/** An outcome that cannot be recorded is tried again for about half a lease; after that the job is looked at anew. */
const recordTries = 25
const recordAgainMs = 1_000

export function createSender(pipeline: Pipeline): Sender {
  return new SendingLines(pipeline)
}

class SendingLines implements Sender {
  readonly #pipeline: Pipeline
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #pumping = new Set<string>()
  readonly #outcomes: Group<JobOutcome, true>
  #stopped = false

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline
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

  async call(outgoing: readonly Outgoing[]): Promise<void> {
    await Promise.all(outgoing.map((one) => this.#callJob(one)))
  }

  async queue(outgoing: readonly Outgoing[]): Promise<void> {
    // Whoever comes now is given back with the node's other leases.
    if (this.#stopped) return
    await Promise.all(
      outgoing.map((one) => {
        const integrationId = one.messages[0]?.integration._id ?? ''
        const line = this.#waiting.get(integrationId) ?? []
        this.#waiting.set(integrationId, line)
        return new Promise<void>((resolve) => {
          line.push({ outgoing: one, done: resolve })
          this.#pumpSoon(integrationId)
        })
      }),
    )
  }

  room(integrationId: string): number {
    return this.#stopped ? 0 : waitingMax - (this.#waiting.get(integrationId)?.length ?? 0)
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

  async #callJob(outgoing: Outgoing): Promise<void> {
    const { world, slots } = this.#pipeline
    const calls = await Promise.all(
      outgoing.messages.map(async (message) => {
        const asked = { integrationId: message.integration._id, providerId: message.integration.providerId }
        return { message, asked, isThere: true, outcome: await callProvider(this.#pipeline, message) }
      }),
    )
    for (const { asked, outcome } of calls) {
      slots.free(asked.integrationId)
      if (outcome.kind === 'busy' && outcome.retryAfterMs !== undefined) {
        slots.pauseUntil(asked.integrationId, new Date(world.now().getTime() + outcome.retryAfterMs))
      }
      this.#pumpSoon(asked.integrationId)
    }
    const settled = settleOutcomes(outgoing.facts, calls, { now: world.now(), random: world.random() })
    await this.#record(outgoing.environment, settled)
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
    if (slots.isPaused(integrationId, world.now())) return this.#putOff(integrationId, line.splice(0))
    const batch = line.splice(0, slots.take(integrationId, line.length))
    if (line.length === 0) this.#waiting.delete(integrationId)
    for (const group of grouped(batch, (one) => one.outgoing.environment.id).values()) {
      await this.#begin(integrationId, group)
    }
  }

  /** The provider asked for patience: the jobs come back when it is over, without a call. */
  async #putOff(integrationId: string, batch: readonly Waiting[]): Promise<void> {
    this.#waiting.delete(integrationId)
    const due = lookAgainAt(this.#pipeline.slots, integrationId, this.#pipeline.world.now())
    await Promise.all(
      batch.map(async ({ outgoing, done }) => {
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
    const [freshKept, resumedKept] = await Promise.all([
      recordDecisions(db, world, environment, queue, { settlements, wishes: [] }),
      recordBeginnings(db, world, environment, queue, beginnings),
    ])
    return new Set([...freshKept, ...resumedKept])
  }

  async #begin(integrationId: string, batch: readonly Waiting[]): Promise<void> {
    const { world, slots } = this.#pipeline
    const environment = batch[0]?.outgoing.environment as Environment
    const now = world.now()
    const begun = batch.map(({ outgoing, done }) => ({ outgoing: begunNow(outgoing, now), done }))
    let kept: ReadonlySet<string> = new Set()
    try {
      kept = await this.#recordBegun(
        environment,
        begun.map(({ outgoing }) => outgoing),
        now,
      )
    } catch (error) {
      world.log.warn({ err: error, jobs: batch.length }, 'Calls could not be begun; the jobs are looked at again later')
    }
    for (const { outgoing, done } of begun) {
      if (kept.has(outgoing.facts.job.id)) void this.#callJob(outgoing).then(done)
      else {
        slots.free(integrationId)
        done()
      }
    }
  }
}

function beginningOf(message: OutgoingMessage) {
  const { integration, sending, id } = message
  return { id, providerId: integration.providerId, integrationId: integration._id, sending }
}

async function callProvider(pipeline: Pipeline, message: OutgoingMessage): Promise<Outcome> {
  const provider = providerOf(message.integration.providerId)
  if (provider === undefined) return misconfigured(`There is no provider ${message.integration.providerId}`)
  const integration = withOperatorMail(pipeline, message.integration)
  return deliver(pipeline.world, { provider, integration, message: { ...message.envelope, id: message.id } })
}
