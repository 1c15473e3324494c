// Receipts that a provider must be asked for: when, how often, and that a device that is gone is not tried again.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { awaitReceipts } from '../../src/record/receipts/await-receipts.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { worldClock } from '../support/pipeline.ts'

const minuteMs = 60_000
const push = (content: string): Json => ({ template: { type: 'push', title: 'News', content } })

let app: TestApp
let scene: FlowScene
let asked: { path: string; body: Json }[]
/** By the id of a ticket. */
let receipts: Map<string, object>
let tickets = 0
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  await scene.expect(201, 'POST', '/v1/integrations', {
    providerId: 'expo',
    channel: 'push',
    active: true,
    credentials: { apiKey: 'token-of-expo' },
  })
})
after(() => app.close())
beforeEach(() => {
  asked = []
  receipts = new Map()
  app.world.onFetch = async (request) => {
    const path = new URL(request.url).pathname
    const body = JSON.parse(await request.text())
    asked.push({ path, body })
    const data = path.endsWith('/send') ? body.map(ticket) : known(body.ids)
    return { status: 200, headers: new Headers(), body: JSON.stringify({ data }) }
  }
})

function ticket(): object {
  tickets += 1
  return { status: 'ok', id: `ticket-${tickets}` }
}

const known = (ids: readonly string[]): object =>
  Object.fromEntries(ids.flatMap((id) => (receipts.has(id) ? [[id, receipts.get(id)]] : [])))

async function reported(devices: number): Promise<{ subscriberId: string; transactionId: string; ids: string[] }> {
  const subscriberId = fresh('person')
  const deviceTokens = Array.from({ length: devices }, () => `ExponentPushToken[${fresh('device')}]`)
  const workflow = await scene.workflow([push('Shipped')])
  const to = { subscriberId, channels: [{ providerId: 'expo', credentials: { deviceTokens } }] }
  const first = tickets
  const { transactionId } = await scene.run(workflow, to)
  return { subscriberId, transactionId, ids: deviceTokens.map((_device, index) => `ticket-${first + 1 + index}`) }
}

const questions = (): Json[] => asked.filter(({ path }) => path.endsWith('/getReceipts')).map(({ body }) => body.ids)
const tokensOf = async (subscriberId: string): Promise<string[]> =>
  (await scene.subscriber(subscriberId)).channels[0].credentials.deviceTokens

test('devices of one person go in one request; a quarter of an hour later one question asks for all', async () => {
  const { transactionId, ids } = await reported(3)
  assert.deepEqual(
    asked.map(({ path, body }) => [path, body.length]),
    [['/--/api/v2/push/send', 3]],
  )
  for (const id of ids) receipts.set(id, { status: 'ok' })
  await scene.advance(14 * minuteMs, minuteMs)
  assert.deepEqual(questions(), [])
  await scene.advance(7 * minuteMs, minuteMs)
  assert.deepEqual(
    questions().map((one) => [...one].sort()),
    [[...ids].sort()],
  )
  const { jobs } = await scene.notification(transactionId)
  const webhooks = jobs[0].executionDetails.filter((one: Json) => one.source === 'Webhook')
  assert.equal(webhooks.length, 3)
  await scene.advance(24 * 60 * minuteMs, 30 * minuteMs)
  assert.equal(questions().length, 1, 'what is known is not asked again')
  assert.equal((await scene.rows(sql`select 1 from tasks where kind = 'poll'`)).length, 0)
})

test('an unregistered device is reported as failed, and removed from the subscriber', async () => {
  const { subscriberId, transactionId, ids } = await reported(2)
  receipts.set(ids[0] ?? '', { status: 'ok' })
  receipts.set(ids[1] ?? '', { status: 'error', message: 'gone', details: { error: 'DeviceNotRegistered' } })
  await scene.advance(21 * minuteMs, minuteMs)
  assert.equal((await tokensOf(subscriberId)).length, 1)
  const messages = await scene.messages(transactionId)
  assert.deepEqual(messages.map((message) => message.status).sort(), ['error', 'sent'])
})

