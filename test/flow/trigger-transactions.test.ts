// Triggers: a transactionId runs once, on whichever node, and an idempotency key gets its first answer.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { eventually } from '../support/service.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let node: TestApp
let scene: FlowScene
let hello: string
before(async () => {
  app = await createTestApp()
  node = await createTestApp({ nodeOf: app })
  scene = new FlowScene(app)
  hello = await scene.workflow([inApp('{{ payload.text }}')])
})
after(async () => {
  await node.close()
  await app.close()
})

const event = (to: string, transactionId: string | undefined, text = 'first') => ({
  name: hello,
  to,
  payload: { text },
  ...(transactionId === undefined ? {} : { transactionId }),
})

test('an event whose transactionId was used before is answered alike and does not run', async () => {
  const [person, id] = [fresh('person'), fresh('transaction')]
  const [first] = await scene.results([event(person, id)])
  const [second] = await scene.results([event(person, id, 'second')])
  const third = await scene.single(event(person, id, 'third'))
  assert.deepEqual(first, { acknowledged: true, status: 'processed', transactionId: id })
  assert.deepEqual(second, first)
  assert.deepEqual([third.status, third.body], [201, first])
  await scene.work()
  assert.deepEqual(await scene.texts(person), ['first'])
})

test('an id used before gets the first answer even when its workflow is switched off, changed or deleted since', async () => {
  const changes: [string, (workflow: { _id: string }) => Promise<unknown>][] = [
    ['switched off', ({ _id }) => scene.expect(200, 'PUT', `/v1/workflows/${_id}/status`, { active: false })],
    [
      'given a schema',
      ({ _id }) =>
        scene.expect(200, 'PATCH', `/v1/workflows/${_id}`, {
          payloadSchema: { type: 'object', required: ['orderId'] },
        }),
    ],
    ['deleted', ({ _id }) => scene.expect(200, 'DELETE', `/v1/workflows/${_id}`)],
  ]
  for (const [what, change] of changes) {
    const workflow = await scene.created([inApp('Hello')])
    const [person, other, id] = [fresh('person'), fresh('person'), fresh('transaction')]
    const trigger = { name: workflow.triggers[0].identifier, to: person, transactionId: id }
    const [first] = await scene.results([trigger])
    await change(workflow)
    const [again, unused] = await scene.results([
      { ...trigger, to: other },
      { ...trigger, transactionId: fresh('transaction') },
    ])
    assert.deepEqual(again, first, what)
    assert.notEqual(unused.status, 'processed', what)
    const single = await scene.single(trigger)
    assert.deepEqual([single.status, single.body], [201, first], what)
    await scene.work()
    assert.deepEqual(await scene.recipients(id), [person], what)
  }
})

test('an id that we made gets its answer after the workflow is gone as well', async () => {
  const workflow = await scene.created([inApp('Hello')])
  const trigger = { name: workflow.triggers[0].identifier, to: fresh('person') }
  const transactionId = await scene.trigger(trigger.name, trigger.to)
  await scene.expect(200, 'DELETE', `/v1/workflows/${workflow._id}`)
  const [again] = await scene.results([{ ...trigger, transactionId }])
  assert.deepEqual(again, { acknowledged: true, status: 'processed', transactionId })
})

test('of two alike in one call the first runs', async () => {
  const [person, id] = [fresh('person'), fresh('transaction')]
  const results = await scene.results([event(person, id), event(person, id, 'second'), event(person, undefined, 'own')])
  assert.deepEqual(
    results.map((result) => result.status),
    ['processed', 'processed', 'processed'],
  )
  await scene.work()
  assert.deepEqual((await scene.texts(person)).sort(), ['first', 'own'])
})

test('a person named only by the second of two equal events is not created, and gets nothing', async () => {
  const [person, other, id] = [fresh('person'), fresh('other'), fresh('transaction')]
  const results = await scene.results([event(person, id), event(other, id, 'second')])
  assert.deepEqual(
    results.map((result) => result.status),
    ['processed', 'processed'],
  )
  assert.equal((await app.call('GET', `/v2/subscribers/${other}`)).status, 404)
  assert.equal((await app.call('GET', `/v2/subscribers/${person}`)).status, 200)
})

