// The attachments table: files that came with events, apart from them.
import { arrayText } from '../../db/array-text.ts'
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { EventAttachment } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'

export interface NewAttachment extends EventAttachment {
  readonly eventId: string
  readonly place: number
}

export async function insertAttachments(
  tx: Tx,
  environment: Environment,
  attachments: readonly NewAttachment[],
  now: Date,
): Promise<void> {
  if (attachments.length === 0) return
  const column = <Value>(read: (attachment: NewAttachment) => Value): Value[] => attachments.map(read)
  await tx.run(sql`
    insert into attachments (environment_id, event_id, place, name, mime, cid, disposition, channels, content, created_at)
    select ${environment.id}, a.event_id, a.place, a.name, a.mime, a.cid, a.disposition, a.channels::text[], a.content, ${now}
    from unnest(${column((a) => a.eventId)}::uuid[], ${column((a) => a.place)}::smallint[], ${column((a) => a.name)}::text[],
                ${column((a) => a.mime)}::text[], ${column((a) => a.cid)}::text[], ${column((a) => a.disposition)}::text[],
                ${column((a) => a.channels && arrayText(a.channels))}::text[], ${column((a) => a.content)}::bytea[])
      as a (event_id, place, name, mime, cid, disposition, channels, content)`)
}

/** How large the files of one event are in all. */
export async function attachmentBytes(db: Sql, environment: Environment, eventId: string): Promise<number> {
  const row = await db.row<{ bytes: number | null }>(sql`
    select sum(octet_length(content)) as bytes from attachments
    where environment_id = ${environment.id} and event_id = ${eventId}`)
  return row?.bytes ?? 0
}

/** The files of one event that are for this channel, in their order. */
export async function findAttachments(
  db: Sql,
  environment: Environment,
  { eventId, channel }: { eventId: string; channel: string },
): Promise<EventAttachment[]> {
  return db.rows<EventAttachment>(sql`
    select name, mime, cid, disposition, channels, content from attachments
    where environment_id = ${environment.id} and event_id = ${eventId}
      and (channels is null or ${channel} = any(channels))
    order by place`)
}

export interface ListedAttachment extends Omit<EventAttachment, 'content'> {
  readonly bytes: number
}

/** The same without reading them. */
export async function listAttachments(
  db: Sql,
  environment: Environment,
  { eventId, channel }: { eventId: string; channel: string },
): Promise<ListedAttachment[]> {
  return db.rows<ListedAttachment>(sql`
    select name, mime, cid, disposition, channels, octet_length(content) as bytes from attachments
    where environment_id = ${environment.id} and event_id = ${eventId}
      and (channels is null or ${channel} = any(channels))
    order by place`)
}

export interface SweptFiles {
  readonly deleted: number
  /** The last one looked at; null when there are no more. */
  readonly lastAt: Date | null
}

/**
 * Deletes the files of finished events: a while after success, later if something failed or is in the outbox. Continues
 * after what was examined before: otherwise files that must stay would be all that is ever examined.
 */
export async function sweepAttachments(
  tx: Tx,
  ages: { readonly overBefore: Date; readonly failedBefore: Date; readonly after: Date | null },
  limit: number,
): Promise<SweptFiles> {
  const row = await tx.row<{ deleted: number; looked: number; last_at: Date | null }>(sql`
    with old as materialized (
      select a.environment_id, a.event_id, a.place, a.created_at from attachments a
      where a.created_at < ${ages.overBefore} and a.created_at > ${ages.after ?? firstTimestamp}
      order by a.created_at limit ${limit} for update skip locked),
    over as (
      select o.environment_id, o.event_id, o.place from old o
      where not exists (
        select 1 from events e
        where e.environment_id = o.environment_id and e.id = o.event_id and e.expanded_at is null)
      and not exists (
        select 1 from jobs j
        where j.environment_id = o.environment_id
          and j.id >= (left(o.event_id::text, 14) || '7' || right(o.event_id::text, 3) || '-8000-000000000000')::uuid
          and j.id <= (left(o.event_id::text, 14) || '7' || right(o.event_id::text, 3) || '-bfff-ffffffffffff')::uuid
          and j.event_id = o.event_id
          and (j.due_at is not null or (j.status = 'failed' and o.created_at >= ${ages.failedBefore})))
      and not (o.created_at >= ${ages.failedBefore} and exists (
        select 1 from messages m
        where m.environment_id = o.environment_id
          and m.id >= (left(o.event_id::text, 14) || '7' || right(o.event_id::text, 3) || '-8000-000000000000')::uuid
          and m.id <= (left(o.event_id::text, 14) || '7' || right(o.event_id::text, 3) || '-bfff-ffffffffffff')::uuid
          and m.event_id = o.event_id and m.outbox_at is not null))),
    gone as (
      delete from attachments a using over
      where a.environment_id = over.environment_id and a.event_id = over.event_id and a.place = over.place returning 1)
    select (select count(*) from gone) as deleted, (select count(*) from old) as looked,
      (select max(created_at) from old) as last_at`)
  const isLast = (row?.looked ?? 0) < limit
  return { deleted: row?.deleted ?? 0, lastAt: isLast ? null : (row?.last_at ?? null) }
}

const firstTimestamp = new Date(0)

export async function deleteAttachmentsOf(
  tx: Tx,
  environment: Environment,
  eventIds: readonly string[],
): Promise<number> {
  if (eventIds.length === 0) return 0
  return tx.run(sql`
    delete from attachments where environment_id = ${environment.id} and event_id = any(${eventIds}::uuid[])`)
}
