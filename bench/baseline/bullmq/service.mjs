// A notification service as one would make it by hand: Fastify takes events, BullMQ hands out one job a notification, a worker
// writes the in-app message, sends the e-mail and updates the row.
import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import fastify from 'fastify'
import pg from 'pg'

// Installed by the bench, beside the project's own dependencies.
const { Queue, Worker } = createRequire(process.env.BENCH_BULLMQ)('bullmq')

const concurrency = 50
const redis = { host: '127.0.0.1', port: Number(process.env.BENCH_REDIS_PORT) }
const sinkUrl = process.env.BENCH_SINK_URL
const pool = new pg.Pool({ ...JSON.parse(process.env.BENCH_CONNECTION), max: 20 })

await pool.query(`
  create table if not exists subscribers (subscriber_id text primary key, first_name text, email text);
  create table if not exists notifications (
    id uuid primary key, subscriber_id text not null, workflow text not null, payload jsonb not null, status text not null,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now());
  create index if not exists notifications_pending on notifications (status) where status = 'pending';
  create index if not exists notifications_by_subscriber on notifications (subscriber_id, created_at);
  create table if not exists messages (
    id uuid primary key, notification_id uuid not null, subscriber_id text not null, channel text not null, content text not null,
    created_at timestamptz not null default now());
  create index if not exists messages_by_subscriber on messages (subscriber_id, created_at)`)

const queue = new Queue('notifications', { connection: redis })

async function work({ data }) {
  const { id, subscriberId, payload } = data
  const found = await pool.query('select first_name, email from subscribers where subscriber_id = $1', [subscriberId])
  const subscriber = found.rows[0]
  await pool.query(
    'insert into messages (id, notification_id, subscriber_id, channel, content) values ($1, $2, $3, $4, $5)',
    [randomUUID(), id, subscriberId, 'in_app', `Order ${payload.order.id} over ${payload.order.total} is on its way.`],
  )
  const answer = await fetch(sinkUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': id },
    body: JSON.stringify({
      from: 'bench@example.com',
      to: subscriber.email,
      subject: `#${payload.order.id}`,
      html: `<p>Hello ${subscriber.first_name},</p><p>order ${payload.order.id} is on its way.</p>`,
      text: `Hello ${subscriber.first_name},\n\norder ${payload.order.id} is on its way.`,
    }),
  })
  await answer.text()
  if (!answer.ok) throw new Error(`The provider answered ${answer.status}`)
  await pool.query("update notifications set status = 'sent', updated_at = now() where id = $1", [id])
}
const worker = new Worker('notifications', work, { connection: redis, concurrency })

const app = fastify({ bodyLimit: 10 * 1024 * 1024 })
const event = {
  type: 'object',
  required: ['name', 'to'],
  properties: {
    name: { type: 'string' },
    to: { type: 'object', required: ['subscriberId'], properties: { subscriberId: { type: 'string' } } },
    payload: { type: 'object' },
  },
}
const schema = {
  body: { type: 'object', required: ['events'], properties: { events: { type: 'array', items: event } } },
}
app.post('/v1/events/trigger/bulk', { schema }, async (request, reply) => {
  const rows = request.body.events.map(({ name, to, payload }) => ({
    id: randomUUID(),
    subscriberId: to.subscriberId,
    workflow: name,
    payload: payload ?? {},
  }))
  await pool.query(
    `insert into notifications (id, subscriber_id, workflow, payload, status)
     select id, subscriber_id, workflow, payload::jsonb, 'pending'
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as n (id, subscriber_id, workflow, payload)`,
    [
      rows.map((row) => row.id),
      rows.map((row) => row.subscriberId),
      rows.map((row) => row.workflow),
      rows.map((row) => JSON.stringify(row.payload)),
    ],
  )
  await queue.addBulk(rows.map((data) => ({ name: 'notify', data })))
  return reply.code(201).send(rows.map((row) => ({ acknowledged: true, status: 'processed', transactionId: row.id })))
})

await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`running at http://localhost:${app.server.address().port}\n`)
process.once('SIGTERM', async () => {
  await app.close()
  await worker.close()
  await queue.close()
  await pool.end()
})
