// The yardstick for accepting and running: a script with a pool that makes the same row changes, and nothing else.
import { createServer } from 'node:http'
import pg from 'pg'
import { connect } from '../../src/db/connect.ts'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { createIdSource } from '../../src/domain/uuid-v7.ts'
import { attachPartition, listMissingPartitions } from '../../src/store/operate/partitions.ts'
import { silentLog } from '../../src/world/log.ts'

const connection = JSON.parse(process.env['BENCH_CONNECTION'] ?? '{}')
const subscriberCount = 10_000
const perBatch = 100

const schema = connect(connection, { poolSize: 1, statementTimeoutMs: 60_000, lockTimeoutMs: 60_000, log: silentLog })
await migrate(schema, await readMigrations())
for (const missing of await listMissingPartitions(schema, new Date())) {
  await schema.transaction((tx) => attachPartition(tx, missing, 5_000))
}
await schema.close()

const newId = createIdSource()
const environmentId = newId(new Date())
const workflowId = newId(new Date())
const versionId = newId(new Date())
const subscribers = Array.from({ length: subscriberCount }, () => newId(new Date()))
let eventCount = 0

interface Batch {
  readonly events: string[]
  readonly notifications: string[]
  readonly jobs: string[]
  readonly subscribers: string[]
  readonly payloads: string[]
  readonly numbers: number[]
}

function newBatch(): Batch {
  const now = new Date()
  const numbers = Array.from({ length: perBatch }, () => (eventCount += 1))
  const ids = () => numbers.map(() => newId(now))
  return {
    events: ids(),
    notifications: ids(),
    jobs: ids(),
    subscribers: numbers.map((number) => subscribers[(number * 7919) % subscriberCount] as string),
    payloads: numbers.map((number) => JSON.stringify({ order: { id: number, total: '19.90' } })),
    numbers,
  }
}

const insertEvents = `
  insert into events (environment_id, id, transaction_id, workflow_id, version_id, payload, overrides, lane, notified,
                      expanded_at, created_at)
  select $1, id, id, $2, $3, payload::jsonb, '{}', 0, 1, $6, $6 from unnest($4::uuid[], $5::text[]) as e (id, payload)`

const insertNotifications = `
  insert into notifications (environment_id, id, event_id, subscriber_id, version_id)
  select $1, id, event_id, subscriber_id, $2
  from unnest($3::uuid[], $4::uuid[], $5::uuid[]) as n (id, event_id, subscriber_id)`

const insertJobs = `
  insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, due_at,
                    claims, details, created_at, updated_at)
  select $1, id, notification_id, event_id, subscriber_id, $2, 0, 'queued', 0, $7, 0, '[]', $7, $7
  from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[]) as j (id, notification_id, event_id, subscriber_id)`

const insertMessages = `
  insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel, state,
                        status, provider_id, content, delivered_at, created_at, updated_at)
  select $1, id, event_id, notification_id, job_id, subscriber_id, $2, 0, 'in_app', 'done', 'sent', 'platform', content::jsonb,
         array[$9::timestamptz], $9, $9
  from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::uuid[], $8::text[])
    as m (id, event_id, notification_id, job_id, subscriber_id, content)`

const settleJobs = `
  update jobs set status = 'completed', due_at = null, state = '{"providerId": "platform"}', details = $3, updated_at = $4
  where environment_id = $1 and id = any($2::uuid[])`

async function inTransaction(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } finally {
    client.release()
  }
}

async function accept(pool: pg.Pool, batch: Batch): Promise<void> {
  const now = new Date()
  await inTransaction(pool, async (client) => {
    const ask = (name: string, text: string, values: unknown[]) => client.query({ name, text, values })
    await ask('events', insertEvents, [environmentId, workflowId, versionId, batch.events, batch.payloads, now])
    const { events, notifications, jobs } = batch
    await ask('notifications', insertNotifications, [
      environmentId,
      versionId,
      notifications,
      events,
      batch.subscribers,
    ])
    await ask('jobs', insertJobs, [environmentId, versionId, jobs, notifications, events, batch.subscribers, now])
  })
}

async function run(pool: pg.Pool, { events, notifications, jobs, ...batch }: Batch): Promise<void> {
  const now = new Date()
  const ids = events.map(() => newId(now))
  const contents = batch.numbers.map((number) => JSON.stringify(`Order ${number} over 19.90 is on its way.`))
  const details = JSON.stringify([{ at: now.toISOString(), code: 'messageCreated', providerId: 'platform' }])
  await inTransaction(pool, async (client) => {
    const ask = (name: string, text: string, values: unknown[]) => client.query({ name, text, values })
    const refs = [events, notifications, jobs, batch.subscribers]
    await ask('messages', insertMessages, [environmentId, versionId, ids, ...refs, contents, now])
    await ask('settle', settleJobs, [environmentId, jobs, details, now])
  })
}

/** So many batches, so many at once; returns the seconds it took. */
async function round(pool: pg.Pool, settings: URLSearchParams): Promise<number> {
  let left = Number(settings.get('batches'))
  const runs = settings.get('kind') === 'run'
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: Number(settings.get('connections')) }, async () => {
      while (left > 0) {
        left -= 1
        const batch = newBatch()
        await accept(pool, batch)
        if (runs) await run(pool, batch)
      }
    }),
  )
  return (performance.now() - startedAt) / 1000
}

const pool = new pg.Pool({ ...connection, max: 16 })
const server = createServer(async (request, response) => {
  const seconds = await round(pool, new URL(request.url ?? '', 'http://localhost').searchParams)
  response.end(JSON.stringify({ seconds }))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`running at http://localhost:${typeof address === 'object' ? address?.port : ''}\n`)
})
process.once('SIGTERM', async () => {
  server.close()
  server.closeAllConnections()
  await pool.end()
})
