// Numbers of the overview: each leads to a list that has as many, over every period and for every channel and provider.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { To } from '../../dashboard/src/pages/overview/links.ts'
import {
  buriedBehind,
  deliveredBehind,
  eventsBehind,
  everFailedBehind,
  failedBehind,
  perhapsSentBehind,
  queueBehind,
  suppressedBehind,
  unsentBehind,
} from '../../dashboard/src/pages/overview/links.ts'
import { sql } from '../../src/db/sql.ts'
import { hourMs } from '../../src/domain/insight/counts.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { VendorScript } from '../support/channel-scene.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import { assertAsMany as assertAsManyOf, listBehind as listBehindOf } from '../support/lists-behind.ts'
import { delay, email, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let vendors: VendorScript
let mail: MailScript
let started: string
/** When the second half of what happened began. */
let middle: string
const number = '+4915112345'

const get = (path: string): Promise<Json> => scene.expect(200, 'GET', path)
const listBehind = (to: To) => listBehindOf(get, to)
const assertAsMany = (count: number, to: To, what: string) => assertAsManyOf(get, count, to, what)
const counts = (query: Json): Promise<Json> => {
  const asked = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) asked.append(name, String(one))
  return get(`/v1/counts?${asked}`)
}
const sum = (series: readonly Json[], fits: (one: Json) => boolean = () => true): number =>
  series.filter(fits).reduce((all, one) => all + (one.total ?? one.count), 0)

const person = (more: object = {}) => ({ subscriberId: fresh('person'), email: `${fresh('p')}@example.org`, ...more })
const sms = { template: { type: 'sms', content: 'Hi' } }

/** Sent, captured, retried, refused, without an address, perhaps sent; some deleted, some taken back. */
async function happen(): Promise<void> {
  const both = await scene.workflow([email('Hello'), sms, inApp('Here')])
  const quiet = await scene.workflow([inApp('Only here')])
  const mailed = await scene.workflow([email('Hello')])
  await scene.run(both, person({ phone: number }))
  // Refused by e-mail and by SMS: one notification, two failed steps.
  mail.answers('mail', 400)
  vendors.does(number, 400)
  for (let once = 0; once < 3; once += 1) await scene.run(both, person({ phone: number }))
  // Busy first, and sent then.
  mail.answers('mail', 503, 503, 202)
  vendors.does(number, 201)
  await scene.run(both, person({ phone: number }))
  await scene.advance(30 * 60_000, 10_000)
  // Perhaps sent.
  mail.answers('mail', 202)
  vendors.does(number, 'cut')
  await scene.run(both, person({ phone: number }))
  await scene.advance(60 * 60_000, 30_000)
  vendors.does(number, 201)
  // Without an address: skipped, not failed.
  for (let once = 0; once < 4; once += 1) await scene.run(both, { subscriberId: fresh('unreachable') })
  // A step that fails without a message.
  await scene.run(mailed, person(), { overrides: { email: { to: 'nowhere' } } })
  for (let once = 0; once < 3; once += 1) await scene.run(quiet, person())
  const { data } = await get('/v1/messages?limit=100')
  const removable = (status: string, channel: string) =>
    data.find((one: Json) => one.status === status && one.channel === channel) ?? assert.fail(`${status} ${channel}`)
  for (const one of [
    removable('sent', 'email'),
    removable('warning', 'sms'),
    removable('warning', 'email'),
    removable('error', 'email'),
  ])
    await scene.expect(200, 'DELETE', `/v1/messages/${one._id}`)
  const seen = removable('sent', 'in_app')
  await scene.expect(200, 'POST', `/v1/notifications/${seen._notificationId}/retract`)
  await scene.work()
}

before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  vendors = new VendorScript(scene)
  const toVendors = app.world.onFetch
  mail = new MailScript(scene)
  const toMail = app.world.onFetch
  app.world.onFetch = (request, options) =>
    (new URL(request.url).hostname.startsWith('mail') ? toMail : toVendors)?.(request, options) ?? assert.fail()
  started = app.world.now().toISOString()
  await mail.account('mail', { primary: true })
  await vendors.twilio('phones')
  await happen()
  // Steps end before the second half begins.
  await scene.advance(3 * hourMs, 60_000)
  middle = app.world.now().toISOString()
  // From here on e-mails are captured.
  await mail.remove('mail')
  await mail.account('mailbox', { primary: true, configurations: { capture: true } })
  const both = await scene.workflow([email('Hello'), inApp('Here')])
  for (let once = 0; once < 9; once += 1) await scene.run(both, person())
  const { data } = await get('/v1/messages?channel=email&limit=1')
  await scene.expect(200, 'DELETE', `/v1/messages/${data[0]._id}`)
  vendors.does(number, 400)
  await scene.run(await scene.workflow([sms]), person({ phone: number }))
})
after(() => app.close())

