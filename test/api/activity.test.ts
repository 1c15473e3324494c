// The activity over the API: every field of an item, in the list and by itself, and its messages.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { ActivityScene, stepOf } from '../support/activity-scene.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { addSubscribers } from '../support/topic-scene.ts'

let app: TestApp
let scene: ActivityScene
before(async () => {
  app = await createTestApp()
  scene = await ActivityScene.of(app)
})
after(() => app.close())

const filter = {
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children: [{ field: 'plan', value: 'team', operator: 'EQUAL', on: 'payload' }],
} as const

const steps = [
  stepOf('in_app', {
    name: 'Bell',
    filters: [filter],
    _parentId: 'parent',
    replyCallback: { active: true, url: 'https://example.com/reply' },
    template: { subject: 'Hi', layoutId: 'layout', feedId: null },
    variants: [{ ...stepOf('in_app'), _id: 'variant', name: 'Team', filters: [filter] }],
  }),
  stepOf('email', { active: false }),
]
const shownStep = {
  _id: 'step-in_app',
  _templateId: 'template-in_app',
  _parentId: 'parent',
  name: 'Bell',
  active: true,
  filters: [filter],
  template: { type: 'in_app', content: 'Hello', subject: 'Hi', _layoutId: 'layout', _feedId: null },
  replyCallback: { active: true, url: 'https://example.com/reply' },
  variants: [
    {
      _id: 'variant',
      _templateId: 'template-in_app',
      _parentId: null,
      name: 'Team',
      active: true,
      filters: [filter],
      template: { type: 'in_app', content: 'Hello' },
    },
  ],
}
const payload = { orderId: '1', providerId: 'platform' }
const overrides = { email: { from: 'a@example.org' } }

