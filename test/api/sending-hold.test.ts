// The hold after a restore over the API: what is due is shown, and released as it is or cancelled first.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { delay, inApp } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
  await well('POST', '/v1/workflows', { name: 'Hello', active: true, steps: [delay(), inApp()] })
})
after(() => app.close())
/** Everything so far was in the backup; the restore was a second ago. */
beforeEach(async () => {
  const { db } = app.database
  await db.run(sql`delete from tasks`)
  await db.run(sql`delete from jobs`)
})

async function well(method: string, path: string, body?: object): Promise<Json> {
  const reply = await app.call(method, path, body === undefined ? {} : { body })
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.body.data ?? reply.body
}

async function hold(): Promise<void> {
  app.world.advance(1_000)
  await app.database.db.run(sql`
    insert into sending_holds (environment_id, held_at, backup_at)
    select id, ${app.world.now()}, ${app.world.now()} from environments where name = 'Development'`)
  app.world.advance(1_000)
}

const release = (cancel: boolean): Promise<Json> => well('POST', '/v1/environments/me/hold/release', { cancel })
const kinds = async (): Promise<string[]> =>
  (await app.database.db.rows<{ kind: string }>(sql`select kind from tasks order by kind`)).map(({ kind }) => kind)

test('a redrive that was under way is stopped where what is due is cancelled: it may have come to its end since', async () => {
  const redrive = await well('POST', '/v1/redrives', { filter: { from: '2020-01-01' } })
  await hold()
  const since = await well('POST', '/v1/redrives', { filter: { from: '2020-01-01' } })
  assert.equal((await well('GET', '/v1/environments/me/hold')).otherTasks, 2)
  await release(true)
  assert.equal((await well('GET', `/v1/redrives/${redrive._id}`)).state, 'stopped')
  assert.equal((await well('GET', `/v1/redrives/${since._id}`)).state, 'running', 'asked for after the restore')
  assert.deepEqual(await kinds(), ['redrive'])
})

test('a release without cancelling leaves redrives and events as they are', async () => {
  const redrive = await well('POST', '/v1/redrives', { filter: { from: '2020-01-01' } })
  await well('POST', '/v1/events/trigger', { name: 'hello', to: 'ada', transactionId: 'goes-on' })
  await hold()
  const { due, acceptedSince } = await well('GET', '/v1/environments/me/hold')
  assert.deepEqual([due.map((one: Json) => [one.workflow, one.count]), acceptedSince], [[['hello', 1]], 0])
  assert.equal((await release(false)).canceledEvents, 0)
  assert.equal((await well('GET', `/v1/redrives/${redrive._id}`)).state, 'running')
  assert.deepEqual(await kinds(), ['redrive'])
  assert.equal((await app.call('POST', '/v1/environments/me/hold/release', { body: {} })).status, 409)
})

test('events accepted before the restore are cancelled, those accepted since are not', async () => {
  await well('POST', '/v1/events/trigger', { name: 'hello', to: 'ada', transactionId: 'before' })
  await hold()
  await well('POST', '/v1/events/trigger', { name: 'hello', to: 'ada', transactionId: 'since' })
  assert.equal((await release(true)).canceledEvents, 1)
  const events = await app.database.db.rows<{ id: string; canceled: boolean }>(sql`
    select transaction_id as id, canceled_at is not null as canceled from events where transaction_id in ('before', 'since') order by 1`)
  assert.deepEqual(events, [
    { id: 'before', canceled: true },
    { id: 'since', canceled: false },
  ])
  assert.deepEqual(await kinds(), ['cancel'])
})
