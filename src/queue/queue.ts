// The queue as those see it who put something in: the clock it goes by, and capacity for rows created already leased.
import type { Clock } from '../db/clock.ts'
import type { Reservation } from './worker.ts'

export interface Queue {
  readonly clock: Clock
  readonly leaseMs: number
  /** Capacity of this node for rows that are about to be inserted; undefined when they should be claimed later. */
  reserve(count: number, environmentId: string): Reservation | undefined
  /** A caller waits for this node to accept its events: the worker yields until the returned function is called. */
  callerWaits?(): () => void
  /** After a commit that made something due: this node looks at once, the others are given a hint. */
  poke(): void
}

/** A provider call takes at most 20 s, and a batch a few: a lease that expires belonged to a worker that is gone. */
export const leaseMs = 60_000

/** For nodes that only accept: whoever works will find it. */
export function queueOf(clock: Clock, poke: () => void = () => {}): Queue {
  return { clock, leaseMs, reserve: () => undefined, poke }
}
