// Custom steps: the customer's own service is called, signed and once or under the same key, and its answer kept.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { createTestPipeline } from '../support/pipeline.ts'
import { inApp, refused } from '../support/workflow-scene.ts'

interface Asked {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: Json
  readonly text: string
  readonly atMs: number
}
type Answer = { status: number; body?: string; headers?: Record<string, string> } | OutboundError

let app: TestApp
let scene: FlowScene
const asked: Asked[] = []
let answers: Answer[] = []
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  app.world.onFetch = async (request) => {
    const text = await request.text()
    const { url, method, headers } = request
    asked.push({ url, method, headers, text, body: JSON.parse(text), atMs: app.world.now().getTime() })
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 200, body: '{"ok":true}' }
    if (answer instanceof OutboundError) throw answer
    return { status: answer.status, headers: new Headers(answer.headers ?? {}), body: answer.body ?? '' }
  }
})
beforeEach(async () => {
  await scene.rows(sql`update jobs set due_at = null where due_at is not null`)
  asked.length = 0
  answers = []
})
after(() => app.close())

const minuteMs = 60_000
const url = 'https://api.example.com/hooks?token=hush'
const custom = (metadata: object = {}, more: object = {}) => ({
  template: { type: 'custom' },
  metadata: { type: 'http', url, ...metadata },
  ...more,
})

/** The jobs' states as they are kept, by step. */
const statesOf = async (notification: Json): Promise<Json[]> =>
  (await scene.rows(sql`select state from jobs where notification_id = ${notification._id} order by step`)).map(
    ({ state }) => state,
  )

