// Calls to services outside: who waits for a slot, in which order, and what is written before and after each call.
import { isInfrastructureError } from '../../db/failure.ts'
import { bisect } from '../../domain/bisect.ts'
import { fanOutLane } from '../../domain/delivery/event.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import type { JobOutcome } from '../../record/job-outcome.ts'
import type { Settlement } from '../../record/settlement.ts'
import type { World } from '../../world/world.ts'
import type { OutcomeRecorder } from './outcome-recorder.ts'
import { createServiceRates } from './service-rates.ts'

/** A job's call or calls, of one kind. `Wants`: before it has a slot. `Ready`: with one. */
export interface CallKind<Wants, Ready> {
  readonly name: string
  jobOf(call: Wants | Ready): Job
  /** Calls with the same key share a limit: an integration, or the custom steps of an environment. */
  keyOf(call: Wants | Ready): string
  /** For calls that start together: takes a slot for one, or for a part of it; undefined if there is none now. */
  batchPlan(now: Date): (call: Wants) => Ready | undefined
  /** Gives the slots back: the call is not made. */
  leave(call: Ready): void
  /** Which of them are marked by one statement. */
  together(calls: readonly Ready[]): readonly (readonly Ready[])[]
  /** Commits the marks under the jobs' leases; returns the ids of the jobs that were still ours. */
  begin(environment: Environment, calls: readonly Ready[]): Promise<ReadonlySet<string>>
  /** Makes the calls. None is ever rejected. Slots are released as each one ends. */
  call(environment: Environment, calls: readonly Ready[]): readonly Promise<JobOutcome>[]
  /** Whether the key may not be called for a while. */
  rests(key: string, now: Date): boolean
  /** What is written for a job that may not wait here. `turnAt`: when a slot is likely. */
  postponed(call: Wants, turnAt: Date, now: Date): Settlement
  /** Below which span the recording of its outcome is shown, where its event is traced. */
  traceparentOf?(call: Ready): string | undefined
  /** One that cannot be begun, by a fault of ours. */
  fault(environment: Environment, call: Ready, error: unknown): Promise<void>
}

export interface Queued<Call> {
  readonly environment: Environment
  readonly call: Call
  /** Nothing of it is in flight any more. */
  ended(): void
}

export interface CallQueue<Wants, Ready> {
  /** Calls that hold their slots and were begun with the decision. */
  start(calls: readonly Queued<Ready>[]): void
  /** Waits for slots, begins, calls, records. */
  add(calls: readonly Queued<Wants>[]): void
  /** Whether a call of this lane would wait for others that came before it. */
  isBehindOthers(key: string, lane: number): boolean
  /** How many more of this lane may wait here. */
  capacity(key: string, lane: number): number
  /** When a job that finds no capacity here should come back: its turn at the rate at which the key is served. */
  turnAt(key: string, now: Date): Date
  /**
   * Resolves when batches of this environment that are decided next find capacity here, if that is likely soon; after a short while
   * in any case, shorter if few `jobs` wait with it. A job that finds none is written down and claimed again, which costs more than
   * waiting.
   */
  untilCapacity(environment: Environment, jobs: number): Promise<void>
  /** This node may call again, or more may be called: those that wait go on. */
  wake(key?: string): void
  /** Starts nothing more and returns the jobs that were waiting. Calls in flight continue. */
  stop(): Job[]
}

export interface CallQueueParts {
  readonly world: World
  readonly recorder: OutcomeRecorder
  /** Jobs that may wait for one key: a share of what a node may have in flight, so that one slow service leaves some to others. */
  readonly waitingMax: number
  /** Beyond this number of waiting calls, batches are decided later: those that wait are in memory, with their words. */
  readonly crowdMin: number
  isAlive(): boolean
  /** Something became due by what was recorded. */
  poke(): void
}

/**
 * A slot becomes free within the 20 s that a call may take: a job that still waits then goes back before its lease
 * expires.
 */
const queueWaitMaxMs = 20_000
/**
 * Others of the environment, whose services have capacity, wait no longer than this for one that has none, for each job that waits with
 * them: with three runners 900 jobs a second go on, however many are in a batch.
 */