/** As the page asks: a start, which counts widen to whole steps. */
const periods = (): { name: string; from: string }[] => [
  { name: 'all', from: started },
  { name: 'the second half', from: middle },
  { name: 'nothing', from: app.world.now().toISOString() },
]

test('the scene has something of everything', async () => {
  const { series } = await counts({ measure: 'messages', groupBy: ['outcome'], from: started })
  assert.deepEqual(series.map((one: Json) => one.outcome).sort(), ['captured', 'failed', 'sent', 'unsure'])
  assert.ok((await counts({ measure: 'retries', from: started })).total > 0)
  assert.ok((await get('/v1/messages?removed=only')).totalCount >= 6)
  const { data } = await get('/v1/notifications?failed=any')
  const steps = data.flatMap(({ jobs }: Json) => jobs.filter(({ status }: Json) => status === 'failed'))
  assert.ok(steps.length > data.length, 'a notification with two failed steps')
})

test('events, what was delivered and what failed lead to as many, whatever the period', async () => {
  for (const { name, from } of periods()) {
    const events = await counts({ measure: 'events', from })
    const since = events.from
    await assertAsMany(events.total, eventsBehind(since), `events, ${name}`)
    const { series } = await counts({ measure: 'messages', groupBy: ['outcome'], from })
    const of = (outcome: string) => sum(series, (one) => one.outcome === outcome)
    await assertAsMany(of('sent') + of('captured'), deliveredBehind({ after: since }), `delivered, ${name}`)
    const sent = await assertAsMany(of('sent'), deliveredBehind({ captured: 'without', after: since }), `sent, ${name}`)
    assert.ok(sent.every(({ captured }) => captured === undefined))
    const kept = await assertAsMany(
      of('captured'),
      deliveredBehind({ captured: 'only', after: since }),
      `captured, ${name}`,
    )
    assert.ok(kept.every(({ captured }) => captured === true))
    const { steps } = await get(`/v1/failures/causes?after=${since}`)
    assert.equal(steps.isCapped, false)
    await assertAsMany(steps.total, failedBehind({ after: since }), `failed, ${name}`)
    const failed = await counts({ measure: 'steps', outcome: ['failed'], from })
    assert.equal(failed.total, steps.total, 'as the chart counts them')
    await assertAsMany(of('unsure'), perhapsSentBehind({ after: since }), `perhaps sent, ${name}`)
  }
})

test('so does each channel and each provider', async () => {
  for (const { name, from } of periods()) {
    const sent = await counts({ measure: 'messages', groupBy: ['channel', 'provider', 'outcome'], from })
    const { steps } = await get(`/v1/failures/causes?after=${sent.from}`)
    const isDelivered = ({ outcome }: Json) => outcome === 'sent' || outcome === 'captured'
    for (const by of ['channel', 'provider'] as const) {
      const ids = new Set<string>([...sent.series, ...steps.data].map((one) => one[by]))
      if (name === 'all') assert.ok(ids.size >= 3, [...ids].join())
      for (const id of ids) {
        const own = (one: Json) => one[by] === id
        const of = { [by]: id, after: sent.from }
        await assertAsMany(
          sum(sent.series, (one) => own(one) && isDelivered(one)),
          deliveredBehind(of),
          name,
        )
        await assertAsMany(sum(steps.data, own), failedBehind(of), name)
      }
    }
  }
})

test('so does each point of the chart', assertPoints)

async function assertPoints(): Promise<void> {
  const { starts, to, series } = await counts({
    measure: 'messages',
    groupBy: ['outcome'],
    from: started,
    step: 'hour',
  })
  const failed = await counts({
    measure: 'steps',
    groupBy: ['outcome'],
    outcome: ['failed'],
    from: started,
    step: 'hour',
  })
  const behind: Readonly<Record<string, To>> = {
    sent: deliveredBehind({ captured: 'without' }),
    captured: deliveredBehind({ captured: 'only' }),
    unsure: perhapsSentBehind(),
    failed: everFailedBehind(),
  }
  for (const { outcome, counts: points } of [
    ...series.filter((one: Json) => one.outcome !== 'failed'),
    ...failed.series,
  ]) {
    const list = behind[outcome] ?? assert.fail(outcome)
    for (const [place, count] of points.entries()) {
      const end = new Date(Date.parse(starts[place + 1] ?? to) - 1).toISOString()
      const search = { ...list.search, after: starts[place], before: end }
      await assertAsMany(count, { ...list, search }, `${outcome} at ${starts[place]}`)
    }
  }
}

