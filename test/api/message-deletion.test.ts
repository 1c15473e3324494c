// Deleting messages over the API: one, or all of a transaction.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let scene: MessageScene
before(async () => {
  app = await createTestApp()
  scene = await MessageScene.of(app, ['del', 'crowd'])
})
after(() => app.close())

async function found(query: string): Promise<string[]> {
  const reply = await app.call('GET', `/v1/messages?${query}`)
  return reply.body.data.map((message: Json) => message._id)
}

test('a message is deleted once, and gone from lists and feed', async () => {
  const said = await scene.say('del')
  const reply = await app.call('DELETE', `/v1/messages/${said.id}`)
  assert.deepEqual([reply.status, reply.body], [200, { acknowledged: true, status: 'deleted' }])
  assert.deepEqual(await found('subscriberId=del'), [])
  assert.deepEqual((await app.call('GET', '/v1/subscribers/del/notifications/feed')).body.data, [])
  const again = await app.call('DELETE', `/v1/messages/${said.id}`)
  assert.deepEqual([again.status, again.body.message], [404, `Message with id ${said.id} not found`])
  assert.equal((await app.call('DELETE', '/v1/messages/not-an-id')).status, 404)
})

test('another environment deletes nothing of ours', async () => {
  const said = await scene.say('del', { event: { transactionId: 'ours' } })
  const key = app.productionKey
  assert.equal((await app.call('DELETE', `/v1/messages/${said.id}`, { key })).status, 404)
  assert.equal((await app.call('DELETE', '/v1/messages/transaction/ours', { key })).status, 404)
  assert.deepEqual(await found('transactionId=ours'), [said.id])
})

test('the messages of a transaction are deleted, all or of one channel', async () => {
  const said = await scene.say('del', { event: { transactionId: 'bye' } })
  const mail = await scene.sayAgain({ id: said.eventId, transactionId: 'bye' }, said.notification, {
    draft: { channel: 'email' },
  })
  const kept = await scene.say('del')
  const remove = (query: string) => app.call('DELETE', `/v1/messages/transaction/bye${query}`)
  assert.equal((await remove('?channel=push')).status, 404)
  const reply = await remove('?channel=in_app')
  assert.deepEqual([reply.status, reply.text], [204, ''])
  assert.deepEqual(await found('transactionId=bye'), [mail.id])
  assert.equal((await remove('')).status, 204)
  assert.deepEqual(await found('transactionId=bye'), [])
  const again = await remove('')
  assert.deepEqual([again.status, again.body.message], [404, 'Invalid transactionId or channel'])
  assert.equal((await app.call('DELETE', '/v1/messages/transaction/never')).status, 404)
  assert.equal((await remove('?channel=pigeon')).status, 422)
  assert.deepEqual(await found(`transactionId=${kept.eventId}`), [kept.id])
})

test('a repeated deletion with its idempotency key gets the first answer', async () => {
  const said = await scene.say('del')
  const headers = { 'idempotency-key': 'delete-once' }
  const first = await app.call('DELETE', `/v1/messages/${said.id}`, { headers })
  const repeat = await app.call('DELETE', `/v1/messages/${said.id}`, { headers })
  assert.deepEqual([first.status, repeat.status, repeat.body], [200, 200, first.body])
  assert.equal(repeat.headers['idempotency-replay'], 'true')
})

test('the messages of a transaction are deleted batch by batch, and those of its neighbours in the key stay', async () => {
  const said = await scene.say('crowd', { event: { transactionId: 'crowd' } })
  const copies = 6_000
  await app.database.db.run(sql`
    insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel,
                          state, status, content, created_at, updated_at)
    select environment_id, (substr(id::text, 1, 20) || substr(md5(n::text), 1, 3) || '-' || substr(md5(n::text), 4, 12))::uuid,
           case when n = 1 then gen_random_uuid() else event_id end, notification_id, job_id, subscriber_id, version_id, step,
           channel, state, status, content, created_at, updated_at
    from messages, generate_series(1, ${copies}::int) as n where id = ${said.id}`)
  const listed = async (): Promise<number> =>
    (await app.call('GET', '/v1/messages?subscriberId=crowd&limit=1')).body.totalCount
  assert.equal(await listed(), copies + 1)
  assert.equal((await app.call('DELETE', '/v1/messages/transaction/crowd')).status, 204)
  assert.equal(await listed(), 1)
})