const capacityWaitMsPerJob = 3.33
const capacityWaitMsMax = 333
/** One in so many slots is for fan-out while direct messages wait as well. */
const fanOutShare = 4
/** A start whose commit is unknown is repeated under the same lease, as often as needed. */
const beginAgainMs = 300

interface Waiting<Wants> extends Queued<Wants> {
  readonly sinceMs: number
}

interface KeyQueue<Wants> {
  readonly direct: Waiting<Wants>[]
  readonly fanOut: Waiting<Wants>[]
  /** Counts picks, so that fan-out has its share. */
  picked: number
}

export function createCallQueue<Wants, Ready>(
  kind: CallKind<Wants, Ready>,
  parts: CallQueueParts,
): CallQueue<Wants, Ready> {
  return new Calls(kind, parts)
}

class Calls<Wants, Ready> implements CallQueue<Wants, Ready> {
  readonly #kind: CallKind<Wants, Ready>
  readonly #parts: CallQueueParts
  readonly #queues = new Map<string, KeyQueue<Wants>>()
  readonly #pumping = new Set<string>()
  readonly #rates = createServiceRates()
  /** By key: what goes on when there is capacity again. */
  readonly #crowds = new Map<string, { readonly left: Promise<void>; leave(): void }>()
  #stopped = false

  constructor(kind: CallKind<Wants, Ready>, parts: CallQueueParts) {
    this.#kind = kind
    this.#parts = parts
  }

  start(calls: readonly Queued<Ready>[]): void {
    for (const [environment, group] of byEnvironment(calls)) this.#call(environment, group)
  }

  add(calls: readonly Queued<Wants>[]): void {
    // Those that come now are given back with the node's other leases.
    if (this.#stopped) {
      for (const { ended } of calls) ended()
      return
    }
    const now = this.#parts.world.now()
    const sinceMs = now.getTime()
    for (const queued of calls) {
      const key = this.#kind.keyOf(queued.call)
      const { lane } = this.#kind.jobOf(queued.call)
      if (this.capacity(key, lane) <= 0) {
        void this.#postpone(key, [{ ...queued, sinceMs }], now)
        continue
      }
      const queue = this.#queues.get(key) ?? { direct: [], fanOut: [], picked: 0 }
      this.#queues.set(key, queue)
      const waiting = lane === fanOutLane ? queue.fanOut : queue.direct
      waiting.push({ ...queued, sinceMs })
      this.#pumpSoon(key)
    }
  }

  isBehindOthers(key: string, lane: number): boolean {
    const queue = this.#queues.get(key)
    if (queue === undefined) return false
    return queue.direct.length > 0 || (lane === fanOutLane && queue.fanOut.length > 0)
  }