test('so does each cause of what needs attention, also where messages were removed', async () => {
  for (const { name, from } of periods()) {
    const since = (await counts({ measure: 'events', from })).from
    const { steps, messages } = await get(`/v1/failures/causes?after=${since}`)
    if (name === 'all') {
      assert.deepEqual([...new Set(steps.data.map((one: Json) => one.code))].sort(), ['contentFailed', 'providerError'])
      assert.deepEqual([...new Set(messages.data.map((one: Json) => one.provider))].sort(), ['none', 'twilio'])
      assert.ok((await get('/v1/messages?removed=only&status=warning')).totalCount >= 2)
    }
    for (const { channel, provider, code, count } of steps.data)
      await assertAsMany(count, failedBehind({ channel, provider, code, after: since }), `${code}, ${name}`)
    for (const one of messages.data) await assertAsMany(one.count, unsentBehind(one, since), `${one.errorId}, ${name}`)
  }
})

test('what waits, and addresses that are suppressed, lead to as many', async () => {
  const waits = await scene.workflow([delay(), inApp('Later')])
  for (let once = 0; once < 8; once += 1) await scene.trigger(waits, fresh('person'))
  const { lanes } = await get('/v1/counts/queue')
  const due = lanes.reduce((all: number, lane: Json) => all + lane.due, 0)
  assert.equal(due, 8)
  await assertAsMany(due, queueBehind, 'due')
  await scene.work()
  await scene.expect(201, 'POST', '/v1/suppressions', {
    channel: 'email',
    address: 'gone@example.org',
    reason: 'manual',
  })
  const suppressions = await get('/v1/suppressions?limit=1')
  await assertAsMany(suppressions.totalCount, suppressedBehind, 'suppressed')
})

test('what was sent again has not failed any more: not in the number, not in the list', async () => {
  const causes = async (): Promise<Json> => (await get(`/v1/failures/causes?after=${started}`)).steps
  const before = await causes()
  const { rows } = await listBehind(failedBehind({ channel: 'sms', after: started }))
  vendors.does(number, 201)
  await scene.expect(202, 'POST', `/v1/notifications/${rows[0].notificationId}/redrive`)
  await scene.work()
  const after = await causes()
  assert.equal(after.total, before.total - 1)
  await assertAsMany(after.total, failedBehind({ after: started }), 'after one was sent again')
  // In the chart it has failed, as it had then.
  await assertPoints()
  const asked = failedBehind({ after: started, redriven: 'only' })
  const [again] = await assertAsMany(1, asked, 'the one alone')
  assert.deepEqual([again.redriven, again.notificationId], [true, rows[0].notificationId])
  assert.deepEqual([again.failedAt, again.code, again.provider], [rows[0].failedAt, rows[0].code, rows[0].provider])
})

test('what was sent again and failed again, for another reason, has failed twice', async () => {
  await scene.advance(hourMs, hourMs)
  const since = app.world.now().toISOString()
  vendors.does(number, 400)
  const run = await scene.run(await scene.workflow([sms]), person({ phone: number }))
  const [{ notificationId, failedAt }] = await assertAsMany(1, failedBehind({ after: since }), 'once')
  await scene.advance(2 * hourMs, hourMs)
  vendors.does(number, 401)
  await scene.expect(202, 'POST', `/v1/notifications/${notificationId}/redrive`)
  await scene.work()
  const [last, first] = await assertAsMany(2, everFailedBehind({ after: since }), 'twice')
  assert.deepEqual([first.failedAt, first.redriven, first.code], [failedAt, true, 'providerError'])
  assert.deepEqual([last.redriven, last.transactionId, last.code], [undefined, run.transactionId, 'misconfigured'])
  assert.equal((await counts({ measure: 'steps', outcome: ['failed'], from: since })).total, 2)
  await assertAsMany(1, failedBehind({ after: since }), 'now')
  await assertPoints()
})

