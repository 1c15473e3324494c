// Messages that are held back and gathered: one goes out for all of them, no event is lost and none is sent twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { createRandom } from '../support/random.ts'
import { condition, digest, email, inApp } from '../support/workflow-scene.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'
const heldDetail = 'Step was held back until the subscriber wants to hear of it'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

async function person(preferences: object, timezone?: string): Promise<string> {
  const subscriberId = fresh('person')
  const fields = { subscriberId, email: `${subscriberId}@example.org`, ...(timezone && { timezone }) }
  await scene.expect(201, 'POST', '/v2/subscribers', fields)
  await prefer(subscriberId, preferences)
  return subscriberId
}

const prefer = (subscriberId: string, preferences: object): Promise<Json> =>
  scene.expect(200, 'PATCH', `/v2/subscribers/${subscriberId}/preferences`, preferences)

const ahead = (ms: number): string => new Date(app.world.now().getTime() + ms).toISOString()

/** Moves to the next time that clocks in UTC show so many minutes past midnight. */
async function goTo(minuteOfDay: number): Promise<void> {
  const passed = app.world.now().getTime() % dayMs
  await scene.advance(((minuteOfDay * minuteMs - passed + dayMs - 1) % dayMs) + 1)
}

const everyDay = (start: string, end: string): object =>
  Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((name) => [
      name,
      { isEnabled: true, hours: [{ start, end }] },
    ]),
  )
const office = (outside: string): object => ({
  schedule: { isEnabled: true, outside, weeklySchedule: everyDay('09:00 AM', '05:00 PM') },
})

/** The subjects of all e-mails of these transactions. */
async function subjects(transactions: readonly string[]): Promise<string[]> {
  const all = await Promise.all(transactions.map((id) => scene.messages(id)))
  return all.flat().flatMap((message) => (message.channel === 'email' ? [message.subject] : []))
}

async function triggerEach(
  workflow: string,
  to: string,
  numbers: readonly number[],
  betweenMs = minuteMs,
): Promise<string[]> {
  const transactions = []
  for (const n of numbers) {
    transactions.push(await scene.trigger(workflow, to, { payload: { n } }))
    await scene.work()
    await scene.advance(betweenMs)
  }
  return transactions
}

test('bundle: what comes outside the hours goes out as one when they begin', async () => {
  await goTo(20 * 60)
  const workflow = await scene.workflow([inApp('{{ payload.n }}'), email(list), inApp(`after ${list}`)])
  const sleeper = await person(office('bundle'))
  const transactions = await triggerEach(workflow, sleeper, [1, 2, 3])
  assert.deepEqual(await scene.texts(sleeper), ['3', '2', '1'], 'the feed is not held back')
  await goTo(9 * 60 - 1)
  assert.deepEqual(await subjects(transactions), [])
  await goTo(9 * 60)
  assert.deepEqual(await subjects(transactions), ['3: 1 2 3'])
  assert.deepEqual((await scene.texts(sleeper))[0], 'after 3: 1 2 3')
  const [first, second, third] = await Promise.all(transactions.map((id) => scene.notification(id)))
  assert.deepEqual(statuses(first), ['completed', 'completed', 'completed'])
  assert.equal(rawOf(first.jobs[1], heldDetail).by, 'schedule')
  assert.deepEqual(rawOf(first.jobs[1], 'What was held back is sent now'), { total_count: 3 })
  for (const merged of [second, third]) {
    assert.deepEqual(statuses(merged), ['completed', 'merged', 'merged'])
    assert.equal(merged._digestedNotificationId, first._id)
    assert.deepEqual(reported(merged.jobs[1]).at(-1), ['Step was bundled with others that were held back', 'Success'])
  }
  const open = await scene.run(workflow, sleeper, { payload: { n: 4 } })
  assert.deepEqual(await subjects([open.transactionId]), ['1: 4'], 'within the hours nothing waits')
})

test('do not disturb: what comes before its end goes out as one then, even where the hours would skip it', async () => {
  await goTo(10 * 60)
  const workflow = await scene.workflow([email(list)])
  const sleeper = await person({ ...office('skip'), doNotDisturbUntil: ahead(2 * hourMs) })
  const transactions = await triggerEach(workflow, sleeper, [1, 2])
  await scene.advance(2 * hourMs - 3 * minuteMs)
  assert.deepEqual(await subjects(transactions), [])
  await scene.advance(minuteMs)
  assert.deepEqual(await subjects(transactions), ['2: 1 2'])
  assert.equal(rawOf((await scene.notification(transactions[0] ?? '')).jobs[0], heldDetail).by, 'doNotDisturb')
  const after = await scene.run(workflow, sleeper, { payload: { n: 3 } })
  assert.deepEqual(await subjects([after.transactionId]), ['1: 3'])
})

