// What became of the events, gathered from the outside: rows of the database, receipts of the sinks, answers of the API.
import type { ClientConfig } from 'pg'
import pg from 'pg'
import type { Receipt } from './sink/record.ts'

export interface DigestMessage {
  /** The environment's letter and the subscriber. */
  readonly owner: string
  readonly events: readonly string[]
}

export interface Facts {
  /** How many there are of `<transactionId> <subscriberId>`. */
  readonly notifications: ReadonlyMap<string, number>
  /** The texts of the in-app messages of `<transactionId> <subscriberId> <step>`; digests apart. */
  readonly inApp: ReadonlyMap<string, readonly string[]>
  readonly digests: readonly DigestMessage[]
  readonly receipts: readonly Receipt[]
  /** Receipt ids, and how many attempts of unknown outcome the API reports; those without any are absent. */
  readonly marks: ReadonlyMap<string, number>
  /** SMS that were skipped, visibly, because the outcome of an attempt was unknown. */
  readonly leftAlone: ReadonlySet<string>
  readonly jobs: Readonly<Record<string, number>>
  readonly buried: number
  readonly unfinished: Unfinished
}

export interface Unfinished {
  readonly jobs: number
  readonly tasks: number
  readonly events: number
  readonly messages: number
}

/** A look that takes longer is tried again. Reading everything at the end of a long scene may take more. */
const lookMsMax = 120_000
export const readMsMax = 1_800_000

export async function withClient<Result>(
  connection: ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
  timeoutMs = lookMsMax,
): Promise<Result> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000, query_timeout: timeoutMs })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Tasks that come again forever, such as sweeps, lie further ahead than this. */
const taskHorizon = '1 minute'

export async function countUnfinished(client: pg.Client): Promise<Unfinished> {
  const { rows } = await client.query<Record<keyof Unfinished, number>>(`
    select
      (select count(*)::int from jobs where status in ('pending', 'queued', 'running', 'delayed') or due_at is not null)
        as jobs,
      (select count(*)::int from tasks where due_at < now() + interval '${taskHorizon}') as tasks,
      (select count(*)::int from events where expanded_at is null and canceled_at is null) as events,
      (select count(*)::int from messages where state <> 'done') as messages`)
  return rows[0] as Unfinished
}

/** The first few that are unfinished, with what they wait for. */
export async function describeUnfinished(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ text: string }>(`
    select concat_ws(' ', 'job', j.status, 'lane', j.lane, 'due in',
        round(extract(epoch from j.due_at - clock_timestamp())::numeric, 1), 's, leased', j.lease is not null,
        'interrupted', j.interruptions, '; message', m.state, m.status, m.provider_id, m.sending::text, m.error_text) as text
    from jobs j left join messages m on m.environment_id = j.environment_id and m.job_id = j.id and m.state <> 'done'
    where j.status in ('pending', 'queued', 'running', 'delayed') or j.due_at is not null
    limit 5`)
  return rows.map(({ text }) => `unfinished: ${text}`)
}

export const totalOf = (unfinished: Unfinished): number =>
  unfinished.jobs + unfinished.tasks + unfinished.events + unfinished.messages

type RowFacts = Pick<Facts, 'notifications' | 'inApp' | 'digests' | 'jobs' | 'buried' | 'unfinished'>

export async function readRows(client: pg.Client): Promise<RowFacts> {
  // A service that never lives long has statistics of nearly empty tables: joins by those would take hours.
  await client.query('analyze')
  const notifications = await client.query<{ key: string; count: number }>(`
    select e.transaction_id || ' ' || s.subscriber_id as key, count(*)::int as count
    from notifications n
      join events e on e.environment_id = n.environment_id and e.id = n.event_id
      join subscribers s on s.environment_id = n.environment_id and s.id = n.subscriber_id
    group by 1`)
  const inApp = await client.query<{ key: string; texts: string[] }>(`
    select e.transaction_id || ' ' || s.subscriber_id || ' ' || m.step as key, array_agg(m.content #>> '{}') as texts
    from messages m
      join events e on e.environment_id = m.environment_id and e.id = m.event_id
      join workflows w on w.environment_id = e.environment_id and w.id = e.workflow_id
      join subscribers s on s.environment_id = m.environment_id and s.id = m.subscriber_id
    where m.channel = 'in_app' and m.status = 'sent' and w.identifier <> 'soak-digest'
    group by 1`)
  const digests = await client.query<{ owner: string; text: string }>(`
    select left(lower(v.name), 1) || ' ' || s.subscriber_id as owner, m.content #>> '{}' as text
    from messages m
      join environments v on v.id = m.environment_id
      join events e on e.environment_id = m.environment_id and e.id = m.event_id
      join workflows w on w.environment_id = e.environment_id and w.id = e.workflow_id
      join subscribers s on s.environment_id = m.environment_id and s.id = m.subscriber_id
    where m.channel = 'in_app' and m.status = 'sent' and w.identifier = 'soak-digest'`)
  const jobs = await client.query<{ status: string; count: number }>(
    'select status, count(*)::int as count from jobs group by 1',
  )
  const buried = await client.query<{ count: number }>(`
    select (select count(*)::int from jobs where buried_at is not null)
      + (select count(*)::int from tasks where buried_at is not null) as count`)
  return {
    notifications: new Map(notifications.rows.map(({ key, count }) => [key, count])),
    inApp: new Map(inApp.rows.map(({ key, texts }) => [key, texts])),
    digests: digests.rows.map(({ owner, text }) => ({
      owner,
      events: [...text.matchAll(/\[([a-z]\d+)\]/g)].map(([, marker]) => marker ?? ''),
    })),
    jobs: Object.fromEntries(jobs.rows.map(({ status, count }) => [status, count])),
    buried: buried.rows[0]?.count ?? 0,
    unfinished: await countUnfinished(client),
  }
}
