// The outbox: messages that were kept instead of sent; which of them a filter means, and how they leave it.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { OutboxFilter } from '../../domain/messages/outbox.ts'
import { outboxKeptMs, outboxMessagesMax } from '../../domain/messages/outbox.ts'
import { comparedAddress } from '../../domain/people/suppression.ts'
import { unsubscribePath } from '../../domain/preferences/unsubscribe-token.ts'
import { isUuid } from '../../domain/uuid-v7.ts'

/** One statement's worth, as for marks. */
export const clearedAtOnceMax = 5_000

/**
 * Conditions on a row called `m`, in addition to its environment. Subscribers and transactions of a filter are looked
 * up in the statement itself: whoever waits for a message may name one that does not exist yet.
 */
export function outboxConditions(environment: Environment, filter: OutboxFilter): Statement[] {
  const { channel, recipient, workflow, text, transactionId, capturedAfter, capturedBefore } = filter
  return [
    sql`m.outbox_at is not null and m.deleted_at is null`,
    ...(capturedAfter === undefined ? [] : [sql`m.outbox_at >= ${capturedAfter}`]),
    ...(capturedBefore === undefined ? [] : [sql`m.outbox_at < ${capturedBefore}`]),
    ...(channel === undefined ? [] : [sql`m.channel = ${channel}`]),
    ...(transactionId === undefined ? [] : [isOfTransaction(environment, transactionId)]),
    ...(recipient === undefined ? [] : [isFor(environment, recipient, filter.recipientDigest)]),
    ...(workflow === undefined ? [] : [isOfWorkflow(environment, workflow)]),
    ...(text === undefined ? [] : [says(text, filter.hidesLinks)]),
  ]
}

/** An id of ours is the event's own; a caller's is claimed by one event. */
function isOfTransaction(environment: Environment, transactionId: string): Statement {
  const claimed = sql`(
    select t.event_id from transactions t
    where t.environment_id = ${environment.id} and t.transaction_id = ${transactionId})`
  return isUuid(transactionId)
    ? sql`m.event_id = coalesce(${claimed}, ${transactionId}::uuid)`
    : sql`m.event_id = ${claimed}`
}

/** Envelopes are opened for chat and push alone: those of e-mails are large, and their address has a column. */
function isFor(environment: Environment, recipient: string, digest: Buffer | undefined): Statement {
  const numbers = [recipient, comparedAddress('sms', recipient)]
  return sql`(
    m.subscriber_id = (select s.id from subscribers s
      where s.environment_id = ${environment.id} and s.subscriber_id = ${recipient} and s.deleted_at is null)
    or case m.channel
      when 'email' then lower(m.email) = lower(${recipient})
      when 'sms' then m.phone = any(${numbers})
      when 'push' then m.envelope->>'target' = ${recipient}
      else ${recipient} in (m.envelope->>'webhookUrl', m.envelope->>'channel', m.envelope->>'phone') end
    or (m.channel in ('chat', 'push') and m.address_digest = ${digest ?? null}::bytea))`
}

function isOfWorkflow(environment: Environment, identifier: string): Statement {
  return sql`m.version_id = any(array(
    select v.id from workflows w
    join workflow_versions v on v.environment_id = w.environment_id and v.workflow_id = w.id
    where w.environment_id = ${environment.id} and w.identifier = ${identifier} and w.deleted_at is null))`
}

function says(text: string, hidesLinks?: true): Statement {
  const shown = (value: Statement): Statement =>
    hidesLinks === true ? sql`regexp_replace(${value}, ${`${unsubscribePath}/[A-Za-z0-9_-]+`}, '', 'g')` : value
  const within = (value: Statement): Statement => sql`strpos(lower(coalesce(${shown(value)}, '')), lower(${text})) > 0`
  return sql`(${within(sql`m.subject`)} or ${within(sql`m.title`)} or ${within(sql`m.content #>> '{}'`)}
    or (m.channel = 'email' and (${within(sql`m.envelope->>'text'`)} or ${within(sql`m.envelope->>'html'`)})))`
}

/**
 * Whether there is any such message. In the order of the outbox: otherwise the planner might look for one among all
 * messages.
 */
export async function isInOutbox(db: Sql, environment: Environment, filter: OutboxFilter): Promise<boolean> {
  const row = await db.row(sql`
    select 1 from messages m
    where m.environment_id = ${environment.id} and ${allOf(outboxConditions(environment, filter))}
    order by m.outbox_at desc, m.id desc limit 1`)
  return row !== undefined
}

/** Removes up to a batch of them, oldest first; returns how many. They remain messages like any other. */
export async function clearFromOutbox(tx: Tx, environment: Environment, filter: OutboxFilter): Promise<number> {
  return tx.run(sql`
    with found as materialized (
      select m.id from messages m
      where m.environment_id = ${environment.id} and ${allOf(outboxConditions(environment, filter))}
      order by m.outbox_at, m.id limit ${clearedAtOnceMax} for no key update)
    update messages m set outbox_at = null, is_captured = true from found
    where m.environment_id = ${environment.id} and m.id = found.id`)
}

/** False when it is missing. */
export async function takeFromOutbox(tx: Tx, environment: Environment, id: string): Promise<boolean> {
  const count = await tx.run(sql`
    update messages m set outbox_at = null, is_captured = true
    where m.environment_id = ${environment.id} and m.id = ${id} and m.outbox_at is not null and m.deleted_at is null`)
  return count > 0
}

/** In the order of ids nothing comes after it. */
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Removes what is too old, and in each environment what is beyond the newest so many. Locked rows are skipped. */
export async function sweepOutbox(tx: Tx, now: Date, limit: number): Promise<number> {
  const oldestKept = new Date(now.getTime() - outboxKeptMs)
  return tx.run(sql`
    with swept as materialized (
      select e.id as environment_id, old.id from environments e
      left join lateral (
        select m.outbox_at, m.id from messages m
        where m.environment_id = e.id and m.outbox_at is not null
        order by m.outbox_at desc, m.id desc offset ${outboxMessagesMax} limit 1) as edge on true
      cross join lateral (
        select m.id from messages m
        where m.environment_id = e.id and m.outbox_at is not null and (m.outbox_at, m.id) <= (
          greatest(edge.outbox_at, ${oldestKept}),
          case when edge.outbox_at >= ${oldestKept} then edge.id else ${lastId}::uuid end)
        order by m.outbox_at, m.id limit ${limit} for no key update skip locked) as old
      limit ${limit})
    update messages m set outbox_at = null, is_captured = true from swept
    where m.environment_id = swept.environment_id and m.id = swept.id`)
}
