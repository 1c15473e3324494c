// Whether a mark is fresh enough to act on: a process that was frozen, or cut off, looks at its lease before it sends.
import type { Db } from '../../db/sql.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Queue } from '../../queue/queue.ts'
import { extendLeases } from '../../store/jobs/lease.ts'

export interface Freshness {
  /** The process's own steady clock, which goes on while the process is stopped. */
  now(): number
  /** Asked when messages of these jobs are about to leave, marked at `markedAtMs`. */
  mayLeave(environment: Environment, jobs: readonly Job[], markedAtMs: number): boolean | Promise<boolean>
}

export interface FreshnessParts {
  readonly db: Db
  readonly queue: Queue
  /** How long ago this node last showed the others that it lives. */
  lastBeatAgeMs(): number
  now?(): number
}

/** Other nodes take this one for dead after two looks 10 s apart at the earliest: younger marks are certainly ours. */
const freshMs = 10_000

export function createFreshness({
  db,
  queue,
  lastBeatAgeMs,
  now = () => performance.now(),
}: FreshnessParts): Freshness {
  return {
    now,
    mayLeave: (environment, jobs, markedAtMs) => {
      if (now() - markedAtMs <= freshMs && lastBeatAgeMs() <= freshMs) return true
      return extendLeases(db, environment, jobs, queue).then((ours) => jobs.every((job) => ours.has(job.id)))
    },
  }
}
