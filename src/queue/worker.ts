// The worker's loop: claims what is due, keeps a bounded number in flight, and runs a few batches at once. Unaware of notifications.
import type { Log } from '../world/log.ts'
import type { Held } from './waiting-rows.ts'
import { isFresh, nextGroup, takeStale } from './waiting-rows.ts'

/** A row that is ours for the time of its lease. */
export interface Leased {
  readonly environmentId: string
  readonly id: string
  readonly lease: string
  /** How often it was in flight when its process ended, since it last made progress. */
  readonly interruptions: number
}

/** How a batch reports what becomes of its rows: each is reported once. */
export interface Handling<Row> {
  /** Nothing of the row is in flight any more: its capacity is free. */
  done(row: Row): void
  /** The database did not answer. The rows run again soon, under the same lease. */
  again(rows: readonly Row[]): void
}

/** Capacity for rows that are about to be inserted: created with this lease, they need no claim. */
export interface Reservation {
  readonly lease: string
  /**
   * This many of them are already in progress, and need no runner. Returns what is called for each when nothing of it
   * is in flight any more.
   */
  begin(count: number): () => void
  /**
   * Hands over what else was inserted, or may have been; unused capacity is released. What is given later is ignored.
   */
  give(rows: readonly Leased[]): void
  /** It is unknown what was inserted: the worker frees what has the lease before it claims again. Ignored after a `give`. */
  lose(): void
}

export interface WorkerOptions<Row extends Leased> {
  readonly log: Log
  readonly name: string
  /** How many rows may be in flight that were claimed. */
  readonly claimedMax: number
  /** The same for rows created already leased. Each kind has its own capacity, so that neither blocks the other. */
  readonly preLeasedMax: number
  readonly batchMax: number
  /** How much of a batch a row fills beyond its place in it: rows that fill more than 1 together are not run together. */
  shareOf?(row: Row): number
  /** Whether a row is better run late than released: something is known of it under its lease alone. */
  mustRun?(row: Row): boolean
  /** How many batches may be decided at once. */
  readonly runnersMax: number
  /** Only what runs at once is claimed: a claimed row is a running one. */
  readonly claimsToRun?: true
  newLease(): string
  claim(limit: number, lease: string): Promise<Row[]>
  /** False while something else must be written first. */
  mayClaim?(): boolean
  /** Reports every row. Resolves when the next batch may run; some rows may still be in flight then. */
  run(rows: readonly Row[], handling: Handling<Row>): Promise<void>
  /** After a batch that took so long: resolves when its runner may take the next. */
  rest?(tookMs: number): Promise<void>
  release(rows: readonly Row[]): Promise<void>
  /** Frees whatever has one of these leases: a claim, or an insert, whose response was lost. */
  forget?(leases: readonly string[]): Promise<unknown>
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export interface Worker {
  /** Something may be due. */
  poke(): void
  reserve(count: number): Reservation | undefined
  /** Claims and runs until nothing is due; for tests, and for callers that want to wait. */
  drain(): Promise<number>
  /** `false` while this node must not work: it cannot show the others that it lives. */
  setAlive(alive: boolean): void
  start(): void
  /** Stops claiming, releases what was not started, and waits for the rest. */
  stop(): Promise<void>
}

/** Rows whose database did not respond wait this long before they run again. */
const againMs = 500
/** Draining gives up when the database does not answer so often. */
const drainTriesMax = 100
/**
 * The size of the first claim; each batch that ends doubles it. A node that dies soon after its start interrupts few
 * rows.
 */
const firstClaimMax = 100

export function createWorker<Row extends Leased>(options: WorkerOptions<Row>): Worker {
  return new WorkerLoop(options)
}

/** Rows in flight that came from one source. */
interface RowQueue<Row> {
  /** Not yet begun. */
  readonly waiting: Held<Row>[]
  /** All of them. */
  inFlight: number
}

class WorkerLoop<Row extends Leased> implements Worker {
  readonly #options: WorkerOptions<Row>
  readonly #claimed: RowQueue<Row> = { waiting: [], inFlight: 0 }
  readonly #preLeased: RowQueue<Row> = { waiting: [], inFlight: 0 }
  /** Whose turn it is when both have something: one batch each. */
  #nextQueue = this.#claimed
  #claimLimit = firstClaimMax
  #started = false
  #stopping = false
  #alive = true
  #runners = 0
  #claiming: Promise<void> | undefined
  /** Leases that rows may have although no row came with them. */
  readonly #lost: string[] = []
  /**
   * Something may be due that was not claimed: there was no capacity, a claim was in progress, or it came back full.
   */
  #mayBeMore = false
  #onIdle: (() => void) | undefined

  constructor(options: WorkerOptions<Row>) {
    this.#options = options
  }

  poke(): void {
    void this.#claimMore()
  }

