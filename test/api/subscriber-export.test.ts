// The export of one person over the API: everything that is kept of them, nothing of others, and a last line that says it is whole.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { exportLines, findExport } from '../../src/read/people/export-subscriber.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { marker, PersonScene } from '../support/person-scene.ts'
import { environmentOf } from '../support/topic-scene.ts'

let app: TestApp
let scene: PersonScene
before(async () => {
  app = await createTestApp()
  scene = new PersonScene(app)
  await scene.live()
})
after(() => app.close())

const path = (subscriberId: string): string => `/v1/subscribers/${encodeURIComponent(subscriberId)}/export`

async function exported(subscriberId: string): Promise<Json[]> {
  const reply = await app.call('GET', path(subscriberId))
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.headers['content-type'], 'application/x-ndjson')
  assert.ok(reply.text.endsWith('\n'))
  return reply.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const kinds = (lines: readonly Json[], kind: string): Json[] => lines.filter((line) => line.kind === kind)

test('the export begins with its version, holds a line for each row that is kept of the person, and ends with a count', async () => {
  const lines = await exported(marker.subscriberId)
  assert.deepEqual(lines[0], {
    kind: 'header',
    format: 'posthorn-subscriber',
    version: 1,
    environment: 'Development',
    subscriberId: marker.subscriberId,
    exportedAt: app.world.now().toISOString(),
  })
  const [rows] = await app.database.db.rows<Json>(sql`
    with person as (select id from subscribers where subscriber_id = ${marker.subscriberId})
    select (select count(*) from notifications where subscriber_id in (select id from person)) as notification,
           (select count(*) from messages where subscriber_id in (select id from person)) as message,
           (select count(*) from topic_subscriptions where subscriber_id in (select id from person)) as topic_subscription,
           (select count(*) from subscriber_channels where subscriber_id in (select id from person)) as channel,
           (select count(*) from jobs where subscriber_id in (select id from person)) as steps`)
  const { steps, ...counted } = rows
  assert.deepEqual(lines.at(-1), {
    kind: 'end',
    counts: { subscriber: 1, suppression: 1, digest_event: 1, ...counted },
  })
  for (const [kind, count] of Object.entries(counted)) assert.equal(kinds(lines, kind).length, count, kind)
  const notifications = kinds(lines, 'notification')
  assert.equal(notifications.flatMap((one) => one.steps).length, steps)
  assert.ok(counted.notification >= 6 && counted.message >= 4, JSON.stringify(counted))
})

test('what was said is there in all its parts, and so is what the person can be reached by', async () => {
  const lines = await exported(marker.subscriberId)
  const [subscriber] = kinds(lines, 'subscriber')
  assert.deepEqual(
    [subscriber.email, subscriber.firstName, subscriber.deletedAt],
    [marker.email, marker.firstName, null],
  )
  assert.deepEqual(kinds(lines, 'channel')[0].credentials.deviceTokens, [marker.token])
  const alone = kinds(lines, 'notification').find((one) => one.transactionId === 'alone')
  assert.equal(alone.payload.orderId, marker.secret)
  const said = kinds(lines, 'message').filter((one) => one._notificationId === alone._id)
  assert.ok(said.some((one) => one.content === `Hello ${marker.firstName}: ${marker.secret}`))
  assert.ok(said.some((one) => one.channel === 'email' && one.subject === `Order ${marker.secret}`))
  assert.equal(kinds(lines, 'digest_event')[0].payload.orderId, marker.secret)
  assert.equal(kinds(lines, 'suppression')[0].address, marker.email)
})

test('what was chosen is there once something was', async () => {
  assert.deepEqual(kinds(await exported(marker.subscriberId), 'preferences'), [])
  const choice = { channels: { email: false } }
  await scene.flow.expect(200, 'PATCH', `/v2/subscribers/${marker.subscriberId}/preferences`, choice)
  const [chosen] = kinds(await exported(marker.subscriberId), 'preferences')
  assert.equal(chosen.channels.email, false)
})

test('nothing of anyone else is in it', async () => {
  const text = (await exported('bob')).map((line) => JSON.stringify(line)).join('\n')
  for (const word of [marker.email, marker.lastName, marker.secret, marker.token]) assert.ok(!text.includes(word), word)
  const own = (await exported(marker.subscriberId)).map((line) => JSON.stringify(line)).join('\n')
  assert.ok(!own.includes('bob@example.org'))
})

test('someone who was deleted can still be exported', async () => {
  await scene.flow.subscribers('leaver')
  await scene.flow.expect(200, 'DELETE', '/v2/subscribers/leaver')
  const [subscriber] = kinds(await exported('leaver'), 'subscriber')
  assert.equal(subscriber.deletedAt, app.world.now().toISOString())
})

test('a large export is read a page at a time, and no further once no one listens', async () => {
  const name = await scene.flow.workflow([{ template: { type: 'in_app', content: 'One of many' } }])
  for (let batch = 0; batch < 2; batch += 1) {
    await scene.flow.results(Array.from({ length: 60 }, () => ({ name, to: 'frequent' })))
  }
  await scene.flow.work()
  const environment = await environmentOf(app)
  const found = (await findExport(app.database.db, environment, 'frequent')) ?? assert.fail('not found')
  const leaving = new AbortController()
  const parts = { sealer: app.world.sealer, now: app.world.now(), gone: leaving.signal }
  const pages: string[] = []
  for await (const text of exportLines(app.database.db, environment, found, parts)) {
    pages.push(text)
    if (text.includes('"kind":"notification"')) leaving.abort()
  }
  const lines = pages.join('').trim().split('\n')
  assert.ok(lines.length < 60, `${lines.length} lines`)
  assert.ok(!lines.some((line) => line.includes('"kind":"end"')), 'what was cut short does not look whole')
  assert.equal((await exported('frequent')).at(-1).counts.notification, 120)
})

test('no one, a key that may only read, and another environment get none', async () => {
  assert.equal((await app.call('GET', path('nobody'))).status, 404)
  assert.equal((await app.call('GET', path(marker.subscriberId), { key: null })).status, 401)
  assert.equal((await app.call('GET', path(marker.subscriberId), { key: app.productionKey })).status, 404)
  assert.equal((await app.call('GET', path('x'.repeat(256)))).status, 422)
  const { key } = await scene.flow.expect(201, 'POST', '/v1/environments/api-keys', {
    name: 'Reader',
    scopes: ['read'],
  })
  assert.equal((await app.call('GET', path(marker.subscriberId), { key })).status, 403)
})
