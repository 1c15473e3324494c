// Retracting messages: those of the feed are removed, and of the others it is reported which were sent.
import type { Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import { idsOfEvent, idsOfMessages } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { MessageStatus } from '../../domain/messages/message.ts'
import type { CountedInboxes } from './inbox-changes.ts'
import { changeNumber } from './inbox-changes.ts'

export interface SentMessage {
  readonly id: string
  readonly jobId: string
  readonly channel: Channel
  readonly status: MessageStatus
}

/** Those that were sent, locked until the transaction ends; deleted or never attempted ones are not among them. */
export async function lockRetractableOfJobs(
  tx: Tx,
  environment: Environment,
  jobs: readonly { readonly id: string; readonly eventId: string }[],
): Promise<SentMessage[]> {
  if (jobs.length === 0) return []
  const ranges = jobs.map((job) => idsOfMessages(job.eventId, job.id))
  return tx.rows<SentMessage>(sql`
    select m.id, m.job_id as "jobId", m.channel, m.status
    from unnest(${jobs.map((job) => job.id)}::uuid[], ${ranges.map((range) => range.from)}::uuid[],
                ${ranges.map((range) => range.to)}::uuid[]) as asked (job_id, from_id, to_id)
    cross join lateral (
      select * from messages found
      where found.environment_id = ${environment.id} and found.id between asked.from_id and asked.to_id
        and found.job_id = asked.job_id and found.status is not null and found.deleted_at is null
      order by found.id for no key update) m`)
}

/** The ids of the next of an event after `after`, not held yet. */
export async function findRetractableOfEvent(
  tx: Tx,
  environment: Environment,
  { eventId, after, limit }: { eventId: string; after: string | null; limit: number },
): Promise<string[]> {
  const range = idsOfEvent(eventId)
  const beyond = after === null ? sql`m.id >= ${range.from}::uuid` : sql`m.id > ${after}::uuid`
  const rows = await tx.rows<{ id: string }>(sql`
    select m.id from messages m
    where m.environment_id = ${environment.id} and ${beyond} and m.id <= ${range.to}::uuid and m.event_id = ${eventId}
      and ${isSaid}
    order by m.id limit ${limit}`)
  return rows.map((row) => row.id)
}

const isSaid = sql`(m.status is not null or m.state = 'calling') and m.deleted_at is null`

/** Locked until the transaction ends. What is being sent right now counts as possibly sent. */
export async function lockRetractable(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
): Promise<SentMessage[]> {
  return tx.rows<SentMessage>(sql`
    select m.id, m.job_id as "jobId", m.channel, case when m.state = 'calling' then 'warning' else m.status end as status
    from messages m
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and ${isSaid}
    order by m.id for no key update`)
}

/** Out of every list. Returns those that a task waits to bring back. */
export async function retractMessages(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  { now, counted }: { now: Date; counted: CountedInboxes },
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx.rows<{ id: string; wasSnoozed: boolean }>(sql`
    update messages m set deleted_at = ${now}, retracted_at = ${now}, updated_at = ${now}, change = ${changeNumber(counted)}
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.deleted_at is null
    returning m.id, m.snoozed_until is not null as "wasSnoozed"`)
  return rows.filter((row) => row.wasSnoozed).map((row) => row.id)
}
