// Lists behind the numbers: events, what is in the queue, and messages that were removed; each as many as are counted.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { delay, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let workflow: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  workflow = await scene.workflow([inApp('Hello')])
})
after(() => app.close())

const get = (path: string): Promise<Json> => scene.expect(200, 'GET', path)
const refused = async (path: string) => refusals(await app.call('GET', path))
const transactionsOf = (page: Json): string[] => page.data.map((one: Json) => one.transactionId)

test('each event is listed once, newest first, in its own environment, and as many as are counted', async () => {
  for (const transactionId of ['first', 'second', 'third']) {
    app.world.advance(1_000)
    await scene.expect(201, 'POST', '/v1/events/trigger', {
      name: workflow,
      to: ['ada', 'bob'],
      transactionId,
      payload: { secret: 'not in the list' },
    })
  }
  const page = await get('/v1/events')
  assert.deepEqual(transactionsOf(page), ['third', 'second', 'first'])
  assert.equal(page.totalCount, (await get('/v1/counts?measure=events')).total)
  const { _id, createdAt, workflow: of, ...rest } = page.data[0]
  assert.equal(of.identifier, workflow)
  assert.deepEqual(rest, {
    transactionId: 'third',
    notifications: 2,
    state: 'expanded',
    topics: [],
    isBroadcast: false,
    isTest: false,
  })
  const second = page.data[1].createdAt
  assert.deepEqual(transactionsOf(await get(`/v1/events?from=${second}`)), ['third', 'second'])
  assert.deepEqual(transactionsOf(await get(`/v1/events?to=${second}`)), ['first'])
  const start = await get('/v1/events?limit=2')
  assert.deepEqual(transactionsOf(await get(`/v1/events?limit=2&after=${start.next}`)), ['first'])
  const elsewhere = await app.call('GET', '/v1/events', { key: app.productionKey })
  assert.deepEqual([elsewhere.body.data, elsewhere.body.totalCount], [[], 0])
})

test('a time of events that is none, or ends before it starts, is refused with what to write', async () => {
  assert.ok((await refused('/v1/events?from=yesterday'))['from']?.includes('ISO 8601'))
  assert.deepEqual(await refused('/v1/events?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z'), {
    to: 'to must be after from',
  })
})

test('what is due, held and waiting is listed as it is counted, the longest due first', async () => {
  await app.pipeline.work()
  const waits = await scene.workflow([delay(), inApp('Later')])
  await scene.run(waits, fresh('person'))
  await scene.trigger(workflow, 'ada')
  app.world.advance(1_000)
  await scene.trigger(workflow, 'bob')
  app.world.advance(60_000)
  const counted = async (state: string): Promise<number> =>
    (await get('/v1/counts/queue')).lanes.reduce((sum: number, lane: Json) => sum + lane[state], 0)
  const due = await get('/v1/queue')
  assert.deepEqual(
    due.data.map((one: Json) => [one.queue, one.stepType, one.subscriber.subscriberId]),
    [
      ['jobs', 'in_app', 'ada'],
      ['jobs', 'in_app', 'bob'],
    ],
  )
  assert.equal(due.totalCount, await counted('due'))
  const { _id, dueAt, workflow: of, transactionId, notificationId, ...rest } = due.data[0]
  assert.deepEqual(rest, { queue: 'jobs', lane: 'direct', stepType: 'in_app', subscriber: { subscriberId: 'ada' } })
  assert.ok(of.name && transactionId && notificationId)
  const waiting = await get('/v1/queue?state=waiting')
  assert.deepEqual([waiting.totalCount, waiting.data[0].stepType], [await counted('waiting'), 'delay'])
  const [next] = (await get('/v1/queue?limit=1&page=1')).data
  assert.equal(next.subscriber.subscriberId, 'bob')
  assert.equal((await get('/v1/queue?page=7')).totalCount, 2, 'also beyond its end')
  const future = new Date(app.world.now().getTime() + 30_000)
  await scene.rows(sql`update jobs set lease = ${_id}::uuid, due_at = ${future} where id = ${_id}`)
  const held = await get('/v1/queue?state=inHand')
  assert.deepEqual([held.totalCount, held.data[0]._id], [await counted('inHand'), _id])
  const elsewhere = await app.call('GET', '/v1/queue', { key: app.productionKey })
  assert.deepEqual(elsewhere.body.data, [])
  assert.ok('state' in (await refused('/v1/queue?state=lost')))
  assert.deepEqual(
    [held.totalCount, (await get('/v1/queue?state=inHand&queue=jobs&lane=direct')).totalCount],
    [1, 1],
    'of its own queue and lane',
  )
  assert.equal((await get('/v1/queue?state=inHand&queue=tasks')).totalCount, 0)
  assert.equal((await get('/v1/queue?state=inHand&lane=fan_out')).totalCount, 0)
  assert.ok('lane' in (await refused('/v1/queue?lane=fast')))
  assert.ok('queue' in (await refused('/v1/queue?queue=mail')))
})

