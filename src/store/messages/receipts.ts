// Provider reports about messages: finding the messages, recording the results.
import type { Clock } from '../../db/clock.ts'
import { dueAt } from '../../db/due.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import type { MessageError, MessageState, MessageStatus } from '../../domain/messages/message.ts'
import { hasEndpoints } from '../webhooks/webhook-endpoints.ts'

export interface ReportedMessage {
  readonly id: string
  readonly jobId: string
  readonly subscriberId: string
  readonly channel: Channel
  readonly state: MessageState
  readonly status: MessageStatus | null
  readonly providerMessageId: string | null
  readonly email: string | null
  readonly phone: string | null
  /** Push: the device, where it is not sealed. */
  readonly target: string | null
  readonly addresses: Buffer | null
  /** By what was reported before: when. */
  readonly receipts: Readonly<Record<string, string>>
  readonly createdAt: Date
  /** How often it was started again after it had finally failed. */
  readonly redrives: number
  /** Whether no worker has its job any more. */
  readonly isOver: boolean
  /** Whether another integration took over from the one that reports. */
  readonly isOthers: boolean
  /** Whether it is sent to an endpoint of the customer's. */
  readonly isReported?: boolean
}

/** Those of the ids that an integration was asked to send, held until the transaction ends. */
export async function lockReported(
  tx: Tx,
  environment: Environment,
  asked: { integrationId: string; ids: readonly string[]; providerMessageIds: readonly string[] },
): Promise<ReportedMessage[]> {
  const found = await tx.rows<{ id: string }>(sql`
    select m.id from messages m
    where m.environment_id = ${environment.id} and m.provider_message_id = any(${asked.providerMessageIds}::text[])`)
  const ids = [...new Set([...asked.ids, ...found.map((row) => row.id)])]
  if (ids.length === 0) return []
  return tx.rows<ReportedMessage>(sql`
    select m.id, m.job_id as "jobId", m.subscriber_id as "subscriberId", m.channel, m.state, m.status,
      m.provider_message_id as "providerMessageId", m.email, m.phone, m.envelope->>'target' as target, m.addresses,
      coalesce(m.receipts, '{}') as receipts, m.created_at as "createdAt",
      coalesce((m.sending->>'redrives')::int, 0) as redrives,
      not exists (select 1 from jobs j
                  where j.environment_id = ${environment.id} and j.id = m.job_id and j.due_at is not null) as "isOver",
      m.integration_id is distinct from ${asked.integrationId} as "isOthers",
      ${hasEndpoints(environment)} as "isReported"
    from messages m
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[])
      and (m.integration_id = ${asked.integrationId} or m.sending->'tried' ? ${asked.integrationId}::text)
    order by m.id for no key update of m`)
}

export interface ReportedChange {
  readonly id: string
  /** Added to what was reported before. */
  readonly receipts: Readonly<Record<string, string>>
  /** Undefined leaves the status as it is. */
  readonly status?: MessageStatus
  readonly error?: MessageError
  readonly deliveredAt?: Date
}

/** Those already reported need not be asked about again. */
export async function writeReported(
  tx: Tx,
  environment: Environment,
  changes: readonly ReportedChange[],
  now: Date,
): Promise<void> {
  if (changes.length === 0) return
  const column = <Value>(read: (change: ReportedChange) => Value): Value[] => changes.map(read)
  const ids = column((change) => change.id)
  await tx.run(sql`
    update messages m
    set receipts = coalesce(m.receipts, '{}') || r.receipts::jsonb, poll_at = null, updated_at = ${now},
        status = coalesce(r.status, m.status),
        error_id = case when r.status is null then m.error_id else r.error_id end,
        error_text = case when r.status is null then m.error_text else r.error_text end,
        delivered_at = case when r.delivered_at is null then m.delivered_at
                            else coalesce(m.delivered_at, '{}') || r.delivered_at end
    from unnest(${ids}::uuid[], ${column((change) => json(change.receipts))}::text[],
                ${column((change) => change.status ?? null)}::text[],
                ${column((change) => change.error?.errorId ?? null)}::text[],
                ${column((change) => change.error?.errorText ?? null)}::text[],
                ${column((change) => change.deliveredAt ?? null)}::timestamptz[])
      as r (id, receipts, status, error_id, error_text, delivered_at)
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.id = r.id`)
}

