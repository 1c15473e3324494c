// The jobs of an activity over the API: one a step, with its digest, its provider and its execution details.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { SceneEvent, SceneJob } from '../support/activity-scene.ts'
import { ActivityScene, reported, stepOf } from '../support/activity-scene.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
let scene: ActivityScene
before(async () => {
  app = await createTestApp()
  scene = await ActivityScene.of(app)
})
after(() => app.close())

test('there is one job a step that is active, in the steps’ order, and those whose turn has not come are pending', async () => {
  const steps = [stepOf('delay'), stepOf('in_app', { active: false }), stepOf('email'), stepOf('in_app')]
  const { notification, event } = await scene.run(steps)
  await scene.addJobs(notification, [
    { step: 2, status: 'running' },
    { step: 0, status: 'completed' },
  ])
  const { jobs, channels, createdAt } = await scene.listed(event.transactionId)
  assert.deepEqual(
    jobs.map((job: Json) => [job.type, job.status, job.executionDetails.length]),
    [
      ['delay', 'completed', 1],
      ['email', 'running', 1],
      ['in_app', 'pending', 0],
    ],
  )
  assert.deepEqual(channels, ['delay', 'email', 'in_app'])
  assert.equal(jobs[2].updatedAt, createdAt)
  assert.deepEqual(
    jobs.map((job: Json) => job.scheduleExtensionsCount),
    [0, undefined, undefined],
  )
})

test('a job is reported by the provider that was chosen, and before that by the one that would be', async () => {
  const { notification } = await scene.run([stepOf('email'), stepOf('in_app'), stepOf('digest'), stepOf('delay')])
  const providers = async () => (await scene.retrieve(notification)).jobs.map((job: Json) => job.providerId)
  assert.deepEqual(await providers(), ['platform-email', 'platform', 'platform', 'platform'])
  const credentials = { apiKey: 'SG.x', from: 'a@example.com', senderName: 'A' }
  const integration = { providerId: 'sendgrid', channel: 'email', active: true, credentials }
  const created = await app.call('POST', '/v1/integrations', { body: integration })
  assert.equal(created.status, 201, created.text)
  assert.deepEqual(await providers(), ['sendgrid', 'platform', 'platform', 'platform'])
  await scene.addJobs(notification, [{ step: 0, status: 'completed', state: { providerId: 'nodemailer' } }])
  assert.deepEqual(await providers(), ['nodemailer', 'platform', 'platform', 'platform'])
  for (const { _id } of (await app.call('GET', '/v1/integrations')).body.filter((one: Json) => one.channel === 'email'))
    assert.equal((await app.call('DELETE', `/v1/integrations/${_id}`)).status, 200)
  const none = await scene.run([stepOf('email')])
  assert.equal((await scene.retrieve(none.notification)).jobs[0].providerId, 'platform-email')
})

test('a digest shows its settings and the payloads of its window in the order they were accepted', async () => {
  const metadata = { type: 'regular', amount: 5, unit: 'minutes', digestKey: 'order', updateMode: true } as const
  const { notification, event } = await scene.run([stepOf('digest', { metadata }), stepOf('in_app')], {
    payload: { n: 1 },
  })
  const before = (await scene.listed(event.transactionId)).jobs[0]
  assert.deepEqual(before.digest, { ...metadata, events: [] })
  assert.deepEqual(before.step.metadata, metadata)
  const windowId = scene.newId()
  const others = [
    await scene.run([stepOf('in_app')], { payload: { n: 2 } }),
    await scene.run([stepOf('in_app')], { payload: { n: 3 } }),
  ]
  await scene.addWindow(windowId, [event, ...others.map((other) => other.event)].reverse())
  await scene.addJobs(notification, [{ step: 0, status: 'delayed', state: { windowId } }])
  const { jobs } = await scene.listed(event.transactionId)
  assert.deepEqual(jobs[0].digest.events, [{ n: 1 }, { n: 2 }, { n: 3 }])
  assert.equal('digest' in jobs[1], false)
})

test('a digest shows at most a hundred events, and no more than about a megabyte of them', async () => {
  const { notification } = await scene.run([
    stepOf('digest', { metadata: { type: 'regular', amount: 1, unit: 'hours' } }),
  ])
  const large = await scene.run([stepOf('digest', { metadata: { type: 'regular', amount: 1, unit: 'hours' } })])
  const [many, big] = [scene.newId(), scene.newId()]
  const events: SceneEvent[] = []
  for (let n = 0; n < 101; n += 1) events.push(await scene.addEvent(notification.workflow, [], { payload: { n } }))
  await scene.addWindow(many, events)
  const text = 'x'.repeat(400_000)
  const heavy: SceneEvent[] = []
  for (let n = 0; n < 3; n += 1) heavy.push(await scene.addEvent(notification.workflow, [], { payload: { n, text } }))
  await scene.addWindow(big, heavy)
  await scene.addJobs(notification, [{ step: 0, status: 'delayed', state: { windowId: many } }])
  await scene.addJobs(large.notification, [{ step: 0, status: 'delayed', state: { windowId: big } }])
  const shown = (await scene.retrieve(notification)).jobs[0].digest.events
  assert.deepEqual([shown.length, shown[0], shown.at(-1)], [100, { n: 0 }, { n: 99 }])
  const fewer = (await scene.retrieve(large.notification)).jobs[0].digest.events
  assert.deepEqual(
    fewer.map((payload: Json) => payload.n),
    [0, 1],
  )
})

