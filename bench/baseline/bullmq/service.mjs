// A notification service as one would write it oneself: Fastify takes events, BullMQ hands out one job per notification, a worker
// writes the in-app message, sends the e-mail and updates the row. Feed and activity are selects over the same rows.
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import fastify from 'fastify'
import pg from 'pg'
import { createMailer } from './mailer.mjs'
import { createStore } from './store.mjs'
import { compileTemplates } from './templates.mjs'

// Installed by the bench, beside the project's own dependencies.
const { Queue, Worker } = createRequire(process.env.BENCH_BULLMQ)('bullmq')

/** Enough that a provider which takes 200 ms does not bind: 200 / 0.2 s is 1,000 a second. */
const concurrency = 200
const redis = { host: '127.0.0.1', port: Number(process.env.BENCH_REDIS_PORT) }
const store = await createStore(new pg.Pool({ ...JSON.parse(process.env.BENCH_CONNECTION), max: 20 }))
const templates = compileTemplates(JSON.parse(process.env.BENCH_TEMPLATES))
const mailer = createMailer(process.env.BENCH_SINK_URL, concurrency)

const queue = new Queue('notifications', {
  connection: redis,
  defaultJobOptions: { attempts: 3, removeOnComplete: true, removeOnFail: 1000 },
})

async function work({ data: { id, subscriberId, workflow, payload } }) {
  const template = templates[workflow]
  const subscriber = await store.subscriber(subscriberId)
  const scope = { payload, subscriber }
  await store.addInApp(id, subscriberId, template.inApp(scope))
  const mail = { subject: template.subject(scope), html: template.html(scope), text: template.text(scope) }
  await mailer.send(id, { from: 'bench@example.com', to: subscriber.email, ...mail })
  await store.finish(id, subscriberId, mail)
}
const worker = new Worker('notifications', work, { connection: redis, concurrency })

const app = fastify({ bodyLimit: 10 * 1024 * 1024 })
const authorization = `ApiKey ${process.env.BENCH_KEY}`
app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== authorization) return reply.code(401).send({ message: 'Unauthorized' })
})

const text = { type: 'string' }
const event = {
  type: 'object',
  required: ['name', 'to'],
  properties: {
    name: text,
    to: {
      type: 'object',
      required: ['subscriberId'],
      properties: { subscriberId: text, email: text, firstName: text, data: { type: 'object' } },
    },
    payload: { type: 'object' },
  },
}
const events = { type: 'object', required: ['events'], properties: { events: { type: 'array', items: event } } }

/** A UUIDv7: ids in the order of time fall on the same pages of an index. */
function timedId() {
  const hex = Date.now().toString(16).padStart(12, '0') + randomBytes(10).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
const rowOf = ({ name, to, payload }) => ({ id: timedId(), workflow: name, to, payload: payload ?? {} })
const jobOf = ({ id, workflow, to, payload }) => ({
  name: 'notify',
  data: { id, subscriberId: to.subscriberId, workflow, payload },
})
const answerOf = ({ id }) => ({ acknowledged: true, status: 'processed', transactionId: id })

app.post('/v1/events/trigger', { schema: { body: event } }, async (request, reply) => {
  const row = rowOf(request.body)
  await store.addNotifications([row])
  const { name, data } = jobOf(row)
  await queue.add(name, data)
  return reply.code(201).send({ data: answerOf(row) })
})
app.post('/v1/events/trigger/bulk', { schema: { body: events } }, async (request, reply) => {
  const rows = request.body.events.map(rowOf)
  await store.addNotifications(rows)
  await queue.addBulk(rows.map(jobOf))
  return reply.code(201).send({ data: rows.map(answerOf) })
})

const page = { type: 'object', properties: { page: { type: 'integer' }, limit: { type: 'integer', default: 10 } } }
app.get('/v1/subscribers/:subscriberId/notifications/feed', { schema: { querystring: page } }, (request) =>
  store.feed(request.params.subscriberId, request.query.page ?? 0, request.query.limit),
)
app.get('/v1/notifications', { schema: { querystring: page } }, (request) =>
  store.activity(request.query.page ?? 0, request.query.limit),
)

/** For the bench: how many notifications are still to be sent. */
app.get('/v1/open', async () => {
  const { waiting, active, delayed, prioritized } = await queue.getJobCounts()
  return { open: waiting + active + delayed + prioritized }
})

await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`running at http://localhost:${app.server.address().port}\n`)
process.once('SIGTERM', async () => {
  await app.close()
  await worker.close()
  await queue.close()
  await store.close()
  mailer.close()
})