test('the service is called with what the run is about, signed with the environment’s secret', async () => {
  const workflow = await scene.workflow([
    custom({ headers: { 'X-Order': '{{ payload.n }}' }, body: { text: 'Order {{ payload.n }}' } }),
    inApp('After'),
  ])
  const person = fresh('person')
  answers = [{ status: 200, body: '{"score":7}' }]
  const notification = await scene.run(workflow, person, { payload: { n: 5 } })
  assert.deepEqual(statuses(notification), ['completed', 'completed'])
  const [call = assert.fail('no one was asked')] = asked
  assert.equal(asked.length, 1)
  assert.deepEqual([call.method, call.url, call.headers.get('x-order')], ['POST', url, '5'])
  assert.deepEqual([call.body.payload, call.body.text], [{ n: 5 }, 'Order 5'])
  assert.equal(call.body.subscriber.subscriberId, person)
  assert.equal(call.body.workflow.identifier, workflow)
  assert.deepEqual([call.body.transactionId, call.body.notificationId], [notification.transactionId, notification._id])
  assert.equal(call.headers.get('idempotency-key'), notification.jobs[0]._id)
  const [, seconds, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(call.headers.get('x-posthorn-signature') ?? '') ?? []
  const secret = (await scene.expect(200, 'GET', '/v1/environments/me')).signingSecret
  assert.equal(createHmac('sha256', secret).update(`${seconds}.${call.text}`).digest('hex'), hex)
  assert.deepEqual((await statesOf(notification))[0], { calls: 1, result: { score: 7 } })
})

test('what was asked and answered is reported, without secrets', async () => {
  const workflow = await scene.workflow([custom({ headers: { Authorization: 'Bearer hush-hush' } })])
  answers = [{ status: 200, body: '{"youSent":"Bearer hush-hush"}' }]
  const { jobs } = await scene.run(workflow, fresh('person'))
  assert.deepEqual(reported(jobs[0]), [
    ['Step queued', 'Pending'],
    ['Custom step called its service', 'Pending'],
    ['Custom step was answered', 'Success'],
  ])
  assert.deepEqual(rawOf(jobs[0], 'Custom step called its service'), {
    method: 'POST',
    url: 'https://api.example.com/hooks?…',
    headers: ['Authorization'],
  })
  assert.deepEqual(rawOf(jobs[0], 'Custom step was answered'), { status: 200, answer: '{"youSent":"…"}' })
  assert.equal(JSON.stringify(jobs[0].executionDetails).includes('hush'), false)
})

test('an answer that is no object leaves an empty result', async () => {
  const workflow = await scene.workflow([custom(), inApp('After')])
  answers = [{ status: 202, body: 'accepted' }]
  const notification = await scene.run(workflow, fresh('person'))
  assert.deepEqual(statuses(notification), ['completed', 'completed'])
  assert.deepEqual((await statesOf(notification))[0].result, {})
})

test('later steps see what was answered, in their texts and in their own calls', async () => {
  const workflow = await scene.workflow([
    custom({}, { uuid: 'scorer' }),
    inApp('Score {{ steps.scorer.result.score }}'),
    custom({ body: { seen: '{{ steps.scorer.result.score }}' } }),
  ])
  const person = fresh('person')
  answers = [{ status: 200, body: '{"score":7}' }]
  await scene.run(workflow, person)
  assert.deepEqual(await scene.texts(person), ['Score 7'])
  assert.equal(asked[1]?.body.seen, '7')
})

test('a busy service is called again, under the same key, until it answers', async () => {
  const workflow = await scene.workflow([custom(), inApp('After')])
  const person = fresh('person')
  answers = [{ status: 503 }, new OutboundError('unsure', 'No answer came'), { status: 200, body: '{"n":1}' }]
  const waiting = await scene.run(workflow, person)
  assert.deepEqual(statuses(waiting), ['running', 'pending'])
  assert.deepEqual(reported(waiting.jobs[0]).at(-1), ['Custom step got no answer, it will be called again', 'Queued'])
  await scene.advance(minuteMs, 500)
  const over = await scene.notification(waiting.transactionId)
  assert.deepEqual(statuses(over), ['completed', 'completed'])
  assert.equal(asked.length, 3)
  assert.equal(new Set(asked.map((call) => call.headers.get('idempotency-key'))).size, 1)
  assert.equal(new Set(asked.map((call) => call.text)).size, 1)
  assert.deepEqual((await statesOf(over))[0], { calls: 3, result: { n: 1 } })
  assert.deepEqual(await scene.texts(person), ['After'])
})

test('Retry-After is respected', async () => {
  const workflow = await scene.workflow([custom()])
  answers = [{ status: 429, headers: { 'retry-after': '90' } }, { status: 200 }]
  await scene.run(workflow, fresh('person'))
  await scene.advance(90_000 - 1)
  assert.equal(asked.length, 1)
  await scene.advance(1)
  assert.equal(asked.length, 2)
})

test('a service that stays busy is given up after five calls, and the run stops', async () => {
  const workflow = await scene.workflow([custom(), inApp('After')])
  const person = fresh('person')
  answers = [{ status: 500, body: 'broken' }]
  const { transactionId } = await scene.run(workflow, person)
  await scene.advance(15 * minuteMs, 1_000)
  const over = await scene.notification(transactionId)
  assert.deepEqual(statuses(over), ['failed', 'canceled'])
  assert.equal(asked.length, 5)
  assert.ok((asked[4]?.atMs ?? 0) - (asked[0]?.atMs ?? 0) <= 10 * minuteMs)
  assert.deepEqual(reported(over.jobs[0]).at(-1), ['Custom step failed', 'Failed'])
  assert.deepEqual(rawOf(over.jobs[0], 'Custom step failed'), { status: 500, answer: 'broken', attempt: 5 })
  assert.deepEqual(await scene.texts(person), [])
})

test('a service that refuses is not called again; whether the run continues is the step’s to say', async () => {
  answers = [{ status: 422, body: '{"error":"no"}' }]
  for (const [metadata, more, expected] of [
    [{}, {}, ['failed', 'canceled']],
    [{ continueOnFailure: true }, {}, ['failed', 'completed']],
    [{ continueOnFailure: true }, { shouldStopOnFail: true }, ['failed', 'canceled']],
  ] as const) {
    const workflow = await scene.workflow([custom(metadata, more), inApp('After')])
    assert.deepEqual(statuses(await scene.run(workflow, fresh('person'))), expected)
  }
  assert.equal(asked.length, 3)
})

test('an address that must not be called fails at once and says so', async () => {
  const workflow = await scene.workflow([custom({ url: 'https://10.0.0.1/' })])
  answers = [new OutboundError('refused-address', '10.0.0.1 is a private address')]
  const { jobs } = await scene.run(workflow, fresh('person'))
  assert.equal(jobs[0].status, 'failed')
  assert.equal(rawOf(jobs[0], 'Custom step failed').message, '10.0.0.1 is a private address')
})

test('a template that comes to no address fails the step, and no one is called', async () => {
  const workflow = await scene.workflow([
    custom({ url: 'https://api.example.com/{{ payload.where }}' }),
    inApp('After'),
  ])
  const notification = await scene.run(workflow, fresh('person'), { payload: { where: 'x'.repeat(4_000) } })
  assert.deepEqual(statuses(notification), ['failed', 'canceled'])
  assert.deepEqual(reported(notification.jobs[0]).at(-1), ['Message content could not be generated', 'Failed'])
  assert.equal(asked.length, 0)
})

test('a call that was under way when its node ended is repeated under its key', async () => {
  const workflow = await scene.workflow([custom(), inApp('After')])
  const transactionId = await scene.trigger(workflow, fresh('person'))
  // Begun and never ended, as a crash leaves it.
  await scene.rows(sql`
    update jobs set status = 'running', state = '{"calls": 1, "calling": true}'
    where event_id = (select id from events where transaction_id = ${transactionId})`)
  await scene.work()
  const over = await scene.notification(transactionId)
  assert.deepEqual(statuses(over), ['completed', 'completed'])
  assert.deepEqual(
    asked.map((call) => call.headers.get('idempotency-key')),
    [over.jobs[0]._id],
  )
  assert.equal((await statesOf(over))[0].calls, 1)
})

test('a call that twenty nodes did not survive is made again, and uses up none of its five', async () => {
  const workflow = await scene.workflow([custom(), inApp('After')])
  const transactionId = await scene.trigger(workflow, fresh('person'))
  const answer = app.world.onFetch
  for (let deaths = 1; deaths <= 20; deaths += 1) {
    const dying = createTestPipeline(app.database.db, app.world)
    await new Promise<void>((asked) => {
      app.world.onFetch = () => {
        asked()
        return new Promise<never>(() => {})
      }
      // A call that hangs ends some day; by then nothing is left to write to.
      dying.work().catch(() => {})
    })
    await dying.died()
    app.world.advance(1_000)
  }
  app.world.onFetch = answer
  await scene.work()
  const over = await scene.notification(transactionId)
  assert.deepEqual(statuses(over), ['completed', 'completed'])
  assert.equal((await statesOf(over))[0].calls, 1)
})

test('a service that was called as often as it may be is not called again', async () => {
  const workflow = await scene.workflow([custom(), inApp('After')])
  const transactionId = await scene.trigger(workflow, fresh('person'))
  await scene.rows(sql`
    update jobs set status = 'running', state = '{"calls": 5}'
    where event_id = (select id from events where transaction_id = ${transactionId})`)
  await scene.work()
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['failed', 'canceled'])
  assert.equal(asked.length, 0)
})

