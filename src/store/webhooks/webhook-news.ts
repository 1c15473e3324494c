// The webhook_news table: events that are to be reported, until they have become deliveries.
import type { Part } from '../../db/one-statement.ts'
import { oneStatement } from '../../db/one-statement.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import { storableObject } from '../../domain/delivery/custom-call.ts'
import { fanOutLane } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import type { News } from '../../domain/webhooks/webhook-event.ts'
import type { NewTask } from '../jobs/tasks.ts'
import { taskInsertion } from '../jobs/tasks.ts'
import { hasEndpoints } from './webhook-endpoints.ts'

/** In the order in which events happened, whatever the clocks of their nodes say. */
export interface NumberedNews extends News {
  readonly number: number
}

/** An event that is only reported if the row with this id was written by the same statement. */
export interface FencedNews extends News {
  readonly fenceId: string
}

/** Events that one part of a statement causes. */
export interface NewsGroup {
  /** What the part is called, and the name of its text. */
  readonly as: Statement
  readonly name: string
  readonly news: readonly FencedNews[]
  /** A select of the ids that were written; left out where everything is. */
  readonly written?: Statement
}

/** A text that was cut within a character would fail the whole statement. */
function rowsOf(environment: Environment, news: readonly News[], fenceIds: readonly string[] = []): Statement {
  const column = <Value>(read: (one: News) => Value): Value[] => news.map(read)
  return sql`
    insert into webhook_news (environment_id, id, type, subject_id, subscriber_id, facts, created_at)
    select ${environment.id}::uuid, n.id, n.type, n.subject_id, n.subscriber_id, n.facts::jsonb, n.at
    from unnest(${column((one) => one.id)}::uuid[], ${column((one) => one.type)}::text[],
      ${column((one) => one.subjectId)}::uuid[], ${column((one) => one.subscriberId)}::uuid[],
      ${column((one) => json(storableObject(one.facts)))}::text[], ${column((one) => one.at)}::timestamptz[], ${fenceIds}::uuid[])
      as n (id, type, subject_id, subscriber_id, facts, at, fence_id)`
}

/** Two statements that report the same insert it in the same order: they wait for each other, and never in a circle. */
const inOrder = sql`order by n.id on conflict (environment_id, id) do nothing`

/** As parts of the statement in which it happens, with the task that reports it; none where there is nothing to report. */
export function newsInsertions(
  environment: Environment,
  groups: readonly NewsGroup[],
  { newId, now }: { newId: () => string; now: Date },
): Part[] {
  const filled = groups.filter(({ news }) => news.length > 0)
  if (filled.length === 0) return []
  const parts = filled.map(({ as, name, news, written }): Part => {
    const fenceIds = news.map(({ fenceId }) => fenceId)
    const within = written === undefined ? sql`` : sql`where n.fence_id in (${written})`
    const statement = sql`${rowsOf(environment, news, fenceIds)} ${within} ${inOrder}`
    return { as, name: `news-${name}`, statement }
  })
  return [...parts, taskInsertion(environment, [newsTask(newId(), now)], now)]
}

const newsTask = (id: string, now: Date): NewTask => ({ id, kind: 'news', lane: fanOutLane, dueAt: now, state: {} })

/** In a transaction of several statements: one more, which writes nothing where no endpoint is. */
export async function reportNews(
  tx: Tx,
  environment: Environment,
  news: readonly News[],
  { newId, now }: { newId: () => string; now: Date },
): Promise<void> {
  if (news.length === 0) return
  const where = sql`where ${hasEndpoints(environment)}`
  const task = newsTask(newId(), now)
  await tx.run(
    oneStatement([
      {
        as: sql`news`,
        name: 'news-if-wanted',
        statement: sql`${rowsOf(environment, news)} ${where} ${inOrder}`,
      },
      taskInsertion(environment, [task], now, { name: 'if-wanted', where }),
    ]),
  )
}

/** Apart from other locks by number: the first half names what is locked, the second the environment. */
const expansionLock = 0x6e657773

/** True for the one transaction that takes the environment's events, until it ends: a second would only wait for its rows. */
export async function tryLockNews(tx: Tx, environment: Environment): Promise<boolean> {
  const row = await tx.row<{ locked: boolean }>(
    sql`select pg_try_advisory_xact_lock(${expansionLock}::int, hashtext(${environment.id}::text)) as locked`,
  )
  return row?.locked === true
}

/**
 * The next of them, in their order; they are the transaction's own and gone with it. Two that take at a time wait for each other:
 * what is about one subject is never overtaken.
 */
export async function takeNews(tx: Tx, environment: Environment, limit: number): Promise<NumberedNews[]> {
  const rows = await tx.rows<NumberedNews>(sql`
    with taken as materialized (
      select n.id from webhook_news n where n.environment_id = ${environment.id} order by n.number limit ${limit} for update)
    delete from webhook_news n using taken where n.environment_id = ${environment.id} and n.id = taken.id
    returning n.id, n.type, n.subject_id as "subjectId", n.subscriber_id as "subscriberId", n.facts, n.created_at as at,
      n.number::float8 as number`)
  return rows.sort((one, other) => one.number - other.number)
}

export async function eraseNewsOf(tx: Tx, environment: Environment, subscriberIds: readonly string[]): Promise<number> {
  return tx.run(sql`
    delete from webhook_news where environment_id = ${environment.id} and subscriber_id = any(${subscriberIds}::uuid[])`)
}

/** What events show of a message. */
export interface ShownMessage {
  readonly id: string
  readonly channel: string
  readonly status: string | null
  readonly providerId: string | null
  readonly providerMessageId: string | null
  readonly notificationId: string
  readonly transactionId: string | null
  readonly workflowId: string
  readonly workflowIdentifier: string
  readonly workflowName: string
  readonly isTest: boolean
}

export async function findShownMessages(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<Map<string, ShownMessage>> {
  if (ids.length === 0) return new Map()
  const rows = await db.rows<ShownMessage>(sql`
    select m.id, m.channel, m.status, m.provider_id as "providerId", m.provider_message_id as "providerMessageId",
      m.notification_id as "notificationId", e.transaction_id as "transactionId", w.id as "workflowId",
      w.identifier as "workflowIdentifier", v.definition->>'name' as "workflowName", m.is_test as "isTest"
    from messages m
    join workflow_versions v on v.environment_id = ${environment.id} and v.id = m.version_id
    join workflows w on w.environment_id = ${environment.id} and w.id = v.workflow_id
    left join events e on e.environment_id = ${environment.id} and e.id = m.event_id
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[])`)
  return new Map(rows.map((row) => [row.id, row]))
}