test('do not disturb that ends outside the hours lasts until they begin', async () => {
  await goTo(16 * 60)
  const workflow = await scene.workflow([email(list)])
  const sleeper = await person({ ...office('skip'), doNotDisturbUntil: ahead(4 * hourMs) })
  const transactions = await triggerEach(workflow, sleeper, [1])
  await scene.advance(5 * hourMs, hourMs)
  assert.deepEqual(await subjects(transactions), [])
  await goTo(9 * 60)
  assert.deepEqual(await subjects(transactions), ['1: 1'])
})

test('critical workflows and those who chose nothing are notified at once', async () => {
  const critical = await scene.workflow([email(list)], { critical: true })
  const usual = await scene.workflow([email(list)])
  const sleeper = await person({ doNotDisturbUntil: ahead(hourMs) })
  const transactions = await triggerEach(critical, sleeper, [1, 2], 1_000)
  assert.deepEqual(await subjects(transactions), ['1: 1', '1: 2'])
  assert.deepEqual(await subjects(await triggerEach(usual, await person({}), [3], 1_000)), ['1: 3'])
})

test('hourly: an hour after the first, and then an hour after the next', async () => {
  const workflow = await scene.workflow([inApp('{{ payload.n }}'), email(list)])
  const reader = await person({})
  await prefer(reader, { workflowId: workflow, frequency: { type: 'hourly' } })
  const transactions = await triggerEach(workflow, reader, [1, 2], 20 * minuteMs)
  assert.deepEqual(await subjects(transactions), [])
  await scene.advance(20 * minuteMs)
  assert.deepEqual(await subjects(transactions), ['2: 1 2'])
  const next = await triggerEach(workflow, reader, [3], 59 * minuteMs)
  assert.deepEqual(await subjects(next), [])
  await scene.advance(minuteMs)
  assert.deepEqual(await subjects(next), ['1: 3'])
  assert.equal(rawOf((await scene.notification(next[0] ?? '')).jobs[1], heldDetail).by, 'frequency')
})

test('daily: at the time on the subscriber’s own clocks, across a change of them', async () => {
  const workflow = await scene.workflow([email(list)])
  const reader = await person({}, 'Europe/Berlin')
  await prefer(reader, { workflowId: workflow, frequency: { type: 'daily', atTime: '08:00' } })
  // Berlin's clocks go forward in the night to 2026-03-29: eight o'clock is then six in UTC, and seven before.
  await scene.advance(Date.parse('2026-03-28T07:30:00Z') - app.world.now().getTime())
  const transactions = await triggerEach(workflow, reader, [1, 2])
  await scene.advance(Date.parse('2026-03-29T05:59:59Z') - app.world.now().getTime(), 6 * hourMs)
  assert.deepEqual(await subjects(transactions), [])
  await scene.advance(1_000)
  assert.deepEqual(await subjects(transactions), ['2: 1 2'])
})

test('weekly: on the day and at the time, put off to the hours where it falls outside them', async () => {
  const workflow = await scene.workflow([email(list)])
  const reader = await person(office('skip'))
  await prefer(reader, { workflowId: workflow, frequency: { type: 'weekly', weekDay: 'wednesday', atTime: '06:30' } })
  const start = Date.parse('2026-04-06T22:00:00Z')
  await scene.advance(start - app.world.now().getTime())
  const transactions = await triggerEach(workflow, reader, [1, 2, 3], 6 * hourMs)
  // Wednesday, 2026-04-08, half past six has gone by; the hours begin at nine.
  await scene.advance(Date.parse('2026-04-08T08:59:59Z') - app.world.now().getTime(), hourMs)
  assert.deepEqual(await subjects(transactions), [])
  await scene.advance(1_000)
  assert.deepEqual(await subjects(transactions), ['3: 1 2 3'])
})

test('a run is gathered once: what follows the gathered step goes with it', async () => {
  const workflow = await scene.workflow([email(`first ${list}`), email(`second ${list}`)])
  const reader = await person({})
  await prefer(reader, { workflowId: workflow, frequency: { type: 'hourly' } })
  const transactions = await triggerEach(workflow, reader, [1, 2])
  await scene.advance(hourMs)
  assert.deepEqual((await subjects(transactions)).sort(), ['first 2: 1 2', 'second 2: 1 2'])
})

test('where the first channel step is skipped by its conditions, the next one gathers', async () => {
  const workflow = await scene.workflow([email(`team ${list}`, { filters: [condition('team')] }), email(`all ${list}`)])
  const reader = await person({})
  await prefer(reader, { workflowId: workflow, frequency: { type: 'hourly' } })
  const transactions = await triggerEach(workflow, reader, [1, 2])
  assert.deepEqual(await subjects(transactions), [])
  await scene.advance(hourMs)
  assert.deepEqual(await subjects(transactions), ['all 2: 1 2'])
})

test('the events of digests that are held back come along', async () => {
  await goTo(20 * 60)
  const workflow = await scene.workflow([digest(), email(list)])
  const sleeper = await person(office('bundle'))
  // Two windows of five minutes each.
  const transactions = await triggerEach(workflow, sleeper, [1, 2, 3, 4], 2 * minuteMs + 30_000)
  await scene.advance(hourMs)
  await goTo(9 * 60)
  assert.deepEqual(await subjects(transactions), ['4: 1 2 3 4'])
})

