// When digests close: back-off after silence, and timed ones by the clock of the subscriber.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { digest, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const list = '{{ step.digest }} {{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'
const digestOf = (metadata: object) => digest({ metadata })
const backoff = { type: 'backoff', amount: 10, unit: 'minutes', backoffAmount: 2, backoffUnit: 'minutes' }

/** Moves the clock to the next time it is so late in UTC. */
async function moveTo(at: string): Promise<void> {
  const ms = Date.parse(at) - app.world.now().getTime()
  assert.ok(ms > 0, `${at} is over`)
  app.world.advance(ms)
}

/** When the window that an event of this person opens will close. */
async function closesAt(workflow: string, timezone?: string): Promise<string> {
  const subscriberId = fresh('person')
  const { jobs } = await scene.run(workflow, { subscriberId, ...(timezone && { timezone }) })
  return rawOf(jobs[0], 'Step digested').untilDate
}

test('the first event after a silence goes out at once, and the next ones are gathered', async () => {
  const workflow = await scene.workflow([digestOf(backoff), inApp(list)])
  const person = fresh('person')
  const first = await scene.run(workflow, person, { payload: { n: 1 } })
  assert.deepEqual(statuses(first), ['skipped', 'completed'])
  assert.deepEqual(reported(first.jobs[0]).at(-1), ['Digest was skipped, first backoff event', 'Success'])
  assert.deepEqual(await scene.texts(person), ['false 1: 1'])
  for (const n of [2, 3]) {
    await scene.advance(minuteMs)
    await scene.trigger(workflow, person, { payload: { n } })
    await scene.work()
  }
  assert.equal((await scene.texts(person)).length, 1)
  await scene.advance(10 * minuteMs)
  assert.deepEqual(await scene.texts(person), ['true 2: 2 3', 'false 1: 1'])
})

test('a silence that is long enough lets the next event pass again', async () => {
  const workflow = await scene.workflow([digestOf(backoff), inApp(list)])
  const person = fresh('person')
  await scene.run(workflow, person, { payload: { n: 1 } })
  await scene.advance(2 * minuteMs + 1)
  await scene.run(workflow, person, { payload: { n: 2 } })
  assert.deepEqual(await scene.texts(person), ['false 1: 2', 'false 1: 1'])
})

test('of events that come together after a silence one passes and the others are gathered', async () => {
  const workflow = await scene.workflow([digestOf(backoff), inApp(list)])
  const person = fresh('person')
  await scene.results([1, 2, 3].map((n) => ({ name: workflow, to: person, payload: { n } })))
  await scene.work()
  assert.deepEqual(await scene.texts(person), ['false 1: 1'])
  await scene.advance(10 * minuteMs)
  assert.deepEqual(await scene.texts(person), ['true 2: 2 3', 'false 1: 1'])
})

test('silence is counted by person and by value of the digest key', async () => {
  const workflow = await scene.workflow([digestOf({ ...backoff, digestKey: 'post' }), inApp(list)])
  const [one, other] = [fresh('person'), fresh('person')]
  for (const [person, post] of [
    [one, 'a'],
    [one, 'b'],
    [other, 'a'],
  ] as const) {
    const notification = await scene.run(workflow, person, { payload: { n: 1, post } })
    assert.deepEqual(statuses(notification), ['skipped', 'completed'])
  }
  assert.deepEqual(statuses(await scene.run(workflow, one, { payload: { n: 2, post: 'a' } })), ['delayed', 'pending'])
})

const daily = { type: 'timed', amount: 1, unit: 'days', timed: { atTime: '09:00' } }

test('a daily digest closes by the clock of the subscriber', async () => {
  const workflow = await scene.workflow([digestOf(daily), inApp(list)])
  await moveTo('2026-02-10T12:00:00.000Z')
  assert.equal(await closesAt(workflow), '2026-02-11T09:00:00.000Z')
  assert.equal(await closesAt(workflow, 'Europe/Berlin'), '2026-02-11T08:00:00.000Z')
  assert.equal(await closesAt(workflow, 'America/Los_Angeles'), '2026-02-10T17:00:00.000Z')
  assert.equal(await closesAt(workflow, 'Asia/Kathmandu'), '2026-02-11T03:15:00.000Z')
})

test('events of a day are sent together in the morning, over the night in which clocks change', async () => {
  const workflow = await scene.workflow([digestOf(daily), inApp(list)])
  const subscriberId = fresh('person')
  const person = { subscriberId, timezone: 'Europe/Berlin' }
  await moveTo('2026-03-28T20:00:00.000Z')
  await scene.trigger(workflow, person, { payload: { n: 1 } })
  await scene.advance(hourMs)
  await scene.trigger(workflow, person, { payload: { n: 2 } })
  await scene.advance(10 * hourMs - 1)
  assert.deepEqual(await scene.texts(subscriberId), [])
  await scene.advance(1)
  assert.equal(app.world.now().toISOString(), '2026-03-29T07:00:00.000Z')
  assert.deepEqual(await scene.texts(subscriberId), ['true 2: 1 2'])
})

test('weekly, monthly and ordinal digests close on their days', async () => {
  const timed = (unit: string, config: object) => digestOf({ type: 'timed', amount: 1, unit, timed: config })
  const weekly = await scene.workflow([
    timed('weeks', { atTime: '08:30', weekDays: ['monday', 'thursday'] }),
    inApp(list),
  ])
  const monthly = await scene.workflow([
    timed('months', { atTime: '06:00', monthlyType: 'each', monthDays: ['31'] }),
    inApp(list),
  ])
  const lastFriday = await scene.workflow([
    timed('months', { atTime: '17:00', monthlyType: 'on', ordinal: 'last', ordinalValue: 'friday' }),
    inApp(list),
  ])
  await moveTo('2026-04-29T12:00:00.000Z')
  assert.equal(await closesAt(weekly), '2026-04-30T08:30:00.000Z')
  assert.equal(await closesAt(monthly), '2026-05-31T06:00:00.000Z')
  assert.equal(await closesAt(lastFriday), '2026-05-29T17:00:00.000Z')
})

test('the activity shows until when a timed digest gathers, and as what cron line', async () => {
  const workflow = await scene.workflow([digestOf(daily), inApp(list)])
  const { jobs } = await scene.run(workflow, fresh('person'))
  const { timed } = jobs[0].digest
  assert.equal(timed.untilDate, rawOf(jobs[0], 'Step digested').untilDate)
  assert.equal(timed.cronExpression, '0 9 * * *')
})

test('the next day has a window of its own', async () => {
  const workflow = await scene.workflow([digestOf(daily), inApp(list)])
  const person = fresh('person')
  await scene.run(workflow, person, { payload: { n: 1 } })
  await scene.advance(dayMs)
  await scene.run(workflow, person, { payload: { n: 2 } })
  await scene.advance(dayMs)
  assert.deepEqual(await scene.texts(person), ['true 1: 2', 'true 1: 1'])
})

test('an event may change how long a regular digest gathers', async () => {
  const workflow = await scene.workflow([digestOf({ type: 'regular', amount: 5, unit: 'minutes' }), inApp(list)])
  const person = fresh('person')
  await scene.run(workflow, person, { payload: { n: 1 }, overrides: { delay: { amount: 1, unit: 'hours' } } })
  await scene.advance(5 * minuteMs)
  assert.deepEqual(await scene.texts(person), [])
  await scene.advance(55 * minuteMs)
  assert.deepEqual(await scene.texts(person), ['true 1: 1'])
})
