// Delays and digests by the clock: cron lines and recurrences in the subscriber's zone, and ends that the payload names.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { delay, digest, inApp, refused } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const later = (ms: number): string => new Date(app.world.now().getTime() + ms).toISOString()
const delayOf = (metadata: object) => delay({ metadata })
const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'

function moveTo(at: string): void {
  const ms = Date.parse(at) - app.world.now().getTime()
  assert.ok(ms > 0, `${at} is over`)
  app.world.advance(ms)
}

/** Until when the first step of a run for someone in this zone waits. */
async function waitsUntil(workflow: string, timezone?: string, detail = 'Step delayed'): Promise<string> {
  const { jobs } = await scene.run(workflow, { subscriberId: fresh('person'), ...(timezone && { timezone }) })
  return rawOf(jobs[0], detail).untilDate
}

test('a timed delay ends at the next time of its cron line, by the clock of the subscriber', async () => {
  const workflow = await scene.workflow([delayOf({ type: 'timed', cron: '30 9 * * MON-FRI' }), inApp('Morning')])
  // A Friday.
  moveTo('2026-02-13T12:00:00.000Z')
  assert.equal(await waitsUntil(workflow), '2026-02-16T09:30:00.000Z')
  assert.equal(await waitsUntil(workflow, 'America/New_York'), '2026-02-13T14:30:00.000Z')
  const subscriberId = fresh('person')
  const waiting = await scene.run(workflow, { subscriberId, timezone: 'Europe/Berlin' })
  assert.deepEqual(statuses(waiting), ['delayed', 'pending'])
  moveTo('2026-02-16T08:29:59.999Z')
  await scene.work()
  assert.deepEqual(await scene.texts(subscriberId), [])
  await scene.advance(1)
  assert.deepEqual(await scene.texts(subscriberId), ['Morning'])
})

test('a time that the night of the change skips comes when clocks jump past it', async () => {
  const workflow = await scene.workflow([delayOf({ type: 'timed', cron: '30 2 * * *' }), inApp('Night')])
  moveTo('2026-03-28T20:00:00.000Z')
  assert.equal(await waitsUntil(workflow, 'Europe/Berlin'), '2026-03-29T01:00:00.000Z')
})

test('a timed delay may go by a rule, as a timed digest does', async () => {
  const timed = { atTime: '08:00', monthlyType: 'on', ordinal: 'last', ordinalValue: 'friday' }
  const workflow = await scene.workflow([delayOf({ type: 'timed', amount: 1, unit: 'months', timed }), inApp('Hi')])
  moveTo('2026-04-10T12:00:00.000Z')
  assert.equal(await waitsUntil(workflow), '2026-04-24T08:00:00.000Z')
})

test('a dynamic delay waits until a time or for a duration of the payload', async () => {
  const workflow = await scene.workflow([delayOf({ type: 'dynamic', dynamicKey: 'payload.release' }), inApp('Out')])
  const [one, other] = [fresh('person'), fresh('person')]
  await scene.run(workflow, one, { payload: { release: later(hourMs + 1_000) } })
  await scene.run(workflow, other, { payload: { release: { amount: 2, unit: 'hours' } } })
  await scene.advance(hourMs)
  assert.deepEqual([await scene.texts(one), await scene.texts(other)], [['Out'], []])
  await scene.advance(hourMs)
  assert.deepEqual(await scene.texts(other), ['Out'])
})

test('a dynamic delay without an end that can be waited for fails and stops what follows', async () => {
  const workflow = await scene.workflow([delayOf({ type: 'dynamic', dynamicKey: 'release' }), inApp('Out')])
  for (const payload of [
    {},
    { release: later(-hourMs) },
    { release: '2099-01-01T00:00:00Z' },
    { release: { amount: 1 } },
  ]) {
    const notification = await scene.run(workflow, fresh('person'), { payload })
    assert.deepEqual(statuses(notification), ['failed', 'canceled'], JSON.stringify(payload))
    assert.deepEqual(reported(notification.jobs[0]).at(-1), ['Invalid delay configuration', 'Failed'])
    assert.match(rawOf(notification.jobs[0], 'Invalid delay configuration').error, /release/)
  }
})

test('a digest by cron gathers until its time and is shown with its line', async () => {
  const workflow = await scene.workflow([digest({ metadata: { type: 'timed', cron: '0 18 * * *' } }), inApp(list)])
  const subscriberId = fresh('person')
  const person = { subscriberId, timezone: 'Asia/Tokyo' }
  moveTo('2026-05-10T06:00:00.000Z')
  await scene.trigger(workflow, person, { payload: { n: 1 } })
  await scene.advance(hourMs)
  const { jobs } = await scene.run(workflow, person, { payload: { n: 2 } })
  assert.deepEqual(reported(jobs[0]).at(-1), ['Digest was merged with other digest', 'Success'])
  assert.equal(jobs[0].digest.timed.cronExpression, '0 18 * * *')
  moveTo('2026-05-10T09:00:00.000Z')
  await scene.work()
  assert.deepEqual(await scene.texts(subscriberId), ['2: 1 2'])
})

test('a digest that looks back lets the first event pass, and gathers as long as it looks back', async () => {
  const metadata = { type: 'backoff', backoffAmount: 10, backoffUnit: 'minutes' }
  const workflow = await scene.workflow([digest({ metadata }), inApp(list)])
  const person = fresh('person')
  for (const n of [1, 2, 3]) {
    await scene.run(workflow, person, { payload: { n } })
    await scene.advance(minuteMs)
  }
  assert.deepEqual(await scene.texts(person), ['1: 1'])
  await scene.advance(10 * minuteMs)
  assert.deepEqual(await scene.texts(person), ['2: 2 3', '1: 1'])
})

test('what can never come is refused when it is saved', async () => {
  const steps = [
    delayOf({ type: 'timed', cron: '0 0 31 2 *' }),
    delayOf({ type: 'timed', cron: 'tomorrow' }),
    delayOf({ type: 'dynamic' }),
    digest({ metadata: { type: 'timed', cron: '0 25 * * *' } }),
  ]
  const mistakes = await refused(app, { name: fresh('workflow'), steps })
  assert.deepEqual(Object.keys(mistakes), [
    'steps.0.metadata.cron',
    'steps.1.metadata.cron',
    'steps.2.metadata.dynamicKey',
    'steps.3.metadata.cron',
  ])
  assert.match(mistakes['steps.0.metadata.cron'] ?? '', /may never occur/)
})