/** The largest numbers of rows of these calls that one transaction wrote. */
async function largestCommit(calls: readonly (readonly { readonly transactionId?: string }[])[]) {
  const replies = await Promise.all(
    calls.map((events) => app.call('POST', '/v1/events/trigger/bulk', { body: { events } })),
  )
  for (const reply of replies) assert.equal(reply.status, 201, reply.text)
  const ids = calls.flat().map(({ transactionId }) => transactionId as string)
  const [largest] = await scene.rows(sql`
    select max(events) as events, max(notifications) as notifications from (
      select count(distinct e.id) as events, count(*) as notifications
      from events e join notifications n on n.environment_id = e.environment_id and n.event_id = e.id
      where e.transaction_id = any(${ids}) group by e.xmin::text) as commits`)
  return largest
}

test('bulk calls that come together share commits, thirty small ones at most, and large ones by what they write', async () => {
  const small = await largestCommit(Array.from({ length: 70 }, () => [event(fresh('person'), fresh('transaction'))]))
  assert.ok(small?.events > 1 && small.events <= 30, `${small?.events} calls in one commit`)
  const people = (): string[] => Array.from({ length: 100 }, () => fresh('person'))
  const large = await largestCommit(
    Array.from({ length: 12 }, () => [{ ...event('', fresh('transaction')), to: people() }]),
  )
  assert.ok(large?.notifications > 100 && large.notifications <= 300, `${large?.notifications} in one commit`)
  await scene.work()
})

test('the same id on two nodes at once runs once', async () => {
  const people = Array.from({ length: 20 }, () => [fresh('person'), fresh('transaction')] as const)
  const call = (on: TestApp, text: string, order: readonly (readonly [string, string])[]) =>
    on.call('POST', '/v1/events/trigger/bulk', {
      body: { events: order.map(([person, id]) => event(person, id, text)) },
    })
  const replies = await Promise.all([
    call(app, 'one', people),
    call(node, 'other', [...people].reverse()),
    call(app, 'one', people),
  ])
  for (const reply of replies) assert.equal(reply.status, 201, reply.text)
  await scene.work()
  for (const [person] of people) assert.equal((await scene.feed(person)).length, 1)
})

test('single calls with one id that come at once run once', async () => {
  const [person, id] = [fresh('person'), fresh('transaction')]
  const calls = Array.from({ length: 20 }, (_, index) =>
    (index % 2 === 0 ? app : node).call('POST', '/v1/events/trigger', { body: event(person, id, `${index}`) }),
  )
  for (const reply of await Promise.all(calls)) {
    assert.deepEqual([reply.status, reply.body.transactionId], [201, id], reply.text)
  }
  await scene.work()
  assert.equal((await scene.feed(person)).length, 1)
})

test('an id that we made and a caller sends back means the same event', async () => {
  const person = fresh('person')
  const id = await scene.trigger(hello, person, { payload: { text: 'first' } })
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  const [again] = await scene.results([event(person, id, 'second')])
  assert.deepEqual([again.status, again.transactionId], ['processed', id])
  await scene.work()
  assert.deepEqual(await scene.texts(person), ['first'])
})

test('an id of the same form that no one used runs', async () => {
  const person = fresh('person')
  const id = app.world.newId(app.world.now())
  await scene.trigger(hello, person, { transactionId: id })
  await scene.work()
  assert.equal((await scene.feed(person)).length, 1)
  assert.equal((await scene.progress(id)).transactionId, id)
})

test('an event that was refused leaves its id free for the fixed one', async () => {
  const [person, id] = [fresh('person'), fresh('transaction')]
  for (const bad of [
    { name: hello, to: 5, transactionId: id },
    { name: 'nobody-knows-it', to: person, transactionId: id },
    { name: hello, to: [], transactionId: id },
    { name: hello, to: person, tenant: 'nobody', transactionId: id },
  ]) {
    assert.notEqual((await scene.results([bad]))[0].status, 'processed')
  }
  await scene.trigger(hello, person, { transactionId: id, payload: { text: 'mended' } })
  await scene.work()
  assert.deepEqual(await scene.texts(person), ['mended'])
})

test('the same id in another environment is another event', async () => {
  const [person, id] = [fresh('person'), fresh('transaction')]
  const body = { name: 'hello-there', workflowId: 'hello-there', active: true, steps: [inApp('Hello')] }
  const made = await app.call('POST', '/v1/workflows', { body, key: app.productionKey })
  assert.equal(made.status, 201, made.text)
  await scene.trigger(hello, person, { transactionId: id })
  const trigger = { name: 'hello-there', to: person, transactionId: id }
  assert.equal((await app.call('POST', '/v1/events/trigger', { body: trigger, key: app.productionKey })).status, 201)
  await scene.work()
  const feed = await app.call('GET', `/v1/subscribers/${person}/notifications/feed`, { key: app.productionKey })
  assert.equal(feed.body.data.length, 1)
  assert.equal((await scene.feed(person)).length, 1)
})