/** When a message of an integration is asked about, and what time it was then: by the queue's clock. */
export interface Poll {
  readonly integrationId: string
  readonly at: Date
  readonly now: Date
}

/** The node's own time, and the clock that is to be asked instead. */
interface PollTime {
  readonly clock: Clock
  readonly now: Date
}

/**
 * Messages that are asked about for the first time at the given time of the node's clock. One whose outcome was not
 * recorded, since its job was no longer ours, has no id to ask by.
 */
export async function pollFrom(
  db: Sql,
  environment: Environment,
  polls: readonly { messageId: string; at: Date }[],
  { clock, now }: PollTime,
): Promise<Poll[]> {
  const ids = polls.map(({ messageId }) => messageId)
  return db.rows<Poll>(sql`
    update messages m set poll_at = ${dueAt(clock, sql`p.at`, now)}
    from unnest(${ids}::uuid[], ${polls.map(({ at }) => at)}::timestamptz[]) as p (id, at)
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.id = p.id and m.state = 'done'
      and m.provider_message_id is not null
    returning ${pollColumns(clock)}`)
}

const pollColumns = (clock: Clock): Statement =>
  sql`m.integration_id as "integrationId", m.poll_at as at, ${clock()} as now`

/** Messages of an integration that have to be asked about by now, those that waited longest first. */
export async function findPolled(
  db: Sql,
  environment: Environment,
  asked: { integrationId: string; clock: Clock; limit: number },
): Promise<{ id: string; providerMessageId: string; createdAt: Date }[]> {
  return db.rows(sql`
    select m.id, m.provider_message_id as "providerMessageId", m.created_at as "createdAt" from messages m
    where m.environment_id = ${environment.id} and m.integration_id = ${asked.integrationId} and m.poll_at <= ${asked.clock()}
      and m.provider_message_id is not null
    order by m.poll_at limit ${asked.limit}`)
}

/** Asked about again at the given time of the node's clock, or never if there is none; returns when. */
export async function pollAgain(
  tx: Tx,
  environment: Environment,
  messages: readonly { id: string; at: Date | null }[],
  { clock, now }: PollTime,
): Promise<Poll[]> {
  if (messages.length === 0) return []
  const ids = messages.map(({ id }) => id)
  const rows = await tx.rows<Omit<Poll, 'at'> & { at: Date | null }>(sql`
    update messages m set poll_at = ${dueAt(clock, sql`p.at`, now)}
    from unnest(${ids}::uuid[], ${messages.map(({ at }) => at)}::timestamptz[]) as p (id, at)
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.id = p.id and m.poll_at is not null
    returning ${pollColumns(clock)}`)
  return rows.flatMap(({ at, ...row }) => (at === null ? [] : [{ ...row, at }]))
}

/** Whether messages of an integration have to be asked about by now. */
export async function isPollDue(
  db: Sql,
  environment: Environment,
  { integrationId, clock }: { integrationId: string; clock: Clock },
): Promise<boolean> {
  const row = await db.row(sql`
    select 1 from messages
    where environment_id = ${environment.id} and integration_id = ${integrationId} and poll_at <= ${clock()}
      and provider_message_id is not null
    order by poll_at limit 1`)
  return row !== undefined
}

/** An e-mail that got a reply, locked until the transaction ends. */
export async function lockReplied(
  tx: Tx,
  environment: Environment,
  id: string,
): Promise<Pick<ReportedMessage, 'id' | 'jobId' | 'receipts'> | undefined> {
  return tx.row(sql`
    select m.id, m.job_id as "jobId", coalesce(m.receipts, '{}') as receipts from messages m
    where m.environment_id = ${environment.id} and m.id = ${id} and m.channel = 'email'
    for no key update`)
}

/** What a callback gets about the message that was replied to. */
export interface RepliedMessage {
  readonly id: string
  readonly jobId: string
  readonly eventId: string
  readonly notificationId: string
  readonly subscriberId: string
  readonly versionId: string
  readonly step: number
  readonly subject: string | null
  readonly email: string | null
}

export async function findReplied(db: Sql, environment: Environment, id: string): Promise<RepliedMessage | undefined> {
  return db.row(sql`
    select m.id, m.job_id as "jobId", m.event_id as "eventId", m.notification_id as "notificationId",
      m.subscriber_id as "subscriberId", m.version_id as "versionId", m.step, m.subject, m.email
    from messages m where m.environment_id = ${environment.id} and m.id = ${id}`)
}
