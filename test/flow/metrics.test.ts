// What /metrics counts of the pipeline: each thing once, when it is committed, and nothing that was not.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import { freeLeases } from '../../src/queue/leases.ts'
import { leaseMs } from '../../src/queue/queue.ts'
import { jobQueue } from '../../src/store/jobs/queue-table.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, poisonousAfter } from '../support/flow-scene.ts'
import { counted, delivered, events, messages, metricsOf, notifications } from '../support/metrics-scene.ts'
import { worldClock } from '../support/pipeline.ts'
import { PostmarkScript } from '../support/postmark-script.ts'
import { email, inApp } from '../support/workflow-scene.ts'

const buried = 'posthorn_jobs_buried_total'
const expiries = (queue: string): string => `posthorn_lease_expiries_total{queue="${queue}"}`

let app: TestApp
let scene: FlowScene
let mail: MailScript
let workflow: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  workflow = await scene.workflow([email('Hello')])
})
after(() => app.close())
beforeEach(() => mail.clear())

const newSubscriber = () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` })
const oneEvent = { [events('processed')]: 1, [notifications('direct')]: 1 }

test('an event, its notification, its message and the time it took are counted once', async () => {
  await mail.account('good')
  const change = await counted(app, () => scene.run(workflow, newSubscriber()))
  assert.deepEqual(change, { ...oneEvent, [messages('email', 'sendgrid', 'sent')]: 1, [delivered('email')]: 1 })
})

test('a message of the feed is sent by the platform itself', async () => {
  const feed = await scene.workflow([inApp('Hello')])
  const change = await counted(app, () => scene.run(feed, fresh('person')))
  assert.deepEqual(change, { ...oneEvent, [messages('in_app', 'platform', 'sent')]: 1, [delivered('in_app')]: 1 })
})

test('what is kept instead of sent counts as captured, and no one was reached', async () => {
  const change = await counted(app, () => scene.run(workflow, newSubscriber()))
  assert.deepEqual(change, { ...oneEvent, [messages('email', 'platform-email', 'captured')]: 1 })
})

test('someone without an address fails by no provider', async () => {
  await mail.account('good')
  const change = await counted(app, () => scene.run(workflow, fresh('person')))
  assert.deepEqual(change, { ...oneEvent, [messages('email', 'none', 'failed')]: 1 })
})

test('a busy provider is a retry each time, and the time to deliver runs from the event', async () => {
  await mail.account('slow')
  mail.answers('slow', 503, 503, 202)
  const sum = 'posthorn_time_to_deliver_seconds_sum{channel="email"}'
  const atMost = (bound: string) => `posthorn_time_to_deliver_seconds_bucket{channel="email",le="${bound}"}`
  const earlier = await metricsOf(app)
  const change = await counted(app, async () => {
    await scene.run(workflow, newSubscriber())
    await scene.advance(60_000, 1_000)
  })
  assert.deepEqual(change, {
    ...oneEvent,
    [messages('email', 'sendgrid', 'retried')]: 2,
    [messages('email', 'sendgrid', 'sent')]: 1,
    [delivered('email')]: 1,
  })
  const later = await metricsOf(app)
  const tookMs = mail.asked[2]?.atMs ?? 0
  const firstMs = mail.asked[0]?.atMs ?? 0
  assert.ok(tookMs - firstMs > 1_000 && tookMs - firstMs <= 10_000)
  assert.equal(Math.round(((later[sum] ?? 0) - (earlier[sum] ?? 0)) * 1000), tookMs - firstMs)
  assert.equal((later[atMost('1')] ?? 0) - (earlier[atMost('1')] ?? 0), 0)
  assert.equal((later[atMost('10')] ?? 0) - (earlier[atMost('10')] ?? 0), 1)
  assert.equal((later[atMost('+Inf')] ?? 0) - (earlier[atMost('+Inf')] ?? 0), 1)
})

test('a refusal is a failure, and a call whose end is not known is a retry and then unsure', async () => {
  await mail.account('strict')
  mail.answers('strict', 400)
  assert.deepEqual(await counted(app, () => scene.run(workflow, newSubscriber())), {
    ...oneEvent,
    [messages('email', 'sendgrid', 'failed')]: 1,
  })
  mail.answers('strict', 'cut')
  const change = await counted(app, async () => {
    await scene.run(workflow, newSubscriber())
    await scene.advance(3_600_000, 60_000)
  })
  assert.deepEqual(change, {
    ...oneEvent,
    [messages('email', 'sendgrid', 'retried')]: 2,
    [messages('email', 'sendgrid', 'unsure')]: 1,
  })
})

test('each provider answers for its own go at a message', async () => {
  await mail.account('wrong')
  await mail.webhook('next')
  mail.answers('wrong', 401)
  mail.answers('next', 200)
  const change = await counted(app, () => scene.run(workflow, newSubscriber()))
  assert.deepEqual(mail.accounts(), ['wrong', 'next'])
  assert.deepEqual(change, {
    ...oneEvent,
    [messages('email', 'sendgrid', 'retried')]: 1,
    [messages('email', 'email-webhook', 'sent')]: 1,
    [delivered('email')]: 1,
  })
})

test('events are counted by the status they were answered with, and those that do not run make no notification', async () => {
  const inactive = await scene.workflow([inApp('Hello')], { active: false })
  const change = await counted(app, () =>
    scene.results([
      { name: workflow, to: newSubscriber() },
      { name: inactive, to: newSubscriber() },
      { name: fresh('nowhere'), to: newSubscriber() },
    ]),
  )
  assert.equal(change[events('processed')], 1)
  assert.equal(change[events('trigger_not_active')], 1)
  assert.equal(change[notifications('direct')], 1)
  const all = Object.entries(change).filter(([name]) => name.startsWith('posthorn_events_total'))
  assert.equal(
    all.reduce((sum, [, value]) => sum + value, 0),
    3,
  )
})

test('a call that is repeated under its key is counted once', async () => {
  const event = { name: workflow, to: newSubscriber() }
  const key = { 'idempotency-key': fresh('key') }
  assert.deepEqual(await counted(app, () => scene.single(event, key)), oneEvent)
  assert.deepEqual(await counted(app, () => scene.single(event, key)), {})
})

test('an event whose transaction id had run before is repeated, and makes no notification', async () => {
  const event = { name: workflow, to: newSubscriber(), transactionId: fresh('transaction') }
  assert.deepEqual(await counted(app, () => scene.single(event)), oneEvent)
  const repeated = { [events('repeated')]: 1 }
  assert.deepEqual(await counted(app, () => scene.single(event)), repeated)
  const another = { ...event, transactionId: fresh('transaction') }
  const change = await counted(app, () => scene.results([another, another]))
  assert.deepEqual(change, { ...oneEvent, ...repeated })
})

test('a call that was rolled back counts nothing', async () => {
  await scene.rows(sql`alter table events add constraint full_up check (false) not valid`)
  const change = await counted(app, async () => {
    assert.equal((await scene.single({ name: workflow, to: newSubscriber() })).status, 500)
  })
  await scene.rows(sql`alter table events drop constraint full_up`)
  assert.deepEqual(change, {})
})

test('a fan-out counts everyone it made a notification for', async () => {
  const people = Array.from({ length: 3 }, () => fresh('member'))
  await scene.subscribers(...people)
  const topic = fresh('topic')
  await scene.topic(topic, people)
  const feed = await scene.workflow([inApp('Hello')])
  const change = await counted(app, async () => {
    await scene.trigger(feed, [{ type: 'Topic', topicKey: topic }])
    await scene.work()
  })
  assert.deepEqual(change, {
    [events('processed')]: 1,
    [notifications('fan_out')]: 3,
    [messages('in_app', 'platform', 'sent')]: 3,
    [delivered('in_app')]: 3,
  })
})

test('a job that is buried counts once, and one that is only put off does not', async () => {
  const { _id, triggers } = await scene.created([inApp('Never')])
  await scene.rows(sql`
    update workflow_versions set definition = jsonb_set(definition, '{steps,0,template,type}', '"teleport"')
    where workflow_id = ${_id}`)
  assert.deepEqual(await counted(app, () => scene.run(triggers[0].identifier, fresh('person'))), oneEvent)
  assert.deepEqual(await counted(app, () => scene.advance(1_030_000, 10_000)), {})
  assert.deepEqual(await counted(app, () => scene.advance(2_700_000)), { [buried]: 1 })
})

test('a message that is given up with its job is unsure where a provider was being asked', async () => {
  await mail.account('mute')
  mail.answers('mute', 503)
  await scene.run(workflow, newSubscriber())
  await scene.rows(sql`update messages set state = 'calling' where state = 'ready'`)
  await scene.rows(
    sql`update jobs set interruptions = ${poisonousAfter}, due_at = ${app.world.now()} where due_at is not null`,
  )
  assert.deepEqual(await counted(app, () => scene.work()), {
    [buried]: 1,
    [messages('email', 'sendgrid', 'unsure')]: 1,
  })
})

test('a lease that ended is counted when its job is claimed again, and what its first holder did late is not', async () => {
  await mail.account('hung')
  mail.answers('hung', 202)
  let letGo: () => void = () => {}
  const gate = new Promise<void>((resolve) => (letGo = resolve))
  const asked = new Promise<void>((resolve) => {
    mail.meanwhile = () => {
      resolve()
      return gate
    }
  })
  const node = await createTestApp({ nodeOf: app })
  await scene.trigger(workflow, newSubscriber())
  const first = scene.work()
  await asked
  mail.meanwhile = undefined
  const change = await counted(app, async () => {
    app.world.advance(leaseMs + 1)
    await node.pipeline.work()
    await node.pipeline.advance(10_000, 1_000)
  })
  assert.deepEqual(change, {
    [expiries('jobs')]: 1,
    [messages('email', 'sendgrid', 'retried')]: 1,
    [messages('email', 'sendgrid', 'sent')]: 1,
    [delivered('email')]: 1,
  })
  const late = await counted(app, async () => {
    letGo()
    await first
  })
  assert.deepEqual(late, {})
  await node.close()
})

test('what a dead node held is reported once, when it is taken from it', async () => {
  await scene.trigger(workflow, newSubscriber())
  const dead = createLeaseSource()
  const { now } = app.world
  await scene.rows(sql`
    update jobs set lease = ${dead.newLease()}, claims = 1, due_at = ${new Date(now().getTime() + leaseMs)}
    where due_at is not null`)
  const freed: number[] = []
  const queue = { ...jobQueue, onFreed: (count: number) => void freed.push(count) }
  const free = () => freeLeases(app.database.db, queue, worldClock(app.world), { ...dead.all, leaseMs })
  await free()
  await free()
  assert.deepEqual(freed, [1])
  assert.equal((await counted(app, () => scene.work()))[expiries('jobs')], undefined)
})

test('a job that was given back, or whose time had not come, has no lease that ended', async () => {
  await mail.account('later')
  mail.answers('later', 503, 202)
  const change = await counted(app, async () => {
    await scene.run(workflow, newSubscriber())
    await scene.advance(leaseMs * 3, 10_000)
  })
  assert.equal(change[expiries('jobs')], undefined)
  assert.equal(change[messages('email', 'sendgrid', 'sent')], 1)
})

test('a receipt counts if it reports something new, not if it is repeated or not authenticated', async () => {
  const postmark = new PostmarkScript(scene)
  await postmark.account()
  const address = `${fresh('ada')}@example.org`
  const { transactionId } = await scene.run(workflow, { subscriberId: fresh('person'), email: address })
  const { identifier } = await scene.message(transactionId)
  const report = { RecordType: 'Delivery', MessageID: identifier, Recipient: address, Details: 'Fine' }
  const receipts = 'posthorn_receipts_total{provider="postmark",status="delivered"}'
  assert.deepEqual(await counted(app, () => postmark.tells(report, { key: 'forged' })), {})
  assert.deepEqual(await counted(app, () => postmark.tells(report)), { [receipts]: 1 })
  assert.deepEqual(await counted(app, () => postmark.tells(report)), {})
  await postmark.remove()
})