test('a timed digest has its days as numbers, a cron line and the time it closes', async () => {
  const timed = { atTime: '09:30', monthlyType: 'each', monthDays: ['1', '15'] } as const
  const metadata = { type: 'timed', amount: 1, unit: 'months', timed } as const
  const { notification } = await scene.run([stepOf('digest', { metadata })])
  const until = '2026-02-01T09:30:00.000Z'
  await scene.addJobs(notification, [{ step: 0, status: 'delayed', state: { until } }])
  const [job] = (await scene.retrieve(notification)).jobs
  assert.deepEqual(job.digest, {
    type: 'timed',
    amount: 1,
    unit: 'months',
    events: [],
    timed: {
      atTime: '09:30',
      monthlyType: 'each',
      monthDays: [1, 15],
      cronExpression: '30 9 1,15 * *',
      untilDate: until,
    },
  })
  assert.deepEqual(job.step.metadata, metadata)
})

test('a delay shows its settings in its step only', async () => {
  const metadata = { type: 'regular', amount: 5, unit: 'minutes' } as const
  const { notification } = await scene.run([stepOf('delay', { metadata })])
  const [job] = (await scene.retrieve(notification)).jobs
  assert.equal('digest' in job, false)
  assert.deepEqual(job.step.metadata, metadata)
})

test('a merged notification names the one that continues for it, and its later steps were never queued', async () => {
  const metadata = { type: 'regular', amount: 5, unit: 'minutes' } as const
  const { notification, event } = await scene.run([stepOf('digest', { metadata }), stepOf('in_app')])
  const at = app.world.now()
  const digestedNotificationId = scene.newId()
  await scene.addJobs(notification, [
    { step: 0, status: 'merged', state: { digestedNotificationId }, details: [reported(at, 'digestMerged')] },
    { step: 1, status: 'merged', details: [reported(at, 'digestMerged')] },
  ])
  const item = await scene.listed(event.transactionId)
  assert.equal(item._digestedNotificationId, digestedNotificationId)
  const details = item.jobs.map((job: Json) => job.executionDetails.map((one: Json) => one.detail))
  assert.deepEqual(details, [
    ['Step queued', 'Digest was merged with other digest'],
    ['Digest was merged with other digest'],
  ])
})

test('a step canceled because of an earlier failure was never queued', async () => {
  const { notification } = await scene.run([stepOf('email', { shouldStopOnFail: true }), stepOf('in_app')])
  const at = app.world.now()
  await scene.addJobs(notification, [
    { step: 0, status: 'failed', details: [reported(at, 'providerError')] },
    { step: 1, status: 'canceled', details: [reported(at, 'previousFailed')] },
  ])
  const { jobs } = await scene.retrieve(notification)
  assert.deepEqual(
    jobs[1].executionDetails.map((one: Json) => one.detail),
    ['Step was canceled because a previous step failed'],
  )
})

test('execution details are reported in order, with an id that stays, and with what was asked and answered', async () => {
  const { notification } = await scene.run([stepOf('email')])
  const at = app.world.now()
  const details = [
    reported(at, 'providerSelected', { words: 'SendGrid provider was selected', providerId: 'sendgrid' }),
    reported(at, 'messageCreated', { isTest: true }),
    reported(at, 'providerBusy', { isRetry: true, raw: { status: 503 } }),
    reported(at, 'messageSent', { raw: '' }),
  ]
  const job: SceneJob = { step: 0, status: 'completed', details }
  await scene.addJobs(notification, [job])
  const [first] = (await scene.retrieve(notification)).jobs
  assert.deepEqual(
    first.executionDetails.map(({ _id, createdAt, isRetry, isTest, source, ...rest }: Json) => [
      rest,
      createdAt === at.toISOString(),
      isRetry,
      isTest,
      source,
    ]),
    [
      [{ detail: 'Step queued', status: 'Pending' }, true, false, false, 'Internal'],
      [
        { detail: 'SendGrid provider was selected', status: 'Pending', providerId: 'sendgrid' },
        true,
        false,
        false,
        'Internal',
      ],
      [{ detail: 'Message created', status: 'Pending' }, true, false, true, 'Internal'],
      [{ detail: 'Unexpected provider error', status: 'Queued', raw: '{"status":503}' }, true, true, false, 'Internal'],
      [{ detail: 'Message sent', status: 'Success' }, true, false, false, 'Internal'],
    ],
  )
  const ids = first.executionDetails.map((one: Json) => one._id)
  assert.equal(new Set(ids).size, ids.length)
  const [again] = (await scene.retrieve(notification)).jobs
  assert.deepEqual(
    again.executionDetails.map((one: Json) => one._id),
    ids,
  )
})
