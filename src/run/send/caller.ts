// Makes the calls of custom steps: at most so many at once an environment, each begun in the database before it is made.
import type { Group } from '../../commit/group.ts'
import { createGroup } from '../../commit/group.ts'
import { callService } from '../../deliver/call-service.ts'
import type { Slots } from '../../deliver/slots.ts'
import { createSlots } from '../../deliver/slots.ts'
import { repeatedIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Job } from '../../domain/job.ts'
import { recordDecisions } from '../../record/record-decisions.ts'
import { recordOutcomes } from '../../record/record-outcomes.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { Pipeline } from '../pipeline.ts'
import { callBegun, callSettled } from './call-out.ts'
import type { Caller, PendingCall } from './pending-call.ts'

interface Waiting {
  readonly call: PendingCall
  readonly sinceMs: number
  done(): void
}

interface Line {
  readonly environment: Environment
  readonly waiting: Waiting[]
  isPumping: boolean
}

/** Services of customers are smaller than vendors': one that answers in 100 ms is asked 200 times a second. */
const callsAtOnceMax = 20
/** What is served within the patience below where a call takes half a second. */
const waitingMax = 500
/** With a call of 20 s before the next look this stays below a lease: nobody else takes a job that waits here. */
const patienceMs = 20_000
/** Jobs that found no room, or lost patience, come back after this. */
const lookAgainMs = 2_000
const outcomesPerCommitMax = 200
/** An outcome that cannot be recorded is tried again for a while; after that the call is repeated under its key. */
const recordTries = 10
const recordAgainMs = 1_000

export function createCaller(pipelineOf: () => Pipeline): Caller {
  return new CallingLines(pipelineOf)
}

class CallingLines implements Caller {
  readonly #pipelineOf: () => Pipeline
  readonly #lines = new Map<string, Line>()
  readonly #slots: Slots = createSlots({ perIntegrationMax: callsAtOnceMax })
  readonly #settlements: Group<Settlement, true>
  #stopped = false

  /** The pipeline holds the caller: it is asked for when it is there. */
  constructor(pipelineOf: () => Pipeline) {
    this.#pipelineOf = pipelineOf
    this.#settlements = createGroup({
      sizeMax: outcomesPerCommitMax,
      keyOf: (settlement) => settlement.job.id,
      commit: async (environment, settlements) => {
        const { db, world, queue } = pipelineOf()
        const outcomes = settlements.map((settlement) => ({ settlement, results: [] }))
        await recordOutcomes(db, world, environment, queue, outcomes)
        return settlements.map((): true => true)
      },
    })
  }

  async queue(environment: Environment, calls: readonly PendingCall[]): Promise<void> {
    // Whoever comes now is given back with the node's other leases.
    if (this.#stopped) return
    const line = this.#lines.get(environment.id) ?? { environment, waiting: [], isPumping: false }
    this.#lines.set(environment.id, line)
    const room = Math.max(0, waitingMax - line.waiting.length)
    const sinceMs = this.#pipelineOf().world.now().getTime()
    const endings = calls.slice(0, room).map(
      (call) =>
        new Promise<void>((done) => {
          line.waiting.push({ call, sinceMs, done })
        }),
    )
    this.#pumpSoon(line)
    await Promise.all([...endings, this.#putOff(environment, calls.slice(room))])
  }

  wake(): void {
    for (const line of this.#lines.values()) this.#pumpSoon(line)
  }

  stop(): Job[] {
    this.#stopped = true
    const left = [...this.#lines.values()].flatMap((line) => line.waiting.splice(0))
    for (const { done } of left) done()
    return left.map(({ call }) => call.facts.job)
  }

  /** A turn of the loop later, and one at a time: slots that come free together are taken together. */
  #pumpSoon(line: Line): void {
    if (line.isPumping) return
    line.isPumping = true
    setImmediate(async () => {
      await this.#pump(line)
      line.isPumping = false
      const { id } = line.environment
      if (line.waiting.length === 0) this.#lines.delete(id)
      else if (this.#slots.has(id) && this.#pipelineOf().isAlive()) this.#pumpSoon(line)
    })
  }

  async #pump({ environment, waiting }: Line): Promise<void> {
    const { world, isAlive } = this.#pipelineOf()
    // Whoever waits stays in line: should their leases end meanwhile, their beginnings are refused.
    if (!isAlive()) return
    const tiredMs = world.now().getTime() - patienceMs
    const tired = waiting.splice(0, waiting.findLastIndex((one) => one.sinceMs < tiredMs) + 1)
    await this.#putOff(
      environment,
      tired.map((one) => one.call),
    )
    for (const { done } of tired) done()
    const batch = waiting.splice(0, this.#slots.take(environment.id, waiting.length))
    if (batch.length > 0) await this.#begin(environment, batch)
  }

  async #begin(environment: Environment, batch: readonly Waiting[]): Promise<void> {
    const { db, world, queue } = this.#pipelineOf()
    const settlements = batch.map(({ call }) => callBegun(call))
    let kept: ReadonlySet<string> = new Set()
    try {
      kept = await recordDecisions(db, world, environment, queue, { settlements, wishes: [] })
    } catch (error) {
      world.log.warn({ err: error, jobs: batch.length }, 'Calls could not be begun; the jobs are looked at again later')
    }
    for (const { call, done } of batch) {
      if (kept.has(call.facts.job.id)) void this.#call(environment, call).then(done)
      else {
        this.#slots.free(environment.id)
        done()
      }
    }
  }

  /** Never throws: what cannot be made or recorded is repeated when the lease has ended. */
  async #call(environment: Environment, call: PendingCall): Promise<void> {
    const pipeline = this.#pipelineOf()
    const { db, world, signingSecrets } = pipeline
    const { id: jobId, state } = call.facts.job
    // A service that remembers the key of a call that failed for good would answer with that failure again.
    const idempotencyKey = repeatedIdOf(jobId, state?.redrives)
    let settlement: Settlement | undefined
    try {
      const secret = await signingSecrets.of(db, environment)
      const outcome = await callService(world, { call: call.decision, idempotencyKey, secret })
      settlement = callSettled(call, outcome, { now: world.now(), random: world.random() })
    } catch (error) {
      world.log.error({ err: error, jobId }, 'A custom step could not be called; it is called again')
    }
    this.#slots.free(environment.id)
    const line = this.#lines.get(environment.id)
    if (line !== undefined) this.#pumpSoon(line)
    if (settlement !== undefined) await this.#record(environment, settlement)
  }

  async #record(environment: Environment, settlement: Settlement): Promise<void> {
    const { world } = this.#pipelineOf()
    for (let attempt = 1; attempt <= recordTries; attempt += 1) {
      try {
        await this.#settlements.add(environment, settlement)
        return
      } catch (error) {
        world.log.warn(
          { err: error, jobId: settlement.job.id, attempt },
          'A custom step’s answer could not be recorded',
        )
        await world.sleep(recordAgainMs)
      }
    }
  }

  /** There is no room: the jobs come back without holding a lease meanwhile. */
  async #putOff(environment: Environment, calls: readonly PendingCall[]): Promise<void> {
    const due = new Date(this.#pipelineOf().world.now().getTime() + lookAgainMs)
    await Promise.all(
      calls.map(({ facts: { job } }) =>
        this.#record(environment, settles(job, job.status === 'running' ? 'running' : 'queued', { due })),
      ),
    )
  }
}