test('what is still not wanted when it is let go is held again, with all its events', async () => {
  await goTo(20 * 60)
  const workflow = await scene.workflow([email(list)])
  const sleeper = await person(office('bundle'))
  const transactions = await triggerEach(workflow, sleeper, [1, 2])
  await prefer(sleeper, { schedule: { outside: 'skip', weeklySchedule: everyDay('11:00 AM', '05:00 PM') } })
  await goTo(9 * 60)
  assert.deepEqual(await subjects(transactions), [])
  await goTo(11 * 60)
  assert.deepEqual(await subjects(transactions), ['2: 1 2'], 'and is not skipped, whatever is asked for by now')
})

test('an event that is cancelled leaves the bundle, and the others are notified', async () => {
  await goTo(20 * 60)
  const workflow = await scene.workflow([email(list)])
  const sleeper = await person(office('bundle'))
  const transactions = await triggerEach(workflow, sleeper, [1, 2, 3])
  await scene.expect(200, 'DELETE', `/v1/events/trigger/${transactions[0]}`)
  await scene.work()
  await goTo(9 * 60)
  assert.deepEqual(await subjects(transactions), ['2: 2 3'])
})

test('over random days every event is delivered once, and no one is disturbed outside their hours', async () => {
  const random = createRandom(17)
  const workflow = await scene.workflow([email(list)])
  const sleepers: string[] = []
  for (const outside of ['hold', 'bundle', 'bundle']) sleepers.push(await person(office(outside)))
  await prefer(sleepers[2] ?? '', { workflowId: workflow, frequency: { type: 'hourly' } })
  const transactions = new Map<string, string[]>(sleepers.map((sleeper) => [sleeper, []]))
  for (let n = 0; n < 60; n += 1) {
    const sleeper = random.oneOf(sleepers)
    if (random.chance(0.05)) await prefer(sleeper, { doNotDisturbUntil: ahead(1 + random.integer(10 * hourMs)) })
    transactions.get(sleeper)?.push(await scene.trigger(workflow, sleeper, { payload: { n } }))
    await scene.advance(1 + random.integer(3 * hourMs), hourMs)
  }
  await scene.advance(2 * dayMs, hourMs)
  for (const sleeper of sleepers) {
    const own = transactions.get(sleeper) ?? []
    const mails = (await Promise.all(own.map((id) => scene.messages(id)))).flat()
    const counts = mails.map((mail) => Number(mail.subject.split(':')[0]))
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      own.length,
      'each event is counted once',
    )
    const numbers = mails.flatMap((mail) => mail.subject.split(':')[1].trim().split(' '))
    assert.equal(new Set(numbers).size, own.length, 'and named once')
    for (const mail of mails) {
      const hour = new Date(mail.createdAt).getUTCHours()
      assert.ok(hour >= 9 && hour < 17, `sent at ${mail.createdAt}`)
    }
  }
})

test('a queue whose clock is ahead of ours lets what was held go once, not again and again', async () => {
  const workflow = await scene.workflow([email(list)])
  const sleeper = await person(office('bundle'))
  await goTo(20 * 60)
  const transactions = await triggerEach(workflow, sleeper, [1, 2])
  const [job] = await scene.rows(sql`
    select j.due_at from jobs j join events e on e.id = j.event_id
    where e.transaction_id = ${transactions[0]} and j.status = 'delayed'`)
  app.world.advance(job?.due_at.getTime() - app.world.now().getTime() - 500)
  await scene.rows(sql`update jobs set due_at = ${app.world.now()} where due_at is not null`)
  await scene.work()
  assert.deepEqual(await subjects(transactions), ['2: 1 2'])
  const { jobs } = await scene.notification(transactions[0] ?? '')
  assert.equal(reported(jobs[0]).filter(([words]) => words === heldDetail).length, 1)
})

test('ending do not disturb sends what was collected, but not before the hours begin', async () => {
  const workflow = await scene.workflow([email(list)])
  await goTo(10 * 60)
  const sleeper = await person({ ...office('skip'), doNotDisturbUntil: ahead(20 * dayMs) })
  const transactions = await triggerEach(workflow, sleeper, [1, 2])
  await goTo(20 * 60)
  await prefer(sleeper, { doNotDisturbUntil: null })
  await scene.work()
  assert.deepEqual(await subjects(transactions), [], 'the office is closed')
  await goTo(9 * 60)
  assert.deepEqual(await subjects(transactions), ['2: 1 2'])
})

test('a choice that changes nothing lets nothing go', async () => {
  const workflow = await scene.workflow([email(list)])
  const sleeper = await person({ doNotDisturbUntil: ahead(dayMs) })
  const transactions = await triggerEach(workflow, sleeper, [1])
  await prefer(sleeper, { channels: { sms: false } })
  await scene.work()
  assert.deepEqual(await subjects(transactions), [])
  await scene.advance(dayMs)
  assert.deepEqual(await subjects(transactions), ['1: 1'])
})
