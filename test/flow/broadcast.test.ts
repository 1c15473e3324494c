// A broadcast: everyone in the environment, once, in pages.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { addSubscribers } from '../support/topic-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let hello: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  hello = await scene.workflow([inApp('To all')])
})
after(() => app.close())

const broadcast = (body: object) => app.call('POST', '/v1/events/trigger/broadcast', { body })

test('everyone is notified once, but whoever did it and whoever is gone', async () => {
  const names = Array.from({ length: 1_203 }, () => fresh('somebody'))
  await addSubscribers(app, names)
  const [actor = '', gone = ''] = names
  await scene.expect(200, 'DELETE', `/v2/subscribers/${gone}`)
  const reply = await broadcast({ name: hello, payload: { n: 1 }, actor })
  assert.equal(reply.status, 201, reply.text)
  assert.equal(reply.body.status, 'processed')
  await scene.work()
  const [reported] = await scene.rows(sql`
    select count(*) as all, count(distinct subscriber_id) as people from messages m
    join events e on e.id = m.event_id where e.transaction_id = ${reply.body.transactionId}`)
  assert.deepEqual(reported, { all: 1_201, people: 1_201 })
  assert.deepEqual(await scene.texts(actor), [])
  assert.equal((await scene.progress(reply.body.transactionId)).state, 'completed')
})

test('a transaction id used before does not run again', async () => {
  const transactionId = fresh('transaction')
  for (const _ of [1, 2]) {
    const reply = await broadcast({ name: hello, transactionId })
    assert.deepEqual([reply.status, reply.body.status], [201, 'processed'])
    await scene.work()
  }
  const events = await scene.rows(sql`select 1 from events where transaction_id = ${transactionId}`)
  assert.equal(events.length, 1)
})

test('a broadcast waits in the lane of fan-out, and can be cancelled', async () => {
  const reply = await broadcast({ name: hello })
  const { transactionId } = reply.body
  const [event] = await scene.rows(sql`select lane from events where transaction_id = ${transactionId}`)
  assert.equal(event?.lane, 1)
  assert.equal(await scene.expect(200, 'DELETE', `/v1/events/trigger/${transactionId}`), true)
  await scene.work()
  assert.equal((await scene.progress(transactionId)).counts.notifications, 0)
})

test('an unknown workflow and a body without a name are 422', async () => {
  assert.equal((await broadcast({ name: 'nobody-made-this' })).status, 422)
  assert.equal((await broadcast({ payload: {} })).status, 422)
})