  reserve(count: number): Reservation | undefined {
    if (!this.#mayWork() || this.#preLeased.inFlight + count > this.#options.preLeasedMax) return undefined
    this.#preLeased.inFlight += count
    const sinceMs = performance.now()
    const lease = this.#options.newLease()
    let begun = 0
    let isOver = false
    const end = (rows: readonly Leased[]): void => {
      isOver = true
      this.#left(this.#preLeased, count - begun)
      this.#take(this.#preLeased, rows as readonly Row[], sinceMs)
    }
    return {
      lease,
      begin: (some) => {
        begun += some
        return () => this.#over(this.#preLeased)
      },
      give: (rows) => {
        if (!isOver) end(rows)
      },
      lose: () => {
        if (isOver) return
        this.#lost.push(lease)
        end([])
      },
    }
  }

  async drain(): Promise<number> {
    let total = 0
    for (;;) {
      if (!this.#alive) return total
      const claimed = await this.#options.claim(this.#options.batchMax, this.#options.newLease())
      total += claimed.length
      if (claimed.length === 0) return total
      const waiting = claimed.map((row) => ({ row, sinceMs: performance.now() }))
      while (waiting.length > 0) await this.#runToEnd(nextGroup(waiting, this.#options), drainTriesMax)
    }
  }

  setAlive(alive: boolean): void {
    this.#alive = alive
    if (!alive) return
    this.#runWaiting()
    void this.#claimMore()
  }

  start(): void {
    this.#started = true
    void this.#claimMore()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#claiming
    await this.#giveBack()
    // What the last batches insert for this node arrives in the meantime, and is released as well.
    while (this.#inFlight() > 0) {
      // What arrived while others were released has already made its call.
      if (this.#claimed.waiting.length + this.#preLeased.waiting.length === 0) {
        await new Promise<void>((resolve) => {
          this.#onIdle = resolve
        })
      }
      await this.#giveBack()
    }
    this.#started = false
  }

  #inFlight(): number {
    return this.#claimed.inFlight + this.#preLeased.inFlight
  }

  async #giveBack(): Promise<void> {
    const queues = [this.#claimed, this.#preLeased]
    const unbegun = queues.flatMap((queue) => queue.waiting.splice(0).map((held) => ({ queue, row: held.row })))
    if (unbegun.length > 0) await this.#release(unbegun.map(({ row }) => row))
    for (const { queue } of unbegun) queue.inFlight -= 1
  }

  async #release(rows: readonly Row[]): Promise<void> {
    await this.#options.release(rows).catch((error: Error) => {
      const facts = { error: error.message, worker: this.#options.name }
      this.#options.log.warn(facts, 'Could not release leases; they will expire')
    })
  }

