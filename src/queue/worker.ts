// The worker's loop: claims what is due, keeps a bounded number in hand, and lets a few batches run at once. It knows no notification.
import type { Log } from '../world/log.ts'

/** A row that is ours for the time of its lease. */
export interface Leased {
  readonly environmentId: string
  readonly id: string
  readonly lease: string
}

/** What a batch leaves behind: it has been decided, and some of it may still be on its way. */
export interface Ending {
  /** Resolves when nothing of the batch is in hand any more. Never rejects. */
  readonly settled: Promise<void>
}

export const settledAtOnce: Ending = { settled: Promise.resolve() }

/** Room for rows that are yet to be made: born with this lease, they need no claim. */
export interface Reservation {
  readonly lease: string
  /** Hands over what was made; room that is not used is given back. */
  give(rows: readonly Leased[]): void
}

export interface WorkerOptions<Row extends Leased> {
  readonly log: Log
  readonly name: string
  /** How many rows may be in hand that were claimed, and not settled. */
  readonly claimedMax: number
  /** The same of those that were born here. Each kind has its own room, so that neither keeps the other waiting. */
  readonly bornMax: number
  readonly batchMax: number
  /** How many batches may be decided at once. */
  readonly runnersMax: number
  newLease(): string
  claim(limit: number, lease: string): Promise<Row[]>
  /** Settles every row of the batch, one way or another. Should it throw, the rows are due again when their leases end. */
  run(rows: readonly Row[]): Promise<Ending>
  release(rows: readonly Row[]): Promise<void>
}

export interface Worker {
  /** Something may be due. */
  poke(): void
  reserve(count: number): Reservation | undefined
  /** Claims and runs until nothing is due; for tests, and for whoever wants to wait. */
  drain(): Promise<number>
  /** `false` while this node must not work: it cannot show the others that it lives. */
  setAlive(alive: boolean): void
  start(): void
  /** Takes no more, gives back what was not begun, and waits for the rest. */
  stop(): Promise<void>
}

export function createWorker<Row extends Leased>(options: WorkerOptions<Row>): Worker {
  return new WorkerLoop(options)
}

/** Rows in hand that came in one way. */
interface Line<Row> {
  /** Not yet begun. */
  readonly waiting: Row[]
  /** All of them. */
  inHand: number
}

class WorkerLoop<Row extends Leased> implements Worker {
  readonly #options: WorkerOptions<Row>
  readonly #claimed: Line<Row> = { waiting: [], inHand: 0 }
  readonly #born: Line<Row> = { waiting: [], inHand: 0 }
  /** Whose turn it is when both have something: a batch each. */
  #nextLine = this.#claimed
  readonly #endings = new Set<Promise<void>>()
  #started = false
  #stopping = false
  #alive = true
  #runners = 0
  #claiming: Promise<void> | undefined
  /** Something may be due that was not claimed: there was no room, a claim was under way, or it came back full. */
  #mayBeMore = false

  constructor(options: WorkerOptions<Row>) {
    this.#options = options
  }

  poke(): void {
    void this.#claimMore()
  }

  reserve(count: number): Reservation | undefined {
    if (!this.#mayWork() || this.#born.inHand + count > this.#options.bornMax) return undefined
    this.#born.inHand += count
    return {
      lease: this.#options.newLease(),
      give: (rows) => {
        this.#born.inHand -= count
        this.#take(this.#born, rows as readonly Row[])
      },
    }
  }

  async drain(): Promise<number> {
    let total = 0
    for (;;) {
      const claimed = await this.#options.claim(this.#options.batchMax, this.#options.newLease())
      total += claimed.length
      if (claimed.length === 0) return total
      const { settled } = await this.#options.run(claimed)
      await settled
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
    while (this.#endings.size > 0) await Promise.all(this.#endings)
    // What the last batches made for this node.
    await this.#giveBack()
    this.#started = false
  }

  async #giveBack(): Promise<void> {
    const unbegun = [this.#claimed, this.#born].flatMap((line) => {
      line.inHand -= line.waiting.length
      return line.waiting.splice(0)
    })
    if (unbegun.length === 0) return
    await this.#options.release(unbegun).catch((error: Error) => {
      const facts = { error: error.message, worker: this.#options.name }
      this.#options.log.warn(facts, 'Leases could not be given back; they will end')
    })
  }

  #mayWork(): boolean {
    return this.#started && !this.#stopping && this.#alive
  }

  #take(line: Line<Row>, rows: readonly Row[]): void {
    line.inHand += rows.length
    for (const row of rows) line.waiting.push(row)
    this.#runWaiting()
  }

  /** The line whose turn it is, or the other one where that has nothing. */
  #takeTurn(): Line<Row> | undefined {
    const first = this.#nextLine
    const second = first === this.#claimed ? this.#born : this.#claimed
    if (first.waiting.length > 0) {
      this.#nextLine = second
      return first
    }
    return second.waiting.length > 0 ? second : undefined
  }

  /** Begins as many batches as may run at once. */
  #runWaiting(): void {
    // Once it stops, what comes in is only given back.
    const mayBegin = (): boolean => this.#alive && !this.#stopping && this.#runners < this.#options.runnersMax
    while (mayBegin()) {
      const line = this.#takeTurn()
      if (line === undefined) return
      const batch = line.waiting.splice(0, this.#options.batchMax)
      this.#runners += 1
      const ending = this.#runBatch(line, batch)
      this.#endings.add(ending)
      void ending.then(() => this.#endings.delete(ending))
    }
  }

  async #runBatch(line: Line<Row>, batch: readonly Row[]): Promise<void> {
    const { log, name } = this.#options
    let ending: Ending = settledAtOnce
    try {
      ending = await this.#options.run(batch)
    } catch (error) {
      log.error({ err: error, worker: name, rows: batch.length }, 'A batch failed; its leases will end')
    }
    this.#runners -= 1
    this.#runWaiting()
    // While the last of this batch is on its way, the next is already looked for.
    if (this.#mayBeMore) void this.#claimMore()
    await ending.settled
    line.inHand -= batch.length
    if (this.#mayBeMore) void this.#claimMore()
  }

  async #claimMore(): Promise<void> {
    const { batchMax, runnersMax, claimedMax, log, name } = this.#options
    this.#mayBeMore = true
    const { waiting, inHand } = this.#claimed
    const room = Math.min(batchMax * runnersMax, claimedMax - inHand)
    if (this.#claiming !== undefined || !this.#mayWork() || waiting.length >= batchMax) return
    // Not in crumbs: with its hands nearly full it waits until a batch's worth of room is there.
    if (room < Math.min(batchMax, claimedMax)) return
    this.#mayBeMore = false
    let count = 0
    this.#claiming = this.#options.claim(room, this.#options.newLease()).then(
      (claimed) => {
        count = claimed.length
        this.#take(this.#claimed, claimed)
      },
      (error: Error) => log.warn({ error: error.message, worker: name }, 'Could not claim; will try again'),
    )
    await this.#claiming
    this.#claiming = undefined
    const wasPoked = this.#mayBeMore
    // Where something was due, more may be: a backlog gets only its share while other environments have something due.
    if (count > 0) this.#mayBeMore = true
    // A full claim means there is likely more; a poke during the claim may have come too late for it.
    if (count >= room || wasPoked) void this.#claimMore()
  }
}
