// Why, asked of runs that were skipped, wait, were merged, canceled or failed before anyone was asked to send.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { assertStep, whyOf } from '../support/why-scene.ts'
import { condition, delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const endless = '{% for i in (1..100000000) %}{{ i }}{% endfor %}'
const ahead = (ms: number): string => new Date(app.world.now().getTime() + ms).toISOString()
const why = (notification: Json): Promise<Json> => whyOf(scene, notification)
const ran = async (steps: readonly object[], to: unknown = fresh('person'), more: object = {}): Promise<Json> =>
  why(await scene.run(await scene.workflow(steps), to, more))

async function person(preferences: object, more: object = {}): Promise<string> {
  const subscriberId = fresh('person')
  await scene.expect(201, 'POST', '/v2/subscribers', { subscriberId, email: `${subscriberId}@example.org`, ...more })
  await scene.expect(200, 'PATCH', `/v2/subscribers/${subscriberId}/preferences`, preferences)
  return subscriberId
}

/** Open for an hour, which begins so many hours from now. */
function opensIn(hours: number, outside: string): object {
  const clock = (hour: number): string => `${String((app.world.now().getUTCHours() + hour) % 24).padStart(2, '0')}:00`
  const day = { isEnabled: true, hours: [{ start: clock(hours), end: clock(hours + 1) }] }
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
  const weeklySchedule = Object.fromEntries(days.map((name) => [name, day]))
  return { schedule: { isEnabled: true, outside, weeklySchedule } }
}

test('conditions that did not hold are reported with the values that were compared', async () => {
  const reported = await ran([inApp('Gold', { filters: [condition('gold')] }), inApp('All')], fresh('person'), {
    payload: { plan: 'tin' },
  })
  const data = assertStep(reported, 0, {
    status: 'skipped',
    says: /“tin”, expected EQUAL “gold”/,
    code: 'conditionsFailed',
  })
  assert.deepEqual(data['filter'].conditions[0].actual, 'tin')
  assertStep(reported, 1, { status: 'completed', says: /in the subscriber’s feed/, code: 'messageSent' })
  assert.match(
    reported.summary,
    /^The subscriber was notified by in-app message\. The step “in-app message” \(in_app\): Skipped/,
  )
})

test('the summary names the step that failed, and not one that was skipped before it', async () => {
  const steps = [inApp('Gold', { filters: [condition('gold')] }), email(endless), inApp('All')]
  const reported = await ran(steps, fresh('person'), { payload: { plan: 'tin' } })
  assert.deepEqual(
    reported.steps.map(({ status }: Json) => status),
    ['skipped', 'failed', 'completed'],
  )
  assert.match(reported.summary, /^The subscriber was notified by in-app message\. The step “[^”]+” \(email\): /)
  assert.ok(reported.summary.endsWith(reported.steps[1].sentence))
})

test('a rule for skipping is reported by what held', async () => {
  const skip = { '==': [{ var: 'payload.plan' }, 'free'] }
  const reported = await ran([inApp('Paid', { skip })], fresh('person'), { payload: { plan: 'free' } })
  assertStep(reported, 0, { status: 'skipped', says: /skip condition was true: Skip payload.plan was “free”/ })
  assert.match(reported.summary, /^The subscriber was not notified\./)
})

test('conditions that cannot be judged, and content that cannot be made, name the field', async () => {
  const reported = await ran([inApp('Never', { filters: [condition(endless)] }), inApp(endless)])
  assertStep(reported, 0, { status: 'failed', says: /conditions could not be evaluated \(/, code: 'conditionsBroken' })
  assertStep(reported, 1, {
    status: 'failed',
    says: /content could not be generated \(template.content\)/,
    code: 'contentFailed',
  })
})

test('a preference is reported with its source', async () => {
  const workflow = await scene.workflow([email(), inApp('Hello')])
  const all = await why(await scene.run(workflow, await person({ channels: { email: false } })))
  const data = assertStep(all, 0, {
    status: 'skipped',
    says: /for all workflows have switched e-mail off/,
    code: 'globalPreference',
  })
  assert.deepEqual(data, { channel: 'email', workflow: true, global: { channels: { email: false } } })
  const one = await person({})
  await scene.expect(200, 'PATCH', `/v2/subscribers/${one}/preferences`, {
    workflowId: workflow,
    channels: { email: false },
  })
  assertStep(await why(await scene.run(workflow, one)), 0, {
    status: 'skipped',
    says: /preferences for this workflow have/,
  })
  const off = await scene.workflow([email()], { preferenceSettings: { email: false } })
  assertStep(await why(await scene.run(off, await person({}))), 0, {
    status: 'skipped',
    says: /workflow’s own preferences/,
  })
})

test('a tenant that switches a workflow or a channel off is named as the source', async () => {
  const { _id, triggers } = await scene.created([email()])
  const [closed, silent] = [fresh('tenant'), fresh('tenant')]
  for (const [identifier, change] of [
    [closed, { active: false }],
    [silent, { active: true, preferenceSettings: { email: false } }],
  ] as const) {
    await scene.expect(201, 'POST', '/v1/tenants', { identifier, name: identifier })
    await scene.expect(201, 'POST', '/v1/workflow-overrides', { workflowId: _id, tenantId: identifier, ...change })
  }
  const run = async (tenant: string) => why(await scene.run(triggers[0].identifier, await person({}), { tenant }))
  assertStep(await run(closed), 0, {
    status: 'skipped',
    says: /tenant’s override switches the workflow off/,
    code: 'workflowOff',
  })
  assertStep(await run(silent), 0, {
    status: 'skipped',
    says: /tenant’s override of the workflow has switched e-mail off/,
  })
})

test('outside someone’s hours a step reports when they begin, skipped or held', async () => {
  const workflow = await scene.workflow([email(), inApp('After')])
  const skipped = await why(await scene.run(workflow, await person(opensIn(3, 'skip'), { timezone: 'Etc/UTC' })))
  const data = assertStep(skipped, 0, {
    status: 'skipped',
    says: /begin again at .* \(time zone Etc\/UTC\)/,
    code: 'outsideSchedule',
  })
  assert.equal(data['timezone'], 'Etc/UTC')
  const held = await why(await scene.run(workflow, await person(opensIn(3, 'hold'))))
  const { untilDate } = assertStep(held, 0, {
    status: 'delayed',
    says: /^Held back until .*outside the subscriber’s hours/,
    code: 'held',
  })
  assert.equal(held.steps[0].nextAttemptAt, untilDate)
  assertStep(held, 1, {
    status: 'pending',
    says: new RegExp(`Not reached yet: the step “e-mail” \\(email\\) is waiting until ${untilDate}`),
  })
  assert.match(held.summary, /^The subscriber was not notified yet\./)
})

test('what is held and gathered reports why, what it was bundled with, and what was let go', async () => {
  const workflow = await scene.workflow([email()])
  const quiet = await person({ doNotDisturbUntil: ahead(hourMs) })
  const first = await scene.run(workflow, quiet)
  const second = await scene.run(workflow, quiet)
  assertStep(await why(first), 0, { status: 'delayed', says: /has set do not disturb/, code: 'held' })
  const data = assertStep(await why(second), 0, {
    status: 'merged',
    says: /combined with others by/,
    code: 'heldMerged',
  })
  assert.deepEqual([data['mergedIntoNotificationId'], data['by'], data['windowEvents']], [first._id, 'doNotDisturb', 2])
  await scene.advance(hourMs)
  const ended = await why(first)
  assertStep(ended, 0, {
    status: 'completed',
    says: /^Sent: platform-email accepted the e-mail.* captured instead of sent/,
  })
  assert.equal(assertStep(ended, 0, { status: 'completed', says: /./, code: 'heldReleased' })['total_count'], 2)
  const gathered = await person({})
  const frequency = { type: 'hourly' }
  await scene.expect(200, 'PATCH', `/v2/subscribers/${gathered}/preferences`, { workflowId: workflow, frequency })
  assertStep(await why(await scene.run(workflow, gathered)), 0, {
    status: 'delayed',
    says: /receives this workflow as a digest/,
  })
})

test('a throttle reports its counter to all steps that it ended', async () => {
  const throttle = { template: { type: 'throttle' }, metadata: { type: 'fixed', amount: 1, unit: 'hours' } }
  const workflow = await scene.workflow([throttle, inApp('After')])
  const newSubscriber = fresh('person')
  const passed = await why(await scene.run(workflow, newSubscriber))
  assertStep(passed, 0, { status: 'completed', says: /run 1 of 1/, code: 'throttlePassed' })
  const ended = await why(await scene.run(workflow, newSubscriber))
  for (const place of [0, 1]) {
    const data = assertStep(ended, place, { status: 'skipped', says: /allowed 1 of 1 runs/, code: 'throttled' })
    assert.deepEqual([data['executionCount'], data['threshold']], [1, 1])
  }
})

test('settings that the payload makes wrong fail their step, and what follows names it', async () => {
  const dynamic = (type: string) => ({
    name: 'Wait',
    template: { type },
    metadata: { type: 'dynamic', dynamicKey: 'payload.at' },
  })
  const late = await ran([dynamic('throttle'), inApp('After')], fresh('person'), { payload: { at: ahead(-hourMs) } })
  assertStep(late, 0, { status: 'failed', says: /the throttle’s window had passed/, code: 'throttlePast' })
  const data = assertStep(late, 1, {
    status: 'canceled',
    says: /Canceled: the step “Wait” \(throttle\) failed/,
    code: 'previousFailed',
  })
  assert.equal(data['failedStepId'], late.steps[0].stepId)
  const scheduled = delay({ metadata: { type: 'scheduled', delayPath: 'at' } })
  const never = await ran([scheduled, inApp('After')], fresh('person'), { payload: { at: 'tomorrow' } })
  assertStep(never, 0, { status: 'failed', says: /the delay’s settings are wrong/, code: 'delayInvalid' })
  const missing = await ran([dynamic('throttle'), inApp('After')])
  assertStep(missing, 0, {
    status: 'failed',
    says: /the throttle’s settings are wrong: “.*at/,
    code: 'throttleInvalid',
  })
  const { _id, triggers } = await scene.created([digest(), inApp('After')])
  await scene.rows(sql`
    update workflow_versions set definition = jsonb_set(definition, '{steps,0,metadata}', '{"type": "sometimes"}')
    where workflow_id = ${_id}`)
  const digested = await why(await scene.run(triggers[0].identifier, fresh('person')))
  assertStep(digested, 0, { status: 'failed', says: /the digest’s settings are wrong: “/, code: 'digestInvalid' })
})

test('a delay reports until when it waits, and then that it is over', async () => {
  const notification = await scene.run(
    await scene.workflow([delay(), inApp('Late'), inApp('Off', { active: false })]),
    fresh('person'),
  )
  const until = ahead(2 * hourMs)
  const waiting = await why(notification)
  assertStep(waiting, 0, { status: 'delayed', says: new RegExp(`^Waits until ${until}\\.$`), code: 'delayed' })
  assertStep(waiting, 1, { status: 'pending', says: /is waiting until/ })
  assertStep(waiting, 2, { status: 'inactive', says: /was inactive/ })
  await scene.advance(2 * hourMs)
  const ended = await why(notification)
  assertStep(ended, 0, { status: 'completed', says: /delay is over/ })
  assert.equal('nextAttemptAt' in ended.steps[0], false)
  assert.equal(ended.summary, 'The subscriber was notified by in-app message.')
})

test('a delay that would end outside the hours reports that it was put off', async () => {
  const step = delay({ metadata: { type: 'regular', amount: 1, unit: 'minutes', extendToSchedule: true } })
  const notification = await scene.run(await scene.workflow([step]), await person(opensIn(5, 'skip')))
  await scene.advance(minuteMs)
  const reported = await why(notification)
  const data = assertStep(reported, 0, {
    status: 'delayed',
    says: /would have ended outside.*postponed once/,
    code: 'scheduleExtended',
  })
  assert.equal(reported.steps[0].nextAttemptAt, data['untilDate'])
})

test('a delay that was put off too often reports that it continued outside the hours', async () => {
  const step = delay({ metadata: { type: 'regular', amount: 2, unit: 'hours', extendToSchedule: true } })
  const mover = await person(opensIn(5, 'skip'))
  const notification = await scene.run(await scene.workflow([step]), mover)
  await scene.advance(2 * hourMs)
  for (let count = 0; count < 3; count += 1) {
    await scene.advance(2 * hourMs, hourMs / 2)
    await scene.expect(200, 'PATCH', `/v2/subscribers/${mover}/preferences`, opensIn(4, 'skip'))
    await scene.advance(hourMs, hourMs / 4)
  }
  const reported = await why(notification)
  const says =
    /^The delay is over\. It continued outside the subscriber’s hours because it had been postponed 3 times\.$/
  assertStep(reported, 0, { status: 'completed', says, code: 'scheduleExtensionsMax' })
})

test('without an in-app integration there is no feed, which is reported', async () => {
  const listed = await scene.expect(200, 'GET', '/v1/integrations')
  const feed = listed.find((one: Json) => one.channel === 'in_app')
  await scene.expect(200, 'PUT', `/v1/integrations/${feed._id}`, { active: false })
  try {
    const reported = await ran([inApp('Hello')])
    assertStep(reported, 0, {
      status: 'failed',
      says: /no active integration to send the in-app message/,
      code: 'noIntegration',
    })
  } finally {
    await scene.expect(200, 'PUT', `/v1/integrations/${feed._id}`, { active: true })
  }
})

test('a digest reports its window and how many it gathered; whoever is merged names the one that continues', async () => {
  const workflow = await scene.workflow([digest(), inApp('All')])
  const newSubscriber = fresh('person')
  const first = await scene.run(workflow, newSubscriber)
  const until = ahead(5 * minuteMs)
  const second = await scene.run(workflow, newSubscriber)
  const open = assertStep(await why(first), 0, {
    status: 'delayed',
    says: /^Collects events until .*, 2 so far/,
    code: 'digested',
  })
  assert.deepEqual([open['untilDate'], open['windowEvents']], [until, 2])
  const merged = await why(second)
  for (const place of [0, 1]) {
    const data = assertStep(merged, place, {
      status: 'merged',
      says: /Merged into the digest of notification/,
      code: 'digestMerged',
    })
    assert.deepEqual(
      [data['mergedIntoNotificationId'], data['mergedIntoTransactionId'], data['windowEndsAt']],
      [first._id, first.transactionId, until],
    )
  }
  await scene.advance(5 * minuteMs)
  const closed = assertStep(await why(first), 0, {
    status: 'completed',
    says: /collected 2 events/,
    code: 'digestTriggered',
  })
  assert.equal(closed['total_count'], 2)
})

test('the first event after a silence reports that it was not gathered', async () => {
  const backoff = { type: 'backoff', amount: 10, unit: 'minutes', backoffAmount: 2, backoffUnit: 'minutes' }
  const reported = await ran([digest({ metadata: backoff }), inApp('Now')])
  assertStep(reported, 0, { status: 'skipped', says: /first event after a quiet period/, code: 'digestSkipped' })
})

test('a cancelled step and one for a deleted subscriber say so', async () => {
  const workflow = await scene.workflow([delay(), inApp('Late')])
  const called = await scene.run(workflow, fresh('person'))
  await scene.expect(200, 'DELETE', `/v1/events/trigger/${called.transactionId}`)
  for (const place of [0, 1]) {
    assertStep(await why(called), place, { status: 'canceled', says: /canceled by request/, code: 'canceled' })
  }
  const gone = fresh('person')
  const left = await scene.run(workflow, gone)
  await scene.expect(200, 'DELETE', `/v2/subscribers/${gone}`)
  await scene.advance(2 * hourMs)
  const reported = await why(left)
  for (const place of [0, 1])
    assertStep(reported, place, { status: 'canceled', says: /subscriber was deleted/, code: 'subscriberGone' })
})

test('a step that waits for a worker says so', async () => {
  const transactionId = await scene.trigger(await scene.workflow([inApp('Soon'), inApp('Then')]), fresh('person'))
  const reported = await why(await scene.notification(transactionId))
  assertStep(reported, 0, { status: 'queued', says: /^It is due and waiting for a worker\.$/ })
  assertStep(reported, 1, { status: 'pending', says: /^Not reached yet: .* is not finished\.$/ })
  assert.deepEqual([reported.steps[0].reasons, 'nextAttemptAt' in reported.steps[0]], [[], false])
  await scene.work()
})

test('a step that fails by a fault of ours reports when it is tried again, and in the end what the fault was', async () => {
  const { _id, triggers } = await scene.created([inApp('Never'), inApp('After')])
  await scene.rows(sql`
    update workflow_versions set definition = jsonb_set(definition, '{steps,0,template,type}', '"teleport"')
    where workflow_id = ${_id}`)
  const notification = await scene.run(triggers[0].identifier, fresh('person'))
  const waiting = await why(notification)
  assertStep(waiting, 0, { status: 'queued', says: /^It is queued\. It runs again at / })
  for (const waitMs of [10_000, 120_000, 900_000, 2_700_000]) await scene.advance(waitMs)
  const ended = await why(notification)
  assertStep(ended, 0, { status: 'failed', says: /^Failed because of an internal error.*teleport/, code: 'buried' })
  assertStep(ended, 1, {
    status: 'canceled',
    says: /failed, and the workflow stops on failure/,
    code: 'previousFailed',
  })
})
