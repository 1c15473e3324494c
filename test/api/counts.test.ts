// Counts over the API: what is asked and reported, and what is refused.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { dayMs } from '../../src/domain/insight/counts.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { delay, email, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let workflow: string
let started: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  started = app.world.now().toISOString()
  workflow = await scene.workflow([inApp('Hello'), email('Hello')])
  for (let run = 0; run < 3; run += 1) {
    await scene.run(workflow, { subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` })
  }
})
after(() => app.close())

const get = (path: string): Promise<Json> => scene.expect(200, 'GET', path)
const refused = async (query: string, path = '/v1/counts') => refusals(await app.call('GET', `${path}?${query}`))

test('messages of the last day are reported by the hour', async () => {
  const { starts, series, ...rest } = await get('/v1/counts')
  assert.equal(starts.length, 25)
  assert.deepEqual(rest, {
    measure: 'messages',
    from: starts[0],
    to: rest.to,
    step: 'hour',
    zone: 'UTC',
    total: 6,
  })
  assert.deepEqual(series, [{ total: 6, counts: [...Array(24).fill(0), 6] }])
})

test('each group is a series, the largest first', async () => {
  await scene.run(workflow, fresh('nobody'))
  const { series } = await get('/v1/counts?groupBy=workflow&groupBy=channel&groupBy=provider&groupBy=outcome&step=day')
  assert.deepEqual(
    series.map((one: Json) => [one.workflow.identifier, one.channel, one.provider, one.outcome, one.total]),
    [
      [workflow, 'in_app', 'platform', 'sent', 4],
      [workflow, 'email', 'platform-email', 'captured', 3],
      [workflow, 'email', 'none', 'failed', 1],
    ],
  )
  assert.ok(series.every((one: Json) => one.counts.length > 0))
})

test('filters leave the rest out, and a filter of two values takes both', async () => {
  assert.equal((await get(`/v1/counts?workflow=${workflow}&outcome=sent`)).total, 4)
  assert.equal((await get('/v1/counts?outcome=sent&outcome=captured')).total, 7)
  assert.equal((await get('/v1/counts?channel=email&provider=none')).total, 1)
  assert.equal((await get('/v1/counts?provider=mailgun')).total, 0)
  assert.deepEqual((await get('/v1/counts?provider=mailgun&groupBy=provider')).series, [])
})

test('events, notifications, steps and how notifications ended are counted apart', async () => {
  const waits = await scene.workflow([delay(), inApp('Later')])
  await scene.run(waits, fresh('person'))
  const total = async (measure: string) => (await get(`/v1/counts?measure=${measure}`)).total
  assert.deepEqual(
    [await total('events'), await total('notifications'), await total('steps'), await total('endings')],
    [5, 5, 8, 4],
  )
  assert.equal((await get('/v1/counts?measure=steps&channel=delay')).total, 0)
  await scene.advance(2 * 3_600_000)
  assert.equal((await get('/v1/counts?measure=steps&channel=delay')).total, 1)
  assert.equal(await total('endings'), 5)
})

test('another environment has counted nothing', async () => {
  const { body } = await app.call('GET', '/v1/counts', { key: app.productionKey })
  assert.equal(body.total, 0)
  const failures = await app.call('GET', '/v1/counts/failures', { key: app.productionKey })
  assert.deepEqual([failures.body.total, failures.body.data], [0, []])
})

test('delivery times are reported step by step, with nothing where nothing was delivered', async () => {
  const whole = await get(`/v1/counts/delivery-times?groupBy=channel&from=${started}`)
  const stepped = await get(`/v1/counts/delivery-times?groupBy=channel&step=hour&from=${started}`)
  assert.equal(whole.starts, undefined)
  assert.ok(stepped.starts.length > 0)
  for (const [place, { steps, ...line }] of stepped.data.entries()) {
    assert.deepEqual(line, whole.data[place], 'the whole is the same')
    assert.equal(steps.length, stepped.starts.length)
    const counted = steps.reduce((sum: number, { count }: Json) => sum + count, 0)
    assert.equal(counted, line.count)
    for (const { count, p50Ms, p95Ms } of steps) {
      assert.equal(p50Ms === null, count === 0)
      assert.ok(count === 0 || p95Ms >= p50Ms)
    }
  }
  assert.ok(stepped.data.length > 0)
})

test('delivery times are reported by group, and captured messages reached no one', async () => {
  const { data } = await get(`/v1/counts/delivery-times?groupBy=channel&from=${started}`)
  assert.deepEqual(
    data.map((one: Json) => [one.channel, one.count]),
    [['in_app', 5]],
  )
  assert.deepEqual((await get('/v1/counts/delivery-times?channel=email')).data, [])
})

test('failures are listed with their words, as many as asked for', async () => {
  const { total, data } = await get('/v1/counts/failures?limit=1')
  assert.equal(total, 1)
  assert.deepEqual(data, [
    {
      code: 'noEmail',
      reason: data[0].reason,
      detail: 'Subscriber missing email address',
      channel: 'email',
      provider: 'none',
      outcome: 'failed',
      count: 1,
    },
  ])
})

test('the queue reports what is due, what waits and what was buried, by lane', async () => {
  const waits = await scene.workflow([delay(), inApp('Later')])
  await scene.run(waits, fresh('person'))
  await scene.trigger(workflow, fresh('person'))
  app.world.advance(90_000)
  const { lanes, buried, max } = await get('/v1/counts/queue')
  assert.deepEqual(lanes, [
    { queue: 'jobs', lane: 'direct', due: 1, oldestMs: 90_000, inHand: 0, waiting: 1 },
    { queue: 'jobs', lane: 'fan_out', due: 0, oldestMs: 0, inHand: 0, waiting: 0 },
    { queue: 'tasks', lane: 'direct', due: 0, oldestMs: 0, inHand: 0, waiting: 0 },
    { queue: 'tasks', lane: 'fan_out', due: 0, oldestMs: 0, inHand: 0, waiting: 0 },
  ])
  assert.deepEqual(buried, { jobs: 0, tasks: 0 })
  assert.ok(max > 0)
  await scene.rows(sql`update jobs set buried_at = ${app.world.now()} where due_at <= ${app.world.now()}`)
  assert.deepEqual((await get('/v1/counts/queue')).buried, { jobs: 1, tasks: 0 })
  const elsewhere = await app.call('GET', '/v1/counts/queue', { key: app.productionKey })
  assert.deepEqual(
    elsewhere.body.lanes.map(({ due }: Json) => due),
    [0, 0, 0, 0],
  )
  assert.deepEqual(elsewhere.body.buried, { jobs: 0, tasks: 0 })
})

test('delivery times by step are refused where the answer, or what it is added up from, would be too large', async () => {
  const [development] = await scene.rows(sql`select id from environments where name = 'Development'`)
  const id = development?.id ?? assert.fail('there is no Development')
  const today = new Date(Math.floor(app.world.now().getTime() / dayMs) * dayMs)
  const add = (workflows: number, days: number, buckets: number) =>
    scene.rows(sql`
      insert into counts (environment_id, measure, grain, start_at, workflow_id, channel, provider_id, outcome, code, reason, bucket, count, hours)
      select ${id}, 'deliveries', 'day', ${today}::timestamptz - day * interval '1 day', md5('w' || w)::uuid, 'sms', 'twilio', '', '', '', bucket,
             24, array_fill(1, array[24])
      from generate_series(1, ${workflows}::int) as w, generate_series(1, ${days}::int) as day,
           generate_series(1, ${buckets}::int) as bucket`)
  const from = new Date(today.getTime() - 60 * dayMs).toISOString()
  const query = `channel=sms&step=hour&from=${from}&to=${today.toISOString()}`
  const path = '/v1/counts/delivery-times'
  const words = {
    groupBy: 'the response would contain more than 100000 numbers: group by less, filter, or use a longer step',
  }
  await add(23, 60, 1)
  const { data } = await get(`${path}?${query}&groupBy=workflow`)
  assert.deepEqual([data.length, data[0].count, data[0].steps.length], [23, 1_440, 1_440])
  assert.ok(data[0].steps.every(({ count }: Json) => count === 1))
  await scene.rows(
    sql`update counts set workflow_id = md5('more')::uuid where channel = 'sms' and workflow_id = md5('w1')::uuid and start_at < ${today}::timestamptz - interval '30 days'`,
  )
  assert.deepEqual(await refused(`${query}&groupBy=workflow`, path), words, '24 lines of 1,440 steps')
  assert.equal((await app.call('GET', `${path}?${query}`)).status, 200)
  await scene.rows(sql`delete from counts where channel = 'sms'`)
  await add(220, 1, 114)
  const day = `channel=sms&step=hour&from=${new Date(today.getTime() - dayMs).toISOString()}&to=${today.toISOString()}`
  assert.deepEqual(await refused(`${day}&groupBy=workflow`, path), words, '25,080 rows with hours')
  await scene.rows(sql`delete from counts where channel = 'sms' and bucket = 114`)
  assert.equal((await get(`${path}?${day}&groupBy=workflow`)).data.length, 220)
  await scene.rows(sql`delete from counts where channel = 'sms'`)
})

test('what cannot be counted is refused with the field and what to take instead', async () => {
  assert.deepEqual(await refused('measure=steps&groupBy=provider'), {
    groupBy: 'groupBy must be among workflow, channel, outcome for steps',
  })
  assert.deepEqual(await refused('measure=endings&outcome=sent&channel=email'), {
    channel: 'channel cannot be used with endings',
    outcome: 'outcome must be one of completed, failed, skipped, canceled, merged for endings',
  })
  assert.deepEqual(Object.keys(await refused('channel=delay')), ['channel'])
  assert.deepEqual(Object.keys(await refused('groupBy=outcome', '/v1/counts/delivery-times')), ['groupBy'])
  assert.deepEqual(Object.keys(await refused('from=never', '/v1/counts/failures')), ['from'])
  for (const query of ['measure=everything', 'step=second', 'groupBy=subscriber', 'outcome=lost', 'channel=fax']) {
    assert.equal((await app.call('GET', `/v1/counts?${query}`)).status, 422, query)
  }
  assert.equal((await app.call('GET', '/v1/counts/failures?limit=0')).status, 422)
})

test('a workflow that no one knows is not found', async () => {
  for (const path of ['/v1/counts', '/v1/counts/delivery-times', '/v1/counts/failures']) {
    const reply = await app.call('GET', `${path}?workflow=nowhere`)
    assert.equal(reply.status, 404, reply.text)
    assert.match(reply.body.message, /Workflow nowhere was not found/)
  }
})