test('buried steps and tasks lead to as many', async () => {
  const waits = await scene.workflow([
    delay({ metadata: { type: 'regular', amount: 2, unit: 'days' } }),
    inApp('Later'),
  ])
  for (let once = 0; once < 9; once += 1) await scene.trigger(waits, fresh('person'))
  await scene.work()
  await app.database.db.run(sql`
    update jobs set buried_at = ${app.world.now()}, status = 'failed', due_at = null where due_at is not null`)
  const { buried } = await get('/v1/counts/queue')
  assert.deepEqual(buried, { jobs: 9, tasks: 0 })
  await assertAsMany(buried.jobs + buried.tasks, buriedBehind, 'buried')
})

test('a failure is of the time when it failed, however old its event is', async () => {
  const late = await scene.workflow([delay({ metadata: { type: 'regular', amount: 2, unit: 'days' } }), sms])
  vendors.does(number, 400)
  const run = await scene.run(late, person({ phone: number }))
  await scene.advance(47 * hourMs, 12 * hourMs)
  const since = app.world.now().toISOString()
  await scene.advance(2 * hourMs, hourMs)
  const [failed] = await assertAsMany(1, failedBehind({ after: since }), 'late')
  assert.deepEqual([failed.transactionId, failed.channel, failed.provider], [run.transactionId, 'sms', 'twilio'])
  assert.ok(failed.workflow.name && failed.subscriber.subscriberId)
  assert.deepEqual((await listBehind(failedBehind({ after: since, code: 'buried' }))).rows, [])
})

test('a step that was retried is of the time when it failed at last, not when it began', async () => {
  await scene.advance(hourMs, hourMs)
  vendors.does(number, 503, 503, 400)
  const run = await scene.run(await scene.workflow([sms]), person({ phone: number }))
  app.world.advance(1)
  const since = app.world.now().toISOString()
  await scene.advance(20 * 60_000, 5_000)
  const [failed] = await assertAsMany(1, failedBehind({ after: since }), 'retried')
  assert.equal(failed.transactionId, run.transactionId)
})

test('of another environment nothing is listed or counted, and a bad value is refused', async () => {
  for (const path of ['/v1/failures', '/v1/messages?captured=true', '/v1/messages?captured=false']) {
    const elsewhere = await app.call('GET', path, { key: app.productionKey })
    assert.deepEqual([elsewhere.body.data, elsewhere.body.totalCount], [[], 0], path)
  }
  const elsewhere = await app.call('GET', '/v1/failures/causes', { key: app.productionKey })
  assert.deepEqual(elsewhere.body, {
    steps: { total: 0, isCapped: false, data: [] },
    messages: { isCapped: false, data: [] },
  })
  const refused = async (path: string) => refusals(await app.call('GET', path))
  assert.ok('captured' in (await refused('/v1/messages?captured=perhaps')))
  const [field] = Object.keys(await refused('/v1/failures?channel=pigeon'))
  assert.match(field ?? '', /^channel/)
  for (const path of ['/v1/failures?after=yesterday', '/v1/failures/causes?before=soon'])
    assert.equal((await app.call('GET', path)).status, 400, path)
})

test('a test of a workflow that a provider took is not captured, also if the provider has no id for it', async () => {
  await mail.remove('mailbox')
  await mail.webhook('mailhook', { primary: true })
  const workflow = await scene.workflow([email('Only to see it')])
  const asked = await scene.expect(201, 'POST', `/v1/workflows/${workflow}/test`, { to: person() })
  await scene.work()
  const list = (more: string) => get(`/v1/messages?transactionId=${asked.transactionId}${more}`)
  const [message] = (await list('')).data
  assert.deepEqual([message.status, message.isTest, message.captured], ['sent', true, undefined])
  const [stored] = await app.database.db.rows<{ own: boolean }>(
    sql`select provider_message_id = id::text as own from messages where id = ${message._id}`,
  )
  assert.equal(stored?.own, true, 'it has our own id')
  assert.deepEqual([(await list('&captured=true')).data.length, (await list('&captured=false')).data.length], [0, 1])
})

test('what a node of another release captured is shown as captured, and stays so when the outbox forgets it', async () => {
  await mail.remove('mailhook')
  await mail.account('mailbox', { primary: true, configurations: { capture: true } })
  const { transactionId } = await scene.run(await scene.workflow([email('Kept')]), person())
  const mark = sql`update messages set is_captured = false where outbox_at is not null returning id`
  assert.ok((await app.database.db.rows(mark)).length > 0)
  const list = async (more: string) => (await get(`/v1/messages?transactionId=${transactionId}${more}`)).data
  assert.equal((await list(''))[0].captured, true)
  await scene.expect(200, 'DELETE', '/v1/outbox')
  assert.equal((await list(''))[0].captured, true)
  assert.equal((await list('&captured=true')).length, 1)
})
