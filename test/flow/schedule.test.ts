// A subscriber's hours, in a run: what is skipped, what waits, and what is put off to when they begin.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

const hourMs = 3_600_000
const everyDay = (hours: readonly object[]): object =>
  Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((name) => [
      name,
      { isEnabled: true, hours },
    ]),
  )
/** `20` is `20:00`. */
const clock = (hour: number): string => `${String((hour + 24) % 24).padStart(2, '0')}:00`

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

/** The hour of the day that it is now, in UTC. */
const hourNow = (): number => app.world.now().getUTCHours()

async function person(timezone?: string): Promise<string> {
  const subscriberId = fresh('person')
  await scene.expect(201, 'POST', '/v2/subscribers', {
    subscriberId,
    email: 'a@example.org',
    ...(timezone && { timezone }),
  })
  return subscriberId
}

const prefer = (subscriberId: string, preferences: object): Promise<Json> =>
  scene.expect(200, 'PATCH', `/v2/subscribers/${subscriberId}/preferences`, preferences)

/** Open for two hours, which begin so many full hours after the hour that it is now. */
const opensIn = (hours: number, more: object = {}): object => ({
  schedule: {
    isEnabled: true,
    weeklySchedule: everyDay([{ start: clock(hourNow() + hours), end: clock(hourNow() + hours + 2) }]),
    ...more,
  },
})

test('outside the hours e-mail is skipped and the feed is not; within them both are notified', async () => {
  const workflow = await scene.workflow([email(), inApp('Hello')])
  const sleeper = await person()
  await prefer(sleeper, opensIn(3))
  const asleep = await scene.run(workflow, sleeper)
  assert.deepEqual(statuses(asleep), ['skipped', 'completed'])
  assert.deepEqual(reported(asleep.jobs[0]).at(-1), [
    "The step was skipped as it fell outside the subscriber's schedule",
    'Success',
  ])
  await prefer(sleeper, opensIn(0))
  assert.deepEqual(statuses(await scene.run(workflow, sleeper)), ['completed', 'completed'])
})

test('the hours are those of the subscriber’s zone', async () => {
  const workflow = await scene.workflow([email()])
  // Tokyo is nine hours ahead: what is open there now is closed in UTC.
  const tokyo = await person('Asia/Tokyo')
  await prefer(tokyo, opensIn(9))
  assert.deepEqual(statuses(await scene.run(workflow, tokyo)), ['completed'])
  await prefer(tokyo, opensIn(0))
  assert.deepEqual(statuses(await scene.run(workflow, tokyo)), ['skipped'])
})

test('a critical workflow notifies at any hour', async () => {
  const workflow = await scene.workflow([email()], { critical: true })
  const sleeper = await person()
  await prefer(sleeper, opensIn(3, { outside: 'bundle' }))
  assert.deepEqual(statuses(await scene.run(workflow, sleeper)), ['completed'])
})

test('hours that never come skip, whatever else is asked for', async () => {
  const workflow = await scene.workflow([email()])
  const hermit = await person()
  await prefer(hermit, { schedule: { isEnabled: true, weeklySchedule: {}, outside: 'hold' } })
  assert.deepEqual(statuses(await scene.run(workflow, hermit)), ['skipped'])
})

test('hold: each message waits for the hours and is sent by itself', async () => {
  const workflow = await scene.workflow([email('Order {{ payload.n }}'), inApp('Then')])
  const sleeper = await person()
  await prefer(sleeper, opensIn(3, { outside: 'hold' }))
  const transactions = []
  for (const n of [1, 2]) transactions.push(await scene.trigger(workflow, sleeper, { payload: { n } }))
  await scene.work()
  const [first = ''] = transactions
  const held = await scene.notification(first)
  assert.deepEqual(statuses(held), ['delayed', 'pending'])
  assert.equal(rawOf(held.jobs[0], 'Step was held back until the subscriber wants to hear of it').by, 'schedule')
  await scene.advance(2 * hourMs, hourMs)
  assert.deepEqual(await scene.messages(first), [])
  await scene.advance(hourMs)
  for (const [index, transactionId] of transactions.entries()) {
    const run = await scene.notification(transactionId)
    assert.deepEqual(statuses(run), ['completed', 'completed'])
    const mail = (await scene.messages(transactionId)).find((message) => message.channel === 'email')
    assert.equal(mail.subject, `Order ${index + 1}`)
    assert.deepEqual(
      reported(run.jobs[0]).filter(([words]) => words === 'What was held back is sent now'),
      [['What was held back is sent now', 'Success']],
    )
  }
})

test('what is held is not sent to someone who switched the channel off meanwhile', async () => {
  const workflow = await scene.workflow([email()])
  const sleeper = await person()
  await prefer(sleeper, opensIn(3, { outside: 'hold' }))
  const transactionId = await scene.trigger(workflow, sleeper)
  await scene.work()
  await prefer(sleeper, { channels: { email: false } })
  await scene.advance(3 * hourMs)
  const run = await scene.notification(transactionId)
  assert.deepEqual(statuses(run), ['skipped'])
  assert.deepEqual(await scene.messages(transactionId), [])
})

for (const [name, step, waits] of [
  ['delay', delay, 2],
  ['digest', () => digest({ metadata: { type: 'regular', amount: 2, unit: 'hours' } }), 2],
] as const) {
  test(`a ${name} that would end outside the hours is put off to their begin, at most three times`, async () => {
    const made = step()
    const workflow = await scene.workflow([
      { ...made, metadata: { ...made.metadata, extendToSchedule: true } },
      inApp('{{ step.total_count }}'),
    ])
    const mover = await person()
    await prefer(mover, opensIn(5))
    const { transactionId } = await scene.run(workflow, mover)
    await scene.advance(waits * hourMs)
    for (const count of [1, 2, 3]) {
      const run = await scene.notification(transactionId)
      assert.deepEqual(statuses(run), ['delayed', 'pending'], `after ${count - 1} extensions`)
      assert.equal(run.jobs[0].scheduleExtensionsCount, count)
      // The hours move away just before they begin.
      await scene.advance(2 * hourMs, hourMs / 2)
      await prefer(mover, opensIn(4))
      await scene.advance(hourMs, hourMs / 4)
    }
    const run = await scene.notification(transactionId)
    assert.deepEqual(statuses(run), ['completed', 'completed'])
    assert.equal(run.jobs[0].scheduleExtensionsCount, 3)
    const words = reported(run.jobs[0])
    const extended = words.filter(([detail]) => detail.startsWith('Step was extended'))
    assert.equal(extended.length, 3)
    assert.deepEqual(
      words.filter(([detail]) => detail.startsWith('Step was executed due to maximum')),
      [['Step was executed due to maximum number of subscriber schedule extensions reached', 'Success']],
    )
    assert.equal((await scene.feed(mover)).length, 1)
  })
}

test('a delay that does not ask for it ends when it ends', async () => {
  const workflow = await scene.workflow([delay(), inApp('Hello')])
  const sleeper = await person()
  await prefer(sleeper, opensIn(9))
  const { transactionId } = await scene.run(workflow, sleeper)
  await scene.advance(2 * hourMs)
  const run = await scene.notification(transactionId)
  assert.deepEqual(statuses(run), ['completed', 'completed'])
  assert.equal(run.jobs[0].scheduleExtensionsCount, 0)
})