test('where most devices of an answer are said to be gone, no one loses any', async () => {
  const { subscriberId, ids } = await reported(30)
  for (const id of ids) receipts.set(id, { status: 'error', message: 'x', details: { error: 'DeviceNotRegistered' } })
  await scene.advance(21 * minuteMs, minuteMs)
  assert.equal((await tokensOf(subscriberId)).length, 30)
})

test('what is not known yet is asked for again, for a day', async () => {
  const { transactionId } = await reported(1)
  await scene.advance(26 * 60 * minuteMs, 10 * minuteMs)
  const many = questions().length
  assert.ok(many > 10 && many < 60, `${many} questions`)
  await scene.advance(6 * 60 * minuteMs, 10 * minuteMs)
  assert.equal(questions().length, many)
  assert.equal((await scene.message(transactionId)).status, 'sent')
  assert.equal((await scene.rows(sql`select 1 from messages where poll_at is not null`)).length, 0)
})

const polls = (): Promise<Json[]> => scene.rows(sql`select 1 from tasks where kind = 'poll'`)

test('while messages are sent all the time, the tasks that ask still come to an end', async () => {
  for (let sent = 0; sent < 24; sent += 1) {
    const { ids } = await reported(1)
    for (const id of ids) receipts.set(id, { status: 'ok' })
    await scene.advance(5 * minuteMs, 5 * minuteMs)
  }
  const { length } = await polls()
  assert.ok(length <= 6, `${length} tasks ask for the messages of a quarter of an hour`)
  await scene.advance(30 * minuteMs, minuteMs)
  assert.equal((await polls()).length, 0)
})

test('what is known while its job still continues is asked for again later, not at once', async () => {
  const { transactionId, ids } = await reported(1)
  for (const id of ids) receipts.set(id, { status: 'ok' })
  const [{ jobId }] = (await scene.rows(sql`
    select job_id as "jobId" from messages where provider_message_id = ${ids[0] ?? ''}`)) as [Json]
  const later = new Date(app.world.now().getTime() + 365 * 24 * 60 * minuteMs)
  await scene.rows(sql`update jobs set due_at = ${later} where id = ${jobId}`)
  await scene.advance(25 * minuteMs, minuteMs)
  assert.equal(questions().length, 1)
  await scene.rows(sql`update jobs set due_at = null where id = ${jobId}`)
  await scene.advance(40 * minuteMs, minuteMs)
  assert.equal(questions().length, 2)
  const { jobs } = await scene.notification(transactionId)
  assert.equal(jobs[0].executionDetails.filter((one: Json) => one.source === 'Webhook').length, 1)
  assert.equal((await polls()).length, 0)
})

test('a message that has no id to ask by keeps no one busy', async () => {
  const { transactionId, ids } = await reported(1)
  await scene.rows(sql`update messages set provider_message_id = null where provider_message_id = ${ids[0] ?? ''}`)
  await scene.advance(60 * minuteMs, 5 * minuteMs)
  assert.deepEqual([questions().length, (await polls()).length], [0, 0])
  assert.equal((await scene.message(transactionId)).status, 'sent')
  await scene.rows(sql`update messages set poll_at = null where poll_at is not null`)
})

test('only a message whose outcome was recorded is asked about: one whose job was lost meanwhile is not', async () => {
  const { ids } = await reported(1)
  const [{ id, environmentId, integrationId }] = (await scene.rows(sql`
    update messages set state = 'calling', poll_at = null where provider_message_id = ${ids[0] ?? ''}
    returning id, environment_id as "environmentId", integration_id as "integrationId"`)) as [Json]
  const at = app.world.now()
  const { db } = app.database
  const time = { clock: worldClock(app.world), now: at }
  await awaitReceipts(db, { id: environmentId } as Environment, [{ messageId: id, integrationId, at }], time)
  assert.equal((await scene.rows(sql`select 1 from messages where poll_at is not null`)).length, 0)
})