test('an item reports everything of its event, its subscriber and its workflow', async () => {
  const at = app.world.now()
  const subscriberId = (await addSubscribers(app, ['ada'])).get('ada') ?? assert.fail('no subscriber')
  const more = { name: 'Order shipped', tags: ['orders'], critical: true, variables: ['orderId'] }
  const workflow = await scene.addWorkflow('order-shipped', steps, more)
  const topics = ['others', 'release-notes'].map((key) => ({ id: scene.newId(), key }))
  const topicId = topics[1]?.id ?? ''
  const recipient = { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.org' }
  const contextKeys = ['app:web', 'team:7']
  const about = { transactionId: 'order-1', severity: 'high', payload, overrides, contextKeys, topics }
  const event = await scene.addEvent(workflow, [{ subscriberId, recipient, topicIds: [topicId] }], about)
  const [notification] = event.notifications
  assert.ok(notification !== undefined)
  const later = new Date(at.getTime() + 1_500)
  await scene.addJobs(notification, [{ step: 0, status: 'queued', at: later }])
  const { jobs, ...item } = await scene.listed('order-1')
  assert.equal(jobs.length, 1)
  const triggers = [
    { type: 'event', identifier: 'order-shipped', variables: [{ name: 'orderId' }], subscriberVariables: [] },
  ]
  assert.deepEqual(item, {
    _id: notification.id,
    _environmentId: scene.environment.id,
    _organizationId: scene.environment.organizationId,
    _subscriberId: subscriberId,
    _templateId: workflow.id,
    transactionId: 'order-1',
    createdAt: at.toISOString(),
    updatedAt: later.toISOString(),
    channels: ['in_app'],
    subscriber: { _id: subscriberId, subscriberId: 'ada', firstName: 'First ada', email: 'ada@example.org' },
    template: { _id: workflow.id, name: 'Order shipped', origin: 'platform-cloud-v1', triggers },
    payload,
    controls: {},
    to: recipient,
    tags: ['orders'],
    topics: [{ _topicId: topicId, topicKey: 'release-notes' }],
    severity: 'high',
    critical: true,
    contextKeys,
    isTest: false,
  })
})

test('a job reports everything of its step, and the detail is the same with messages', async () => {
  const { notification, event } = await scene.run(steps, { payload, overrides })
  const at = new Date(app.world.now().getTime() + 1_500)
  const [_id] = await scene.addJobs(notification, [{ step: 0, status: 'queued', at }])
  const item = await scene.listed(event.transactionId)
  const queued = { status: 'Pending', detail: 'Step queued', isRetry: false, isTest: false, source: 'Internal' }
  const detailId = item.jobs[0].executionDetails[0]._id
  assert.deepEqual(item.jobs, [
    {
      _id,
      type: 'in_app',
      executionDetails: [{ _id: detailId, createdAt: at.toISOString(), ...queued }],
      step: shownStep,
      payload,
      overrides,
      providerId: 'platform',
      status: 'queued',
      updatedAt: at.toISOString(),
    },
  ])
  assert.deepEqual(await scene.retrieve(notification), { ...item, jobs: [{ ...item.jobs[0], messages: [] }] })
})

test('what an event does not have is empty, and nothing is null', async () => {
  const { notification, name } = await scene.run([stepOf('in_app')])
  const item = await scene.retrieve(notification)
  assert.deepEqual(item.to, { subscriberId: name })
  assert.deepEqual(
    [item.topics, item.contextKeys, item.tags, item.severity, item.critical],
    [[], [], [], 'none', false],
  )
  assert.equal('_digestedNotificationId' in item, false)
  assert.equal('phone' in item.subscriber, false)
  assert.equal(item.updatedAt, item.createdAt)
})

test('a deleted subscriber is left out, and whom it was sent to is not', async () => {
  const { notification, name, event } = await scene.run([stepOf('in_app')])
  assert.equal((await app.call('DELETE', `/v2/subscribers/${name}`)).status, 200)
  const item = await scene.listed(event.transactionId)
  assert.equal('subscriber' in item, false)
  assert.equal(item._subscriberId, notification.subscriberId)
  assert.deepEqual(item.to, { subscriberId: name })
})

test('a run keeps the version it started with', async () => {
  const { notification, event } = await scene.run([stepOf('in_app')])
  const changed = [stepOf('email'), stepOf('in_app')]
  await scene.addWorkflow(notification.workflow.identifier, changed, { name: 'Renamed' }, notification.workflow)
  const item = await scene.listed(event.transactionId)
  assert.deepEqual(item.channels, ['in_app'])
  assert.equal(item.template.name, `Workflow ${notification.workflow.identifier}`)
})

test('the detail has the messages of each step, those of no outcome and deleted ones left out', async () => {
  const { notification, event } = await scene.run([stepOf('in_app'), stepOf('email')], { payload: { n: 1 } })
  const neighbour = await scene.run([stepOf('in_app')])
  await scene.addJobs(notification, [
    { step: 0, status: 'completed' },
    { step: 1, status: 'running' },
  ])
  const bell = await scene.addMessage(notification, 0, { content: 'Hello Ada' }, { deliveredAt: app.world.now() })
  const mail = { channel: 'email', email: 'ada@example.org', subject: 'Hi' } as const
  const sent = await scene.addMessage(notification, 1, { ...mail, target: 'one' }, { providerId: 'sendgrid' })
  await scene.addMessage(notification, 1, { ...mail, target: 'two' }, { status: null, state: 'ready' })
  const gone = await scene.addMessage(notification, 1, { ...mail, target: 'three' })
  await app.database.db.run(sql`
    update messages set deleted_at = now() where environment_id = ${scene.environment.id} and id = ${gone}`)
  await scene.addMessage(neighbour.notification, 0, { content: 'Another’s' })
  const { jobs } = await scene.retrieve(notification)
  assert.deepEqual(
    jobs.map((job: Json) => job.messages.map((message: Json) => message._id)),
    [[bell], [sent]],
  )
  const [message] = jobs[0].messages
  assert.equal(message.content, 'Hello Ada')
  assert.equal(message.channel, 'in_app')
  assert.equal(message._jobId, jobs[0]._id)
  assert.equal(message.transactionId, event.transactionId)
  assert.deepEqual(message.payload, { n: 1 })
  assert.equal(jobs[1].messages[0].email, 'ada@example.org')
  assert.equal('messages' in (await scene.listed(event.transactionId)).jobs[0], false)
})

test('a notification that is not there is not found, whatever its id looks like', async () => {
  const { notification } = await scene.run([stepOf('in_app')])
  for (const id of [scene.newId(), 'nonsense', '0', `${notification.id}x`, '%F0%9F%98%80']) {
    const reply = await app.call('GET', `/v1/notifications/${id}`)
    assert.equal(reply.status, 404, id)
    assert.equal(reply.body.message, 'Notification not found')
  }
  const foreign = await app.call('GET', `/v1/notifications/${notification.id}`, { key: app.productionKey })
  assert.equal(foreign.status, 404)
  assert.deepEqual((await app.call('GET', '/v1/notifications', { key: app.productionKey })).body.data, [])
})
