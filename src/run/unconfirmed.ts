// Writes whose commit is unknown, because the database stopped answering: the jobs are read again before anything is decided.

import type { Sql } from '../db/sql.ts'
import { BoundedMap } from '../domain/bounded-map.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { findLeased } from '../store/jobs/lease.ts'

export interface Unconfirmed {
  /** A write for these jobs gave no answer. It may have marked messages as being called; they were not. */
  note(write: UnconfirmedWrite): void
  /**
   * The jobs as they are, if a write for them got no response: `undefined` for those that are settled or another
   * worker's.
   */
  resolve(db: Sql, environment: Environment, jobs: readonly Job[]): Promise<readonly ResolvedJob[]>
  /** Whether a write for the job got no response, and it was not read again since. */
  has(job: Job): boolean
  /** Whether the mark of a message is from a write without a response: this process never made the call. */
  wasNeverCalled(job: Job, messageId: string): boolean
}

export interface UnconfirmedWrite {
  readonly jobs: readonly Job[]
  /** Jobs that the write would have created: by id, the job they follow. */
  readonly madeAfter: ReadonlyMap<string, string>
  readonly marked: readonly { readonly job: Job; readonly messageId: string }[]
}

export interface ResolvedJob {
  /** As it was handed to the runner. */
  readonly given: Job
  /** What has to run for it, if anything. */
  readonly now: Job | undefined
}

/** More than this were in flight with no node left to report them; the oldest are forgotten. */
const rememberedMax = 50_000

export function createUnconfirmed(): Unconfirmed {
  /** By job: the ids that a write may have made or changed. */
  const open = new BoundedMap<string, readonly string[]>(rememberedMax)
  /** By message: the lease it was marked under. */
  const marked = new BoundedMap<string, string>(rememberedMax)

  return {
    note: ({ jobs, madeAfter, marked: calls }) => {
      const followers = new Map([...madeAfter].map(([id, after]) => [after, id]))
      for (const { id } of jobs) {
        const follower = followers.get(id)
        open.set(id, follower === undefined ? [id] : [id, follower])
      }
      for (const { job, messageId } of calls) marked.set(messageId, job.lease)
    },
    resolve: async (db, environment, jobs) => {
      const doubted = jobs.filter((job) => open.has(job.id))
      if (doubted.length === 0) return jobs.map((job) => ({ given: job, now: job }))
      const ids = doubted.flatMap((job) => open.get(job.id) ?? [])
      const leases = [...new Set(doubted.map((job) => job.lease))]
      const found = new Map((await findLeased(db, environment, { ids, leases })).map((job) => [job.id, job]))
      return jobs.map((job) => {
        const known = open.get(job.id)
        if (known === undefined) return { given: job, now: job }
        const [now] = known.flatMap((id) => found.get(id) ?? [])
        // Should the write of the step that runs in its place get no response either, this row is given again, and has
        // finished.
        if (now === undefined || now.id === job.id) open.delete(job.id)
        return { given: job, now }
      })
    },
    has: ({ id }) => open.has(id),
    wasNeverCalled: (job, messageId) => marked.get(messageId) === job.lease,
  }
}