  capacity(key: string, lane: number): number {
    if (this.#stopped) return 0
    const { direct = [], fanOut = [] } = this.#queues.get(key) ?? {}
    const capacity = this.#parts.waitingMax - direct.length - fanOut.length
    // Direct messages find a quarter of the queue free, however much fan-out waits.
    return lane === fanOutLane ? capacity - Math.floor(this.#parts.waitingMax / fanOutShare) : capacity
  }

  turnAt(key: string, now: Date): Date {
    const { direct = [], fanOut = [] } = this.#queues.get(key) ?? {}
    return this.#rates.turnAt(key, direct.length + fanOut.length, now, this.#parts.world.random())
  }

  async untilCapacity({ id }: Environment, jobs: number): Promise<void> {
    const crowded = [...this.#queues].find(
      ([key, queue]) => isOf(id, queue) && this.#isCrowded(queue) && this.#isSoonServed(key, queue),
    )
    if (crowded === undefined || this.#stopped) return
    const [key] = crowded
    const crowd = this.#crowds.get(key) ?? newCrowd()
    this.#crowds.set(key, crowd)
    const waited = new AbortController()
    const waitMs = Math.min(capacityWaitMsMax, Math.ceil(capacityWaitMsPerJob * jobs))
    await Promise.race([crowd.left, this.#parts.world.sleep(waitMs, waited.signal)])
    waited.abort()
  }

  #isCrowded({ direct, fanOut }: KeyQueue<Wants>): boolean {
    return direct.length + fanOut.length > this.#parts.crowdMin
  }

  #isSoonServed(key: string, { direct, fanOut }: KeyQueue<Wants>): boolean {
    const now = this.#parts.world.now()
    return !this.#kind.rests(key, now) && this.#rates.isSoonServed(key, direct.length + fanOut.length, now)
  }

  wake(key?: string): void {
    if (key !== undefined) this.#pumpSoon(key)
    else for (const one of this.#queues.keys()) this.#pumpSoon(one)
  }

  stop(): Job[] {
    this.#stopped = true
    const left = [...this.#queues.values()].flatMap(({ direct, fanOut }) => [...direct, ...fanOut])
    this.#queues.clear()
    for (const { leave } of this.#crowds.values()) leave()
    this.#crowds.clear()
    for (const { ended } of left) ended()
    return left.map(({ call }) => this.#kind.jobOf(call))
  }

  /**
   * One turn of the event loop later, and one at a time: slots that become free together, or while others are being
   * started, are taken together.
   */
  #pumpSoon(key: string): void {
    if (this.#pumping.has(key) || !this.#queues.has(key)) return
    this.#pumping.add(key)
    setImmediate(async () => {
      const isMore = await this.#pump(key).catch((error: unknown) => {
        this.#parts.world.log.error({ err: error, calls: this.#kind.name }, 'A call queue failed; will retry')
        return false
      })
      this.#pumping.delete(key)
      if (isMore) this.#pumpSoon(key)
    })
  }

  /** Returns whether it got something to do: then more may be possible. */
  async #pump(key: string): Promise<boolean> {
    const queue = this.#queues.get(key)
    // Waiting calls stay queued: should their leases expire in the meantime, their marks are rejected.
    if (queue === undefined || !this.#parts.isAlive()) return false
    const now = this.#parts.world.now()
    const rests = this.#kind.rests(key, now)
    const late = (one: Waiting<Wants>): boolean => rests || now.getTime() - one.sinceMs > queueWaitMaxMs
    const back = [...takeWhile(queue.direct, late), ...takeWhile(queue.fanOut, late)]
    const ready = rests ? [] : this.#slot(queue, now)
    if (queue.direct.length + queue.fanOut.length === 0) this.#queues.delete(key)
    if (!this.#isCrowded(queue)) this.#disperse(key)
    await this.#postpone(key, back, now)
    for (const [environment, group] of byEnvironment(ready)) {
      const queued = new Map(group.map((one) => [one.call, one]))
      for (const calls of this.#kind.together([...queued.keys()])) {
        await this.#begin(
          environment,
          calls.map((call) => queued.get(call) as Queued<Ready>),
        )
      }
    }
    return back.length + ready.length > 0
  }

  #disperse(key: string): void {
    this.#crowds.get(key)?.leave()
    this.#crowds.delete(key)
  }

  /** Takes from the front of the queue those that find a slot: direct messages first, every fourth from fan-out. */
  #slot(queue: KeyQueue<Wants>, now: Date): Queued<Ready>[] {
    const take = this.#kind.batchPlan(now)
    const ready: Queued<Ready>[] = []
    for (;;) {
      const isFanOutsTurn = queue.picked % fanOutShare === fanOutShare - 1
      const [first, second] = isFanOutsTurn ? [queue.fanOut, queue.direct] : [queue.direct, queue.fanOut]
      const from = first.length > 0 ? first : second
      const waiting = from[0]
      const call = waiting && take(waiting.call)
      if (waiting === undefined || call === undefined) return ready
      from.shift()
      queue.picked += 1
      ready.push({ environment: waiting.environment, call, ended: waiting.ended })
    }
  }

  /** Jobs that come back later, without holding a lease in the meantime. */
  async #postpone(key: string, back: readonly Waiting<Wants>[], now: Date): Promise<void> {
    await Promise.all(
      back.map(async ({ environment, call, ended }) => {
        const settlement = this.#kind.postponed(call, this.turnAt(key, now), now)
        await this.#parts.recorder.record(environment, { settlement, results: [] })
        ended()
      }),
    )
  }

  async #begin(environment: Environment, group: readonly Queued<Ready>[]): Promise<void> {
    const ours = await this.#marked(environment, group)
    const isOurs = ({ call }: Queued<Ready>): boolean => ours.has(this.#kind.jobOf(call).id)
    for (const { call, ended } of group.filter((one) => !isOurs(one))) {
      this.#kind.leave(call)
      ended()
    }
    this.#call(environment, group.filter(isOurs))
  }

  /**
   * The ids of the jobs whose calls may be made. One that cannot be marked because of an internal error is found and
   * put aside.
   */
  async #marked(environment: Environment, group: readonly Queued<Ready>[]): Promise<ReadonlySet<string>> {
    // Collected here, because a later step may fail: what is marked is called, or it would count as possibly sent.
    const ours = new Set<string>()
    try {
      await bisect(group, {
        together: async (some) => {
          for (const id of await this.#mark(environment, some)) ours.add(id)
        },
        isOfAll: isInfrastructureError,
        culprit: ({ call }, error) => this.#kind.fault(environment, call, error),
      })
    } catch (error) {
      const jobs = group.length - ours.size
      this.#parts.world.log.warn({ err: error, jobs }, 'Could not start calls; their leases will expire')
    }
    return ours
  }

  /** If the database does not respond, whether the marks were committed is unknown: they are written again. */
  async #mark(environment: Environment, group: readonly Queued<Ready>[]): Promise<ReadonlySet<string>> {
    const { world } = this.#parts
    for (;;) {
      try {
        return await this.#kind.begin(
          environment,
          group.map(({ call }) => call),
        )
      } catch (error) {
        if (!isInfrastructureError(error) || this.#stopped) throw error
        world.log.warn({ err: error, jobs: group.length }, 'Could not start calls; will retry')
        await world.sleep(beginAgainMs)
      }
    }
  }

  #call(environment: Environment, group: readonly Queued<Ready>[]): void {
    const outcomes = this.#kind.call(
      environment,
      group.map(({ call }) => call),
    )
    for (const [index, { call, ended }] of group.entries()) {
      void this.#settle(environment, call, outcomes[index] as Promise<JobOutcome>).then(ended, (error: unknown) => {
        const facts = { err: error, jobId: this.#kind.jobOf(call).id }
        this.#parts.world.log.error(facts, 'Could not process the outcome of a call; its lease will expire')
        ended()
      })
    }
  }

  async #settle(environment: Environment, call: Ready, answer: Promise<JobOutcome>): Promise<void> {
    const { recorder, world, poke } = this.#parts
    const key = this.#kind.keyOf(call)
    const outcome = await answer.finally(() => this.#rates.served(key, this.#queues.has(key), world.now()))
    const now = world.now()
    const { due, status } = outcome.settlement
    const traceparent = this.#kind.traceparentOf?.(call)
    const recording = traceparent === undefined ? undefined : world.tracer?.begin('record outcome', traceparent)
    await recorder.record(environment, outcome)
    recording?.end({ attributes: { 'posthorn.step.status': status } })
    // The rest of the job continues at once: no poll has to find it.
    if (due.kind === 'until' && due.at <= now) poke()
  }
}

/** An integration belongs to one environment, and so do all that wait for it. */
const isOf = (environmentId: string, { direct, fanOut }: KeyQueue<unknown>): boolean =>
  (direct[0] ?? fanOut[0])?.environment.id === environmentId

function newCrowd(): { left: Promise<void>; leave(): void } {
  let leave = (): void => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  return { left, leave: () => leave() }
}

function takeWhile<Item>(list: Item[], holds: (item: Item) => boolean): Item[] {
  const end = list.findIndex((item) => !holds(item))
  return list.splice(0, end === -1 ? list.length : end)
}

function byEnvironment<Call>(calls: readonly Queued<Call>[]): Map<Environment, Queued<Call>[]> {
  const groups = new Map<Environment, Queued<Call>[]>()
  for (const one of calls) {
    const group = groups.get(one.environment)
    if (group === undefined) groups.set(one.environment, [one])
    else group.push(one)
  }
  return groups
}
