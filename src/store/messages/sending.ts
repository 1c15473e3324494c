// Messages on their way to a provider: started, and the result.
import type { Part } from '../../db/one-statement.ts'
import { areSame, placeIn } from '../../db/row-set.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import { idsOfMessages } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Envelope, MessageError, MessageState, MessageStatus, Sending } from '../../domain/messages/message.ts'
import type { News } from '../../domain/webhooks/webhook-event.ts'

export interface UnsentMessage {
  readonly id: string
  readonly jobId: string
  readonly channel: Channel
  readonly state: MessageState
  readonly providerId: string
  readonly integrationId: string
  readonly sending: Sending
  readonly envelope: Envelope
  /** Sealed: what its envelope lacks. */
  readonly addresses: Buffer | null
}

/** The messages of these jobs that are not done. */
export async function findUnsent(
  db: Sql,
  environment: Environment,
  jobs: readonly { id: string; eventId: string }[],
): Promise<UnsentMessage[]> {
  if (jobs.length === 0) return []
  const ranges = jobs.map((job) => idsOfMessages(job.eventId, job.id))
  return db.rows<UnsentMessage>(sql`
    select m.id, m.job_id as "jobId", m.channel, m.state, m.provider_id as "providerId",
           m.integration_id as "integrationId", m.sending, m.envelope, m.addresses
    from unnest(${jobs.map((job) => job.id)}::uuid[], ${ranges.map((range) => range.from)}::uuid[],
                ${ranges.map((range) => range.to)}::uuid[]) as asked (job_id, from_id, to_id)
    cross join lateral (
      select * from messages found
      where found.environment_id = ${environment.id} and found.id between asked.from_id and asked.to_id
        and found.job_id = asked.job_id and found.state <> 'done') m`)
}

export interface Beginning {
  readonly id: string
  readonly providerId: string
  readonly integrationId: string
  readonly sending: Sending
}

/**
 * Before a provider is called: from here on, no outcome means possibly sent. Only those whose job was `settled`, and
 * none that is done: whoever held the job before may have learned in the meantime that it was sent.
 */
export function callBeginnings(
  environment: Environment,
  beginnings: readonly Beginning[],
  settled: Statement,
  now: Date,
): Part {
  const ids = beginnings.map((beginning) => beginning.id)
  return {
    as: sql`begun`,
    name: 'messages-begin',
    statement: sql`
      update messages m
      set state = 'calling', updated_at = ${now}, (provider_id, integration_id, sending) = (
        select (${beginnings.map((b) => b.providerId)}::text[])[at], (${beginnings.map((b) => b.integrationId)}::uuid[])[at],
          (${beginnings.map((b) => json(b.sending))}::text[])[at]::jsonb
        from ${placeIn(ids, sql`m.id`)})
      where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.state <> 'done'
        and m.job_id = any(array(${settled})) returning m.id`,
  }
}

export interface CallResult {
  readonly id: string
  /** `ready` when it is to be sent again. */
  readonly state: 'ready' | 'done'
  /** Null leaves it as it is: the call had no result. */
  readonly status: MessageStatus | null
  readonly error: MessageError | null
  readonly providerMessageId: string | null
  readonly sending: Sending
  /** The provider that was called, if any. */
  readonly asked?: { readonly integrationId: string; readonly providerId: string }
  /** Null leaves the one that was asked; a failover names the next. */
  readonly nextIntegrationId: string | null
  readonly isTest: boolean
  /** Kept instead of sent: it is in the outbox from now on. */
  readonly isCaptured?: true
  /** The call is not reported: it never left, or only found out that the provider is still down. */
  readonly isUncounted?: true
  /** If what becomes of it is sent to an endpoint of the customer's: whom the message was for. */
  readonly reportedTo?: { readonly subscriberId: string }
  /** With it: that the provider refused because they opted out, and of which channel. */
  readonly optedOut?: string
  /** With it: that the integration fails. */
  readonly failing?: News
}

/** What is the same in most batches of results. */
const alikeOf: readonly ((result: CallResult) => unknown)[] = [
  (r) => r.state,
  (r) => r.status,
  (r) => r.error?.errorId ?? null,
  (r) => r.error?.errorText ?? null,
  (r) => r.nextIntegrationId,
  (r) => r.isTest,
  (r) => r.isCaptured === true,
]

/** The ids of all that were recorded, within the statement that does. */
export const recordedIds = sql`select id from recorded`

/** Of these the ids that were recorded, within the statement that does. */
export const recordedAmong = (ids: readonly string[]): Statement =>
  sql`select id from recorded where id = any(${ids}::uuid[])`

/** Only those whose job was `settled`, and none that is done: its earlier call was answered after all. */
export function callResults(
  environment: Environment,
  results: readonly CallResult[],
  settled: Statement,
  now: Date,
): Part {
  const ids = results.map((r) => r.id)
  // Most calls of a batch end in the same way; only two statement texts, as every connection caches the plan of each.
  const areAlike = alikeOf.every((read) => areSame(results.map(read)))
  const own = (type: Statement, read: (result: CallResult) => unknown): Statement =>
    sql`(${results.map(read)}::${type}[])[at]`
  const column = (type: Statement, read: (result: CallResult) => unknown): Statement =>
    areAlike ? sql`${results.map(read)[0] ?? null}::${type}` : own(type, read)
  const statement = sql`
    update messages m
    set updated_at = ${now}, (state, status, error_id, error_text, provider_message_id, sending, integration_id, is_test, is_captured,
      outbox_at) = (
      select ${column(text, (r) => r.state)}, coalesce(${column(text, (r) => r.status)}, m.status),
        ${column(text, (r) => r.error?.errorId ?? null)}, ${column(text, (r) => r.error?.errorText ?? null)},
        coalesce(${own(text, (r) => r.providerMessageId)}, m.provider_message_id),
        ${own(text, (r) => json(r.sending))}::jsonb,
        coalesce(${column(uuid, (r) => r.nextIntegrationId)}, m.integration_id),
        m.is_test or ${column(bool, (r) => r.isTest)}, m.is_captured or ${column(bool, (r) => r.isCaptured === true)},
        case when ${column(bool, (r) => r.isCaptured === true)} then ${now}::timestamptz else m.outbox_at end
      from ${placeIn(ids, sql`m.id`)})
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.job_id = any(array(${settled}))
      and m.state <> 'done' returning m.id`
  return { as: sql`recorded`, name: areAlike ? 'messages-record' : 'messages-record-each', statement }
}

const text = sql`text`
const uuid = sql`uuid`
const bool = sql`boolean`

/** Messages that are not to be sent after all: no provider was asked. */
export async function dropReady(tx: Tx, environment: Environment, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.run(sql`
    update messages set state = 'done'
    where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and state = 'ready'`)
}