test('a message that was taken back or deleted is listed for whoever asks, without its words', async () => {
  const quiet = await scene.workflow([inApp('Very private words')])
  // What earlier tests left is sent before.
  await app.pipeline.work()
  app.world.advance(90_000)
  await app.pipeline.work()
  app.world.advance(60_000)
  const started = app.world.now().toISOString()
  const runs: string[] = []
  for (const name of ['kept', 'retracted', 'deleted']) runs.push((await scene.run(quiet, fresh(name))).transactionId)
  const listed = (query = ''): Promise<Json> => get(`/v1/messages?after=${started}${query}`)
  const counted = async () => (await get(`/v1/counts?from=${started}&workflow=${quiet}&outcome=sent`)).total
  const all = await listed()
  assert.deepEqual([all.totalCount, await counted()], [3, 3])
  const [, retracted, deleted] = runs
  await scene.expect(200, 'POST', `/v1/events/${retracted}/retract`)
  await app.pipeline.work()
  const of = (page: Json, id: string | undefined): Json => page.data.find((one: Json) => one.transactionId === id)
  await scene.expect(200, 'DELETE', `/v1/messages/${of(all, deleted)._id}`)
  assert.deepEqual(transactionsOf(await listed()), [runs[0]])
  const withRemoved = await listed('&removed=with')
  assert.equal(withRemoved.totalCount, await counted(), 'as many as are counted')
  assert.deepEqual(transactionsOf(withRemoved), [deleted, retracted, runs[0]], 'in one order with the others')
  assert.deepEqual(transactionsOf(await listed('&removed=only')), [deleted, retracted])
  assert.deepEqual(transactionsOf(await listed('&removed=only&status=sent&channel=in_app')), [deleted, retracted])
  assert.deepEqual((await listed('&removed=only&channel=email')).data, [])
  assert.deepEqual(transactionsOf(await listed(`&removed=with&transactionId=${retracted}`)), [retracted])
  assert.deepEqual(transactionsOf(await listed('&removed=with&limit=1&page=1')), [retracted])
  assert.equal(of(withRemoved, retracted).retracted, true)
  assert.equal(of(withRemoved, deleted).retracted, undefined)
  assert.ok(of(withRemoved, deleted).removedAt >= started)
  assert.equal(of(withRemoved, runs[0]).removedAt, undefined)
  const words = JSON.stringify((await listed('&removed=only')).data.map(({ template, ...rest }: Json) => rest))
  assert.ok(!words.includes('private'), 'what was removed is not read again')
  const elsewhere = await app.call('GET', '/v1/messages?removed=only', { key: app.productionKey })
  assert.deepEqual(elsewhere.body.data, [])
})

test('removed messages are not asked for by what no index has', async () => {
  for (const query of ['subscriberId=ada', 'contextKeys=']) {
    const { removed } = await refused(`/v1/messages?removed=only&${query}`)
    assert.ok(removed?.includes('use transactionId, channel, status'), query)
  }
  assert.ok('removed' in (await refused('/v1/messages?removed=perhaps')))
})