test('many runs at once are all called, so many at a time', async () => {
  const workflow = await scene.workflow([custom(), inApp('After')])
  let [underWay, most] = [0, 0]
  const answer = app.world.onFetch
  app.world.onFetch = async (request, options) => {
    underWay += 1
    most = Math.max(most, underWay)
    await new Promise(setImmediate)
    underWay -= 1
    return (answer ?? assert.fail('there is no answer'))(request, options)
  }
  const people = Array.from({ length: 70 }, () => fresh('person'))
  const transactionId = await scene.trigger(workflow, people)
  await scene.work()
  app.world.onFetch = answer
  assert.equal(asked.length, 70)
  assert.equal(most, 20)
  const rows = await scene.rows(sql`
    select status, count(*) as count from jobs
    where event_id = (select id from events where transaction_id = ${transactionId}) group by status`)
  assert.deepEqual(rows, [{ status: 'completed', count: 140 }])
})

test('runs that wait long for a slow service give their place back and come again', async () => {
  const workflow = await scene.workflow([custom()])
  const answer = app.world.onFetch
  app.world.onFetch = async (request, options) => {
    if (asked.length === 0) app.world.advance(20_001)
    return (answer ?? assert.fail('there is no answer'))(request, options)
  }
  const transactionId = await scene.trigger(
    workflow,
    Array.from({ length: 30 }, () => fresh('person')),
  )
  const jobs = (): Promise<Json[]> =>
    scene.rows(sql`
      select status, lease is not null as leased, count(*) as count from jobs
      where event_id = (select id from events where transaction_id = ${transactionId})
      group by status, leased order by status`)
  await scene.work()
  app.world.onFetch = answer
  assert.deepEqual(await jobs(), [
    { status: 'completed', leased: false, count: 20 },
    { status: 'queued', leased: false, count: 10 },
  ])
  // At the rate at which the service took calls, which was slow.
  await scene.advance(60_000, 5_000)
  assert.deepEqual(await jobs(), [{ status: 'completed', leased: false, count: 30 }])
  assert.equal(new Set(asked.map((call) => call.headers.get('idempotency-key'))).size, 30)
  assert.equal(asked.length, 30)
})

test('settings that can never be called are refused when they are saved', async () => {
  const steps = [
    custom({ url: 'ftp://example.com' }),
    custom({ headers: { Host: 'x' } }),
    custom({ timeoutMs: 60_000 }),
    custom({ body: { payload: 1 } }),
  ]
  assert.deepEqual(Object.keys(await refused(app, { name: fresh('workflow'), steps })), [
    'steps.0.metadata.url',
    'steps.1.metadata.headers.Host',
    'steps.2.metadata.timeoutMs',
    'steps.3.metadata.body.payload',
  ])
})
