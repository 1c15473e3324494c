// Rows of the pipeline for the page bench: events, notifications, jobs and messages of three months, made by the database itself.
import type { Db, Tx } from '../src/db/sql.ts'
import { json, sql } from '../src/db/sql.ts'
import type { Environment } from '../src/domain/environment.ts'
import { fillPeople, fillTopic, settle } from './rows.ts'

const workflowCount = 20
/** One in a thousand notifications comes from this one. */
export const rareWorkflow = workflowCount - 1
/** Half of all notifications go to these few; the rest to the others, so many each. */
export const hotPeople = 100
const perOrdinaryPerson = 100
const spanMs = 90 * 24 * 3_600_000
export const firstMs = Date.UTC(2026, 7, 1)

export const workflowIdOf = (workflow: number): string =>
  `01980000-0000-7000-8000-${workflow.toString(16).padStart(12, '0')}`
const versionIdOf = (workflow: number): string => `01980000-0000-7000-9000-${workflow.toString(16).padStart(12, '0')}`
const channelOf = (workflow: number): 'in_app' | 'email' => (workflow % 2 === 0 ? 'in_app' : 'email')

export const ordinaryPeople = (rows: number): number => Math.ceil(rows / 2 / perOrdinaryPerson)
/** When event `row` of so many came. */
export const timestampOfRow = (row: number, rows: number): Date => new Date(firstMs + Math.floor((row * spanMs) / rows))
/** The id of event `row`, which is its transactionId too. */
export function eventIdOfRow(row: number, rows: number): string {
  const time = timestampOfRow(row, rows).getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${row.toString(16).padStart(12, '0')}`
}

/** When the first of the rows came, and over what time they spread. */
interface Span {
  readonly firstMs: number
  readonly spanMs: number
}

export async function fillActivity(db: Db, environment: Environment, rows: number): Promise<void> {
  await fillPeople(db, environment, hotPeople + ordinaryPeople(rows))
  await fillPipeline(db, environment, rows, { firstMs, spanMs })
}

/** Beside what an environment has already. */
export async function fillHistory(db: Db, environment: Environment, rows: number, span: Span): Promise<void> {
  await fillTopic(db, environment.id, hotPeople + ordinaryPeople(rows))
  await fillPipeline(db, environment, rows, span)
}

async function fillPipeline(db: Db, environment: Environment, rows: number, span: Span): Promise<void> {
  await db.run(sql`create extension if not exists pgcrypto`)
  await db.run(sql`select make_partitions(${new Date(span.firstMs)}, 4)`)
  await db.transaction(async (tx) => {
    await insertWorkflows(tx, environment)
    await makePlan(tx, rows, span)
    await withoutIndexes(tx, async () => {
      await insertEvents(tx, environment)
      await insertNotifications(tx, environment)
      await insertJobs(tx, environment)
      await insertMessages(tx, environment)
    })
    await tx.run(sql`drop table plan`)
  })
  await settle(db)
}

async function insertWorkflows(tx: Tx, environment: Environment): Promise<void> {
  const groupId = workflowIdOf(workflowCount)
  await tx.run(sql`insert into notification_groups (environment_id, id, name, created_at, updated_at)
                   values (${environment.id}, ${groupId}, 'Orders', now(), now())`)
  for (let workflow = 0; workflow < workflowCount; workflow += 1) {
    const [id, versionId] = [workflowIdOf(workflow), versionIdOf(workflow)]
    const type = channelOf(workflow)
    const step = {
      _id: id,
      uuid: id,
      _templateId: id,
      active: true,
      shouldStopOnFail: false,
      template: { type, content: 'Order {{ payload.order }} is on its way.', subject: 'Your order' },
      filters: [],
      variants: [],
    }
    const definition = {
      name: `Workflow ${workflow}`,
      description: '',
      tags: ['orders'],
      critical: false,
      preferenceSettings: { email: true, sms: true, in_app: true, chat: true, push: true },
      severity: 'none',
      steps: [step],
      variables: ['order'],
      subscriberVariables: [],
    }
    await tx.run(sql`
      insert into workflows (environment_id, id, identifier, name, tags, active, group_id, version_id, created_by, created_at,
                             updated_at)
      values (${environment.id}, ${id}, ${`workflow-${workflow}`}, ${definition.name}, ${definition.tags}, true, ${groupId},
              ${versionId}, 'bench', now(), now())`)
    await tx.run(sql`
      insert into workflow_versions (environment_id, id, workflow_id, number, definition, channels, created_at)
      values (${environment.id}, ${versionId}, ${id}, 1, ${json(definition)}::jsonb, ${[type]}, now())`)
  }
}

/** Every id and choice of a notification, once: the ids as domain/derived-id.ts makes them. */
async function makePlan(tx: Tx, rows: number, { firstMs, spanMs }: Span): Promise<void> {
  await tx.run(sql`
    create function pg_temp.derived(event uuid, tail text) returns uuid language sql immutable as $$
      select (substr(replace(event::text, '-', ''), 1, 12) || '7' || right(event::text, 3)
        || translate(substr(tail, 1, 1), '0123456789abcdef', '89ab89ab89ab89ab') || substr(tail, 2, 15))::uuid $$`)
  await tx.run(sql`
    create function pg_temp.hashed(value text) returns text language sql immutable as $$
      select encode(digest(value, 'sha1'), 'hex') $$`)
  await tx.run(sql`create temp table plan as
    with events as (
      select n, to_timestamp((${firstMs}::bigint + n * ${spanMs}::bigint / ${rows}::bigint) / 1000.0) as at,
        (lpad(to_hex(${firstMs}::bigint + n * ${spanMs}::bigint / ${rows}::bigint), 12, '0') || '70008000'
          || lpad(to_hex(n), 12, '0'))::uuid as event_id,
        case when n % 1000 = 7 then ${rareWorkflow}::int else abs(hashint8(n)) % ${workflowCount - 1}::int end as workflow,
        case when n % 2 = 0 then n / 2 % ${hotPeople}::int
          else ${hotPeople}::int + n / 2 % ${ordinaryPeople(rows)}::int end as person
      from generate_series(0, ${rows - 1}::bigint) n),
    people as (
      select e.*, (${workflows(versionIdOf)}::uuid[])[workflow + 1] as version_id,
        (${workflows(workflowIdOf)}::uuid[])[workflow + 1] as workflow_id,
        (${workflows(channelOf)}::text[])[workflow + 1] as channel, s.id as subscriber_id
      from events e join subscribers s on s.subscriber_id = 'user-' || e.person),
    notifications as materialized (
      select p.*, pg_temp.derived(event_id, pg_temp.hashed(event_id || '/' || subscriber_id)) as notification_id from people p),
    jobs as materialized (
      select n.*, pg_temp.derived(event_id, pg_temp.hashed(notification_id || '/0')) as job_id from notifications n)
    select j.*, pg_temp.derived(event_id,
        substr(pg_temp.hashed(job_id::text), 1, 10) || substr(pg_temp.hashed(job_id || '/'), 1, 6)) as message_id
    from jobs j order by n`)
}

const workflows = <Value>(of: (workflow: number) => Value): Value[] =>
  Array.from({ length: workflowCount }, (_, workflow) => of(workflow))

const contextKeys = sql`case when n % 10 = 3 then array['account:a' || n / 10 % 50] end`

async function insertEvents(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(sql`
    insert into events (environment_id, id, transaction_id, workflow_id, version_id, payload, overrides, context_keys, severity,
                        lane, topic_ids, topic_keys, notified, expanded_at, created_at)
    select ${environment.id}, event_id, event_id, workflow_id, version_id,
      jsonb_build_object('order', n, 'total', '19.90', 'region', abs(hashint8(n + 2)) % 5), '{}', ${contextKeys},
      case when n % 100 = 11 then 'high' when n % 100 < 10 then 'low' end, 0,
      case when n % 500 = 9 then array[event_id] end, case when n % 500 = 9 then array['news-' || n / 500 % 10] end, 1, at, at
    from plan`)
}

async function insertNotifications(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(sql`
    insert into notifications (environment_id, id, event_id, subscriber_id, version_id, topic_ids)
    select ${environment.id}, notification_id, event_id, subscriber_id, version_id,
      case when n % 500 = 9 then array[event_id] end
    from plan`)
}

async function insertJobs(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(sql`
    insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, claims, state,
                      details, created_at, updated_at)
    select ${environment.id}, job_id, notification_id, event_id, subscriber_id, version_id, 0, 'completed', 0, 0,
      '{"providerId": "platform"}', jsonb_build_array(
        jsonb_build_object('code', 'messageCreated', 'at', at), jsonb_build_object('code', 'messageSent', 'at', at)), at, at
    from plan`)
}

/** Two in three, by chance: whatever else goes by the number, each person has some that are not. */
const isRead = sql`abs(hashint8(n + 1)) % 3 <> 0`

async function insertMessages(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(sql`
    insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel, state,
                          status, provider_id, content, subject, cta, context_keys, read, seen, delivered_at, created_at,
                          updated_at)
    select ${environment.id}, message_id, event_id, notification_id, job_id, subscriber_id, version_id, 0, channel, 'done', 'sent',
      'platform', to_jsonb('Order ' || n || ' is on its way.'), 'Your order', '{}', ${contextKeys}, ${isRead},
      ${isRead}, array[at], at, at
    from plan`)
}

/** The primary keys stay: rows come in their order. */
async function withoutIndexes(tx: Tx, load: () => Promise<void>): Promise<void> {
  const indexes = await tx.rows<{ name: string; definition: string }>(sql`
    select indexname as name, replace(indexdef, ' ON ONLY ', ' ON ') as definition from pg_indexes
    where schemaname = 'public' and tablename in ('events', 'notifications', 'jobs', 'messages') and indexname not like '%_pkey'`)
  for (const index of indexes) await tx.run({ text: `drop index ${index.name}`, values: [] })
  await load()
  await tx.run(sql`set local maintenance_work_mem = '1GB'`)
  for (const index of indexes) await tx.run({ text: index.definition, values: [] })
}
