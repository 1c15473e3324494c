// How soon work goes on after a kill: what was acknowledged, due and not delivered at the kill, and when it arrived.
import { setTimeout as sleep } from 'node:timers/promises'
import { mailsOwed, recipientsOf, smsOwed } from './owed.ts'
import type { PlannedEvent } from './plan.ts'
import type { Receipt } from './sink/record.ts'
import { workflowOf } from './workflows.ts'

/** From one kill to the next. */
interface Life {
  readonly killedAt: number
  readonly owed: ReadonlySet<string>
  readyAt?: number
  endedAt?: number
  /** Left alone until all that was owed had arrived, so that the last can be measured. */
  isCalm?: boolean
}

export interface RecoveryTimes {
  /** Lives after a kill at which something was owed. */
  readonly lives: number
  readonly firstMs: readonly number[]
  /** Lives of more than five seconds in which nothing that was owed arrived. */
  readonly neverResumed: number
  readonly lastMs: readonly number[]
  /** Calm lives in which something owed did not arrive within the limit. */
  readonly neverFinished: number
}

/** A calm life ends when everything owed has arrived, at the latest after this. */
const calmMaxMs = 25_000
const longLifeMs = 5_000

export class Recovery {
  /** What is on its way, and from when on it is owed. */
  private readonly open = new Map<string, number>()
  private readonly arrivedAt = new Map<string, number>()
  private readonly lives: Life[] = []

  acknowledged(events: readonly PlannedEvent[], acknowledgedAt: number): void {
    for (const event of events) {
      const { afterMs } = workflowOf(event.workflow).owed
      for (const recipient of recipientsOf(event)) {
        // By default an SMS of unknown outcome is skipped: then nothing is owed.
        const sms = event.environment === 'p' ? smsOwed(event, recipient) : []
        for (const id of [...mailsOwed(event, recipient), ...sms]) {
          if (!this.arrivedAt.has(id)) this.open.set(id, acknowledgedAt + afterMs)
        }
      }
    }
  }

  received(receipts: readonly Receipt[]): void {
    for (const { id, at } of receipts) {
      this.open.delete(id)
      if (!this.arrivedAt.has(id)) this.arrivedAt.set(id, at)
    }
  }

  killed(): void {
    const now = Date.now()
    const previous = this.lives.at(-1)
    if (previous !== undefined) previous.endedAt ??= now
    const owed = new Set<string>()
    for (const [id, dueAt] of this.open) if (dueAt < now) owed.add(id)
    this.lives.push({ killedAt: now, owed })
  }

  /** A node can work from here on. */
  ready(readyAt: number): void {
    const life = this.lives.at(-1)
    if (life !== undefined) life.readyAt = readyAt
  }

  /** Leaves the service alone until what was owed at the last kill has arrived. */
  async calm(): Promise<void> {
    const life = this.lives.at(-1)
    if (life === undefined) return
    life.isCalm = true
    const deadline = Date.now() + calmMaxMs
    while (Date.now() < deadline && [...life.owed].some((id) => this.open.has(id))) await sleep(100)
    // What is lost is not waited for again.
    for (const id of life.owed) this.open.delete(id)
  }

  times(): RecoveryTimes {
    const firstMs: number[] = []
    const lastMs: number[] = []
    let lives = 0
    let neverResumed = 0
    let neverFinished = 0
    for (const life of this.lives) {
      const { killedAt, readyAt, endedAt = Date.now(), isCalm, owed } = life
      if (readyAt === undefined) continue
      const arrivals = [...owed].map((id) => this.arrivedAt.get(id) ?? Number.POSITIVE_INFINITY)
      // An arrival before the kill was on its way from the sink to us when the kill was made.
      const since = arrivals.filter((at) => at > killedAt)
      if (since.length === 0) continue
      lives++
      const first = Math.min(...since)
      if (first <= endedAt) firstMs.push(Math.max(0, first - readyAt))
      else if (endedAt - readyAt > longLifeMs) neverResumed++
      if (!isCalm) continue
      const last = Math.max(...since)
      if (last <= readyAt + calmMaxMs) lastMs.push(Math.max(0, last - readyAt))
      else neverFinished++
    }
    return { lives, firstMs, neverResumed, lastMs, neverFinished }
  }
}