const keyed = (key: string) => ({ 'idempotency-key': key })

test('a repeated call with its key gets the first answer and runs nothing, bulk and single', async () => {
  const person = fresh('person')
  const [bulkKey, singleKey] = [fresh('key'), fresh('key')]
  const events = [event(person, undefined), { name: 'nobody-knows-it', to: person }]
  const bulk = await scene.bulk(events, keyed(bulkKey))
  const bulkAgain = await scene.bulk(events, keyed(bulkKey))
  assert.deepEqual(bulkAgain.body, bulk.body)
  assert.equal(bulkAgain.headers['idempotency-replay'], 'true')
  const single = await scene.single(event(person, undefined), keyed(singleKey))
  const singleAgain = await scene.single(event(person, undefined), keyed(singleKey))
  assert.deepEqual([singleAgain.status, singleAgain.body], [201, single.body])
  assert.equal(singleAgain.headers['idempotency-replay'], 'true')
  await scene.work()
  assert.equal((await scene.feed(person)).length, 2)
})

test('a key with another body is refused', async () => {
  const person = fresh('person')
  for (const send of [
    (text: string, key: string) => scene.single(event(person, undefined, text), keyed(key)),
    (text: string, key: string) => scene.bulk([event(person, undefined, text)], keyed(key)),
  ]) {
    const key = fresh('key')
    assert.equal((await send('one', key)).status, 201)
    assert.equal((await send('other', key)).status, 422)
  }
  await scene.work()
  assert.equal((await scene.feed(person)).length, 2)
})

test('calls with one key at once run once: while the first runs the others are asked to wait, then get its answer', async () => {
  const person = fresh('person')
  await scene.single({ ...event(person, undefined), to: { subscriberId: person, firstName: 'Ada' } })
  const headers = keyed(fresh('key'))
  const body = { ...event(person, undefined), to: { subscriberId: person, firstName: 'Grace' } }
  const trigger = (at: TestApp): Promise<TestReply> => at.call('POST', '/v1/events/trigger', { body, headers })
  const all = (): Promise<TestReply[]> => Promise.all([node, node, node].map(trigger))
  const db = app.database.another()
  let first: Promise<TestReply> | undefined
  await db.transaction(async (tx) => {
    // It may read, and waits where it writes.
    await tx.rows(sql`select 1 from subscribers where subscriber_id = ${person} for update`)
    first = trigger(app)
    const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%stored_answers%'`
    await eventually(async () => (await db.rows(waiting)).length > 0)
    for (const reply of await all()) assert.deepEqual([reply.status, reply.headers['retry-after']], [409, '1'])
  })
  const answered = await first
  assert.equal(answered?.status, 201)
  for (const reply of await all()) assert.deepEqual([reply.status, reply.body], [201, answered?.body])
  await scene.work()
  assert.equal((await scene.feed(person)).length, 2)
})

test('an error answer is not kept: the same key may carry the fixed event', async () => {
  const person = fresh('person')
  const key = fresh('key')
  const bad = await scene.single({ ...event(person, undefined), name: 'nobody-knows-it' }, keyed(key))
  assert.equal(bad.status, 422)
  const retried = await scene.single(event(person, undefined), keyed(key))
  assert.equal(retried.status, 201, retried.text)
  assert.equal(retried.headers['idempotency-replay'], undefined)
})

test('concurrent single calls each get their own answer', async () => {
  const people = Array.from({ length: 50 }, () => fresh('person'))
  const replies = await Promise.all(
    people.map((person, index) =>
      index % 10 === 3
        ? scene.single({ name: 'nobody-knows-it', to: person })
        : scene.single(event(person, `of-${person}`)),
    ),
  )
  for (const [index, reply] of replies.entries()) {
    if (index % 10 === 3) assert.equal(reply.status, 422)
    else assert.deepEqual([reply.status, reply.body.transactionId], [201, `of-${people[index]}`])
  }
  await scene.work()
  for (const [index, person] of people.entries()) {
    if (index % 10 !== 3) assert.equal((await scene.feed(person)).length, 1)
  }
})
