// Counts equal a recount of what the pipeline wrote, to the number: at any time, whatever happened.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { foldCounts } from '../../src/manage/operate/fold-counts.ts'
import { leaseMs } from '../../src/queue/queue.ts'
import { foldDeltas } from '../../src/store/operate/counts.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { deadDevice, VendorScript } from '../support/channel-scene.ts'
import { assertRecounted, counts, tallyOf } from '../support/count-scene.ts'
import { FlowScene, fresh, MailScript, poisonousAfter } from '../support/flow-scene.ts'
import type { Random } from '../support/random.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../support/random.ts'
import { condition, delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
let startedAt: Date
beforeEach(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  startedAt = app.world.now()
})
const apps: TestApp[] = []
beforeEach(() => void apps.push(app))
after(async () => {
  for (const one of apps) await one.close()
})

const newSubscriber = () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` })
const deltas = async (): Promise<number> => (await scene.rows(sql`select count(*) as count from count_deltas`))[0].count
const isRight = (): Promise<void> => assertRecounted(app, startedAt)

/** Not folded at all, in part, and whole: what is reported stays the same. */
async function isRightWhileFolded(): Promise<void> {
  await isRight()
  const open = await deltas()
  assert.ok(open > 1)
  const { db } = app.database
  assert.equal(await db.transaction((tx) => foldDeltas(tx, Math.floor(open / 2))), Math.floor(open / 2))
  await isRight()
  assert.equal(await foldCounts(db), open - Math.floor(open / 2))
  assert.equal(await deltas(), 0)
  await isRight()
}

const throttle = { template: { type: 'throttle' }, metadata: { type: 'fixed', amount: 1, unit: 'hours' } }
const stopping = { shouldStopOnFail: true }

const rounds = fuzzRounds(25)

async function randomFlow(random: Random): Promise<void> {
  const vendors = new VendorScript(scene)
  const toVendors = app.world.onFetch
  const mails = new MailScript(scene)
  const toMails = app.world.onFetch
  app.world.onFetch = (request, options) => {
    const answer = new URL(request.url).hostname.startsWith('mail-') ? toMails : toVendors
    return answer?.(request, options) ?? assert.fail('no one answers')
  }
  await mails.account('mail-first', { primary: true })
  await mails.webhook('mail-second')
  await vendors.twilio('phones')
  const push = await vendors.firebase('devices')
  const workflows = [
    await scene.workflow([email('Hello'), inApp('After')]),
    await scene.workflow([email('Stop', stopping), inApp('Never after a failure'), inApp('Nor this')]),
    await scene.workflow([
      inApp('Only some', { filters: [condition('pro')] }),
      { template: { type: 'sms', content: 'Hi' } },
    ]),
    await scene.workflow([digest(), inApp('{{ step.total_count }}'), email('Digest')]),
    await scene.workflow([delay({ metadata: { type: 'regular', amount: 2, unit: 'minutes' } }), email('Late')]),
    await scene.workflow([throttle, inApp('Rare'), inApp('Rarer')]),
    await scene.workflow([{ template: { type: 'push', title: 'Ping', content: 'Pong' } }, inApp('After')]),
  ]
  const tokens = Array.from({ length: 4 }, () => fresh('token'))
  const devices = [{ integration: push, credentials: { deviceTokens: tokens } }]
  const people: Json[] = [
    ...Array.from({ length: 4 }, () => ({ ...newSubscriber(), phone: '+4915112345' })),
    { subscriberId: fresh('nobody') },
    { subscriberId: await vendors.person(...devices) },
  ]
  await scene.topic('team', people.map(({ subscriberId }) => subscriberId).slice(-2))
  for (let round = 1; round <= rounds; round += 1) {
    mails.answers('mail-first', random.oneOf([202, 202, 202, 400, 401, 503, 'cut', 'unreachable'] as const))
    mails.answers('mail-second', random.oneOf([200, 400, 503] as const))
    vendors.does('+4915112345', random.oneOf([201, 400, 503, 'cut'] as const))
    for (const token of tokens) vendors.does(token, random.oneOf([200, 200, 400, 503, deadDevice, 'cut'] as const))
    const to = random.chance(0.1)
      ? [{ type: 'Topic', topicKey: 'team' }]
      : random.oneOf([...people, { ...newSubscriber(), phone: '+4915112345' }])
    const event = { name: random.oneOf(workflows), to, payload: { plan: random.oneOf(['pro', 'free']) } }
    const transactionId = random.chance(0.3) ? random.oneOf(['one', 'two', 'three']) : undefined
    const results = await scene.results([
      event,
      random.chance(0.2) ? { name: 'nowhere', to } : event,
      { ...event, transactionId },
    ])
    if (random.chance(0.8)) await scene.work()
    // What a digest merged ends twice when it is cancelled: a recount from rows would not see the first end.
    if (random.chance(0.2) && event.name !== workflows[3]) {
      await scene.expect(200, 'DELETE', `/v1/events/trigger/${results[0]?.transactionId}`)
    }
    if (random.chance(0.4)) await scene.advance(random.integer(90_000), 10_000)
    // Something is left to be folded afterwards.
    if (random.chance(0.1) && round < rounds) await foldCounts(app.database.db)
  }
}

test('after a random flow every number equals a recount, before folding, in the middle and after', async (t) => {
  const seed = fuzzSeed()
  t.diagnostic(`seed ${seed}`)
  await randomFlow(createRandom(seed))
  await isRightWhileFolded()
  await scene.advance(30 * 60_000, 60_000)
  await scene.run(await scene.workflow([inApp('Last')]), newSubscriber())
  await isRightWhileFolded()
})

const reported = async (measure: string, groupBy: readonly string[], more: object = {}) => {
  const answer = await counts(app, { measure, groupBy, step: 'day', ...more })
  const lines = Object.entries(tallyOf(answer)).map(([of, count]) => [of.replace(/^\S+ ?/, ''), count])
  return Object.fromEntries(lines)
}
const failures = async (): Promise<Json> => (await scene.expect(200, 'GET', '/v1/counts/failures')).data

test('a step whose lease was lost counts for whoever holds it now, and once', async () => {
  await mail.account('hung')
  const workflow = await scene.workflow([email('Hello', { shouldStopOnFail: true }), inApp('After')])
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
  app.world.advance(leaseMs + 1)
  await node.pipeline.work()
  await node.pipeline.advance(10_000, 1_000)
  await isRight()
  const before = await deltas()
  letGo()
  await first
  assert.equal(await deltas(), before)
  await isRight()
  assert.deepEqual(await reported('messages', ['provider', 'outcome']), { 'platform sent': 1, 'sendgrid sent': 1 })
  assert.deepEqual(await reported('retries', ['provider']), { sendgrid: 1 })
  await node.close()
})

test('a message that was sent by a node that had lost its lease counts, and once, whoever sends it again', async () => {
  await mail.account('hung')
  const workflow = await scene.workflow([email('Hello')])
  const node = await createTestApp({ nodeOf: app })
  const begin = async (at: TestApp) => {
    let letGo: () => void = () => {}
    const gate = new Promise<void>((resolve) => (letGo = resolve))
    const asked = new Promise<void>((resolve) => {
      mail.meanwhile = () => {
        resolve()
        return gate
      }
    })
    const work = at.pipeline.work()
    await asked
    mail.meanwhile = undefined
    return async () => {
      letGo()
      await work
    }
  }
  for (const isAskedAgain of [false, true]) {
    await scene.trigger(workflow, newSubscriber())
    const end = await begin(app)
    app.world.advance(leaseMs + 1)
    await node.pipeline.work()
    app.world.advance(10_000)
    const endOfOther = isAskedAgain ? await begin(node) : undefined
    await end()
    await isRight()
    await endOfOther?.()
    await node.pipeline.work()
    // One that was really sent twice has two calls that ended well: a recount would take one of them for a retry.
    if (!isAskedAgain) await isRight()
  }
  assert.deepEqual(await reported('messages', ['provider', 'outcome']), { 'sendgrid sent': 2 })
  assert.deepEqual(await reported('steps', ['channel', 'outcome']), { 'email completed': 2 })
  await node.close()
})

test('steps that a failure kept from running are canceled, and the notification failed', async () => {
  await mail.account('strict')
  mail.answers('strict', 400)
  const workflow = await scene.workflow([email('Hello', { shouldStopOnFail: true }), inApp('Never'), inApp('Nor this')])
  await scene.run(workflow, newSubscriber())
  assert.deepEqual(await reported('steps', ['channel', 'outcome']), { 'email failed': 1, 'in_app canceled': 2 })
  assert.deepEqual(await reported('endings', ['outcome']), { failed: 1 })
  await isRight()
})

test('a run that was merged and continues after all ends twice: as merged, and as what becomes of it', async () => {
  const workflow = await scene.workflow([digest(), inApp('{{ step.total_count }}')])
  const person = fresh('person')
  const opener = await scene.trigger(workflow, person)
  await scene.work()
  await scene.trigger(workflow, person)
  await scene.work()
  assert.deepEqual(await reported('endings', ['outcome']), { merged: 1 })
  await scene.expect(200, 'DELETE', `/v1/events/trigger/${opener}`)
  assert.deepEqual(await reported('endings', ['outcome']), { canceled: 1, merged: 1 })
  await scene.advance(5 * 60_000)
  assert.deepEqual(await reported('endings', ['outcome']), { canceled: 1, completed: 1, merged: 1 })
})

test('what was cancelled counts as canceled once, also when a step of it was being sent', async () => {
  await mail.account('slow')
  const workflow = await scene.workflow([email('Hello'), inApp('Never')])
  const transactionId = await scene.trigger(workflow, newSubscriber())
  app.world.advance(1_000)
  mail.meanwhile = () => scene.expect(200, 'DELETE', `/v1/events/trigger/${transactionId}`)
  await scene.work()
  assert.deepEqual(await reported('steps', ['channel', 'outcome']), { 'email completed': 1, 'in_app canceled': 1 })
  assert.deepEqual(await reported('endings', ['outcome']), { canceled: 1 })
  await isRight()
})

test('failures are reported by what went wrong, with a provider’s reason in our words and never in its own', async () => {
  await mail.account('strict')
  mail.answers('strict', { status: 400, body: '{"errors":[{"message":"does not like you"}]}' }, 400, 401)
  const workflow = await scene.workflow([email('Hello')])
  for (let run = 0; run < 3; run += 1) await scene.run(workflow, newSubscriber())
  await scene.run(workflow, fresh('nobody'))
  const broken = await scene.workflow([{ template: { type: 'chat', content: 'Hi' } }])
  await scene.run(broken, fresh('person'))
  const lines = (await failures()).map((one: Json) => [one.code, one.reason, one.channel, one.provider, one.count])
  assert.deepEqual(lines.slice(0, 1), [['providerError', 'other', 'email', 'sendgrid', 2]])
  assert.deepEqual(lines.map(([code]: string[]) => code).sort(), [
    'misconfigured',
    'noChannel',
    'noEmail',
    'providerError',
  ])
  const { text } = await app.call('GET', '/v1/counts/failures')
  assert.equal(text.includes('does not like you'), false)
  await isRight()
})

test('a job that is buried counts once, and so does the message that is given up with it', async () => {
  await mail.account('mute')
  mail.answers('mute', 503)
  const workflow = await scene.workflow([email('Hello')])
  await scene.run(workflow, newSubscriber())
  await scene.rows(sql`update messages set state = 'calling', sending = sending - 'dueAt' where state = 'ready'`)
  await scene.rows(
    sql`update jobs set interruptions = ${poisonousAfter}, due_at = ${app.world.now()} where due_at is not null`,
  )
  await scene.work()
  assert.deepEqual(await reported('buried', ['channel']), { email: 1 })
  assert.deepEqual(await reported('messages', ['outcome']), { unsure: 1 })
  const [failure, ...others] = await failures()
  assert.deepEqual([failure.code, failure.outcome, failure.count, others.length], ['buried', 'unsure', 1, 0])
})

test('a call that is repeated, or rolled back, counts nothing', async () => {
  const workflow = await scene.workflow([inApp('Hello')])
  const event = { name: workflow, to: fresh('person'), transactionId: fresh('transaction') }
  await scene.results([event, event])
  await scene.single(event)
  await scene.rows(sql`alter table events add constraint full_up check (false) not valid`)
  assert.equal((await scene.single({ name: workflow, to: fresh('person') })).status, 500)
  await scene.rows(sql`alter table events drop constraint full_up`)
  assert.deepEqual(await reported('events', []), { '': 1 })
  assert.deepEqual(await reported('notifications', []), { '': 1 })
})

test('times to deliver run from the event, and are reported within 9 %', async () => {
  await mail.account('slow')
  const workflow = await scene.workflow([email('Hello')])
  const tookMs: number[] = []
  for (const waitMs of [1, 700, 2_000, 60_000, 3_600_000]) {
    mail.meanwhile = () => void app.world.advance(waitMs)
    tookMs.push(waitMs)
    await scene.trigger(workflow, newSubscriber())
    await scene.work()
  }
  const [all] = (await scene.expect(200, 'GET', '/v1/counts/delivery-times')).data
  assert.equal(all.count, 5)
  const near = (reported: number, real: number): void =>
    assert.ok(Math.abs(reported - real) <= 0.092 * real + 1, `${reported} for ${real}`)
  near(all.p50Ms, tookMs[2] ?? 0)
  near(all.p95Ms, tookMs[4] ?? 0)
  near(all.p99Ms, tookMs[4] ?? 0)
})

test('what an erase cancels counts as canceled once, and what was counted before stays', async () => {
  await mail.account('busy')
  mail.answers('busy', 503)
  const person = newSubscriber()
  const waits = await scene.workflow([inApp('Hello'), delay(), inApp('Later')])
  await scene.run(waits, person)
  const sends = await scene.workflow([email('Hello'), inApp('After')])
  const transactionId = await scene.trigger(sends, person)
  // Cancelled while its first step is asked for: the second one is canceled, and the first continues with its next
  // try.
  mail.meanwhile = () => scene.expect(200, 'DELETE', `/v1/events/trigger/${transactionId}`)
  await scene.work()
  mail.meanwhile = undefined
  assert.deepEqual(await reported('endings', ['outcome']), { canceled: 1 })
  await isRight()
  await scene.expect(202, 'POST', `/v1/subscribers/${person.subscriberId}/erase`)
  await scene.advance(70_000, 5_000)
  assert.equal((await scene.rows(sql`select 1 from jobs`)).length, 0)
  assert.deepEqual(await reported('notifications', []), { '': 2 })
  assert.deepEqual(await reported('endings', ['outcome']), { canceled: 2 })
  const { 'email canceled': ofMail, ...steps } = await reported('steps', ['channel', 'outcome'])
  assert.equal(ofMail, 1)
  assert.deepEqual(steps, { 'delay canceled': 1, 'in_app canceled': 1, 'in_app completed': 1 })
})
