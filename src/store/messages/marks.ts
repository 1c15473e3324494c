// Read, seen, archived: what a subscriber has done with messages, and with all of them at once.
import type { Statement, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Mark, MarkedBefore } from '../../domain/messages/message-marks.ts'
import type { MessageCta } from '../../domain/workflows/workflow.ts'
import { hasEndpoints } from '../webhooks/webhook-endpoints.ts'
import { inFeeds } from './feeds.ts'
import type { CountedInboxes } from './inbox-changes.ts'
import { changeNumber } from './inbox-changes.ts'
import type { MessageRow } from './rows.ts'
import { isInFeed, isListed, messageColumns } from './rows.ts'

const seenAt = (now: Date): Statement =>
  sql`seen = true, first_seen_at = coalesce(m.first_seen_at, ${now}), last_seen_at = ${now}, updated_at = ${now}`

const settings: { readonly [Name in Mark]: (now: Date) => Statement } = {
  read: (now) => sql`${seenAt(now)}, read = true, last_read_at = ${now}`,
  unread: (now) => sql`${seenAt(now)}, read = false, last_read_at = null, archived = false, archived_at = null`,
  seen: seenAt,
  unseen: (now) =>
    sql`seen = false, read = false, last_read_at = null, archived = false, archived_at = null, updated_at = ${now}`,
  archived: (now) =>
    sql`${seenAt(now)}, read = true, last_read_at = coalesce(m.last_read_at, ${now}), archived = true, archived_at = ${now}`,
  unarchived: (now) =>
    sql`${seenAt(now)}, read = true, last_read_at = coalesce(m.last_read_at, ${now}), archived = false, archived_at = null`,
}

/** Which messages a mark would change. The first and the third are words of the index of what is still open. */
const wouldChange: { readonly [Name in Mark]: Statement } = {
  read: sql`not (m.read and m.seen)`,
  unread: sql`(m.read or m.archived or not m.seen)`,
  seen: sql`not m.seen`,
  unseen: sql`(m.read or m.archived or m.seen)`,
  archived: sql`not m.archived`,
  unarchived: sql`m.archived`,
}

/** What a mark found. `seenBefore` is permanent; a message that was read and marked unread counts as not read. */
export interface FoundMessage extends MarkedBefore {
  readonly id: string
  readonly jobId: string
  /** Whether it is sent to an endpoint of the customer's. */
  readonly isReported: boolean
}

const foundColumns = (environment: Environment): Statement => sql`
  m.id, m.job_id as "jobId", m.first_seen_at is not null as "seenBefore", m.read as "readBefore",
  ${hasEndpoints(environment)} as "isReported"`

/** Marks those of the ids that are messages of the subscriber, and returns them in no order, with how they were found. */
export async function markMessages(
  tx: Tx,
  environment: Environment,
  marking: {
    ids: readonly string[]
    subscriberId: string
    channel?: 'in_app'
    /** Only those of which this holds too, of a row called `m`. */
    also?: Statement
    mark: Mark
    now: Date
    counted: CountedInboxes
  },
): Promise<{ marked: MessageRow[]; found: FoundMessage[] }> {
  const channel = marking.channel === undefined ? sql`true` : sql`m.channel = ${marking.channel}`
  const held = await tx.rows<FoundMessage>(sql`
    select ${foundColumns(environment)} from messages m
    where m.environment_id = ${environment.id} and m.id = any(${marking.ids}::uuid[])
      and m.subscriber_id = ${marking.subscriberId} and ${channel} and ${isListed} and ${marking.also ?? sql`true`}
    order by m.id for no key update`)
  if (held.length === 0) return { marked: [], found: [] }
  const marked = await tx.rows<MessageRow>(sql`
    update messages m set ${settings[marking.mark](marking.now)}, change = ${changeNumber(marking.counted)}
    where m.environment_id = ${environment.id} and m.id = any(${held.map((row) => row.id)}::uuid[])
    returning ${messageColumns}`)
  return { marked, found: held }
}

/** One transaction's worth: so long the inbox is held, and messages to it wait. 1,000 rows take some 20 ms. */
export const markedAtOnceMax = 1_000

export interface MarkingAll {
  readonly subscriberId: string
  /** Only those of these feeds; undefined for all. */
  readonly feedIds: readonly string[] | undefined
  /** Only those of which this holds too, of a row called `m`; undefined for all. */
  readonly also?: Statement | undefined
  readonly mark: Mark
  readonly now: Date
}

/** The next of everything in the subscriber's feed that the mark would change, in order, as they were before it. */
export async function markNext(
  tx: Tx,
  environment: Environment,
  marking: MarkingAll & { counted: CountedInboxes },
  after: OpenMessage | undefined,
): Promise<OpenMessage[]> {
  const batch = await lockOpen(tx, environment, marking, after)
  if (batch.length > 0) {
    await tx.run(sql`
      update messages m set ${settings[marking.mark](marking.now)}, change = ${changeNumber(marking.counted)}
      where m.environment_id = ${environment.id} and m.id = any(${batch.map((row) => row.id)}::uuid[])`)
  }
  return batch
}

export interface OpenMessage extends FoundMessage {
  readonly created_at: Date
}

async function lockOpen(
  tx: Tx,
  environment: Environment,
  marking: MarkingAll,
  after: OpenMessage | undefined,
): Promise<OpenMessage[]> {
  const beyond = after === undefined ? sql`true` : sql`(m.created_at, m.id) > (${after.created_at}, ${after.id})`
  return tx.rows(sql`
    select m.created_at, ${foundColumns(environment)} from messages m
    where m.environment_id = ${environment.id} and m.subscriber_id = ${marking.subscriberId} and ${isInFeed}
      and ${wouldChange[marking.mark]} and ${beyond} and ${inFeeds(environment, marking.feedIds)}
      and ${marking.also ?? sql`true`}
    order by m.created_at, m.id limit ${markedAtOnceMax} for no key update of m`)
}

/** The answer to one of its buttons. */
export async function setCta(
  tx: Tx,
  environment: Environment,
  change: { id: string; cta: MessageCta; now: Date; counted: CountedInboxes },
): Promise<MessageRow | undefined> {
  return tx.row<MessageRow>(sql`
    update messages m set cta = ${json(change.cta)}::jsonb, updated_at = ${change.now}, change = ${changeNumber(change.counted)}
    where m.environment_id = ${environment.id} and m.id = ${change.id}
    returning ${messageColumns}`)
}
