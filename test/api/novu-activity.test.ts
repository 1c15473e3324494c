// The public client @novu/api reads the activity: its closed lists accept everything that we say.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Novu } from '@novu/api'
import { ErrorDto } from '@novu/api/models/errors/index.js'
import type { SceneEvent } from '../support/activity-scene.ts'
import { ActivityScene, reported, stepOf } from '../support/activity-scene.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { addSubscribers } from '../support/topic-scene.ts'

let app: TestApp
let novu: Novu
let event: SceneEvent
before(async () => {
  app = await createTestApp({ vendor: 'novu' })
  const serverURL = await app.app.listen({ port: 0, host: '127.0.0.1' })
  novu = new Novu({ secretKey: app.developmentKey, serverURL, retryConfig: { strategy: 'none' } })
  const scene = await ActivityScene.of(app)
  const [subscriberId] = (await addSubscribers(app, ['ada'])).values()
  const timed = { atTime: '09:00', weekDays: ['monday'], monthDays: ['1'] } as const
  const filters = [{ isNegated: false, type: 'GROUP', value: 'AND', children: [] }] as const
  const steps = [
    stepOf('digest', { metadata: { type: 'timed', amount: 1, unit: 'weeks', timed } }),
    stepOf('in_app', { filters, variants: [stepOf('in_app')] }),
    stepOf('delay', { metadata: { type: 'scheduled', delayPath: 'at' } }),
    stepOf('email'),
  ]
  const workflow = await scene.addWorkflow('shipped', steps, { variables: ['at'] })
  const topic = { id: scene.newId(), key: 'news' }
  event = await scene.addEvent(workflow, [{ subscriberId: subscriberId ?? '', topicIds: [topic.id] }], {
    payload: { at: 'now' },
    severity: 'high',
    contextKeys: ['app:web'],
    topics: [topic],
    transactionId: 'shipped-1',
  })
  const [notification] = event.notifications
  const at = app.world.now()
  await scene.addJobs(notification ?? assert.fail('no notification'), [
    { step: 0, status: 'completed', state: { until: at.toISOString() }, details: [reported(at, 'digestTriggered')] },
    {
      step: 1,
      status: 'completed',
      details: [reported(at, 'read', { providerId: 'platform', raw: '{}', isTest: true })],
    },
    { step: 2, status: 'skipped', details: [reported(at, 'delayInvalid')] },
  ])
  await scene.addMessage(notification ?? assert.fail('no notification'), 1, {})
})
after(() => app.close())

test('the client lists events by every filter and reads each field', async () => {
  const { result } = await novu.notifications.list({
    channels: ['in_app'],
    emails: ['ada@example.org'],
    subscriberIds: ['ada'],
    severity: ['high'],
    transactionId: 'shipped-1',
    topicKey: 'news',
    contextKeys: ['app:web'],
    after: '2020-01-01T00:00:00Z',
    page: 0,
    limit: 50,
  })
  assert.deepEqual([result.data.length, result.hasMore, result.pageSize, result.page], [1, false, 50, 0])
  const [item] = result.data
  assert.equal(item?.template?.origin, 'novu-cloud-v1')
  assert.deepEqual(
    item?.jobs?.map((job) => [job.type, job.providerId, job.status]),
    [
      ['digest', 'novu', 'completed'],
      ['in_app', 'novu', 'completed'],
      ['delay', 'novu', 'skipped'],
      ['email', 'novu-email', 'pending'],
    ],
  )
  assert.deepEqual(item?.jobs?.[0]?.digest?.timed?.monthDays, [1])
  assert.equal(item?.jobs?.[1]?.executionDetails[1]?.providerId, 'novu')
  assert.equal(item?.topics?.[0]?.topicKey, 'news')
})

test('the client finds nothing where nothing fits', async () => {
  assert.deepEqual((await novu.notifications.list({ severity: ['low'] })).result.data, [])
})

test('the client retrieves an event, and an unknown one is its own kind of error', async () => {
  const { result } = await novu.notifications.retrieve(event.notifications[0]?.id ?? '')
  assert.equal(result.transactionId, 'shipped-1')
  assert.equal(result.jobs?.length, 4)
  await assert.rejects(novu.notifications.retrieve('unknown'), ErrorDto)
})