  /**
   * Rows that waited for so long that their leases could end while they run, as those before them were costly. Whoever has capacity
   * claims them again; run here, they would be done twice.
   */
  #releaseStale(queue: RowQueue<Row>): void {
    const { mustRun = () => false } = this.#options
    const stale = takeStale(queue.waiting, performance.now(), mustRun)
    if (stale.length === 0) return
    void this.#release(stale).then(() => {
      this.#left(queue, stale.length)
      void this.#claimMore()
    })
  }

  #mayWork(): boolean {
    return this.#started && !this.#stopping && this.#alive
  }

  #take(queue: RowQueue<Row>, rows: readonly Row[], sinceMs: number): void {
    queue.inFlight += rows.length
    for (const row of rows) queue.waiting.push({ row, sinceMs })
    if (this.#stopping) this.#onIdle?.()
    else this.#runWaiting()
  }

  #left(queue: RowQueue<Row>, count: number): void {
    queue.inFlight -= count
    if (this.#stopping) this.#onIdle?.()
  }

  #over(queue: RowQueue<Row>): void {
    this.#left(queue, 1)
    if (this.#mayBeMore) void this.#claimMore()
  }

  /** The source whose turn it is, or the other one if that has nothing. */
  #takeTurn(): RowQueue<Row> | undefined {
    const first = this.#nextQueue
    const second = first === this.#claimed ? this.#preLeased : this.#claimed
    if (first.waiting.length > 0) {
      this.#nextQueue = second
      return first
    }
    return second.waiting.length > 0 ? second : undefined
  }

  /** Begins as many batches as may run at once. */
  #runWaiting(): void {
    // Once it stops, what arrives is only released.
    const mayBegin = (): boolean => this.#alive && !this.#stopping && this.#runners < this.#options.runnersMax
    while (mayBegin()) {
      this.#releaseStale(this.#claimed)
      this.#releaseStale(this.#preLeased)
      const queue = this.#takeTurn()
      if (queue === undefined) return
      this.#runners += 1
      void this.#runBatch(queue, nextGroup(queue.waiting, this.#options))
    }
  }

  async #runBatch(queue: RowQueue<Row>, group: readonly Held<Row>[]): Promise<void> {
    const beganMs = performance.now()
    await this.#runGroup(group, {
      done: () => this.#over(queue),
      again: (rows) => void this.#runLater(queue, rows),
    })
    await this.#options.rest?.(performance.now() - beganMs)
    this.#runners -= 1
    this.#claimLimit = Math.min(this.#claimLimit * 2, this.#options.batchMax * this.#options.runnersMax)
    this.#runWaiting()
    // While the last of this batch is in flight, the next is already looked for.
    if (this.#mayBeMore) void this.#claimMore()
  }

  /** Never throws; each row ends once, whatever the runner reports. */
  async #runGroup(group: readonly Held<Row>[], handling: Handling<Held<Row>>): Promise<void> {
    const { log, name } = this.#options
    const open = new Map(group.map((held) => [held.row, held]))
    const taken = (row: Row): Held<Row>[] => {
      const held = open.get(row)
      open.delete(row)
      return held === undefined ? [] : [held]
    }
    const rows = group.map(({ row }) => row)
    const reported: Handling<Row> = {
      done: (row) => taken(row).forEach(handling.done),
      again: (some) => {
        const held = some.flatMap(taken)
        if (held.length > 0) handling.again(held)
      },
    }
    try {
      await this.#options.run(rows, reported)
    } catch (error) {
      log.error({ err: error, worker: name, rows: open.size }, 'A batch failed; its leases will expire')
      for (const held of [...open.values()]) reported.done(held.row)
    }
  }

  async #runLater(queue: RowQueue<Row>, rows: readonly Held<Row>[]): Promise<void> {
    await this.#options.sleep(againMs)
    const nowMs = performance.now()
    const fresh = rows.filter((held) => isFresh(held, nowMs))
    this.#left(queue, rows.length - fresh.length)
    queue.waiting.unshift(...fresh)
    if (this.#stopping) return this.#onIdle?.()
    this.#runWaiting()
    if (this.#mayBeMore) void this.#claimMore()
  }

  /** For draining: resolves when nothing of the group is in flight. */
  async #runToEnd(group: readonly Held<Row>[], tries: number): Promise<void> {
    if (tries === 0) throw new Error(`The database did not respond ${drainTriesMax} times in a row`)
    let left = group.length
    await new Promise<void>((resolve, reject) => {
      const ended = (count: number): void => {
        left -= count
        if (left === 0) resolve()
      }
      void this.#runGroup(group, {
        done: () => ended(1),
        again: (rows) => void this.#runToEnd(rows, tries - 1).then(() => ended(rows.length), reject),
      })
    })
  }

  async #claimMore(): Promise<void> {
    const { batchMax, claimedMax, log, name, mayClaim } = this.#options
    this.#mayBeMore = true
    const { waiting, inFlight } = this.#claimed
    const capacity = Math.min(this.#claimSize(), claimedMax - inFlight)
    if (this.#claiming !== undefined || !this.#mayWork() || waiting.length >= batchMax || mayClaim?.() === false) return
    if (this.#options.claimsToRun === true && this.#runners + waiting.length > 0) return
    // A claim of one row costs almost as much as one of a batch: with nearly everything in flight it waits until there is capacity for
    // a batch, instead of claiming a row whenever one is over.
    if (capacity < Math.min(batchMax, claimedMax, this.#claimSize())) return
    this.#mayBeMore = false
    let count = 0
    const sinceMs = performance.now()
    const lease = this.#options.newLease()
    this.#claiming = this.#claimWith(capacity, lease).then(
      (claimed) => {
        count = claimed.length
        this.#take(this.#claimed, claimed, sinceMs)
      },
      (error: Error) => log.warn({ error: error.message, worker: name }, 'Could not claim jobs; will retry'),
    )
    await this.#claiming
    this.#claiming = undefined
    const wasPoked = this.#mayBeMore
    // Where something was due, more may be: a backlog gets only its share while other environments have something due.
    if (count > 0) this.#mayBeMore = true
    // A full claim means there is likely more; a poke during the claim may have come too late for it.
    if (count >= capacity || wasPoked) void this.#claimMore()
  }

  /** Rows whose response was lost first: they have waited longest. A lease is lost only if a claim was made with it. */
  async #claimWith(limit: number, lease: string): Promise<Row[]> {
    const { claim, forget } = this.#options
    const lost = forget === undefined ? [] : this.#lost.splice(0)
    let asked = lost
    try {
      if (lost.length > 0) await forget?.(lost)
      asked = [lease]
      return await claim(limit, lease)
    } catch (error) {
      this.#lost.push(...asked)
      throw error
    }
  }

  #claimSize(): number {
    const { batchMax, runnersMax } = this.#options
    return Math.min(this.#claimLimit, batchMax * runnersMax)
  }
}
