// The list of messages over the API: every field, every filter, pages.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { jobIdOf } from '../../src/domain/derived-id.ts'
import { stepOf } from '../support/activity-scene.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let scene: MessageScene
const people = ['ada', 'bob', 'cleo', 'dora', 'eve', 'gone', 'secret', 'pages', 'tx', 'ctx', 'many', 'late']
before(async () => {
  app = await createTestApp()
  scene = await MessageScene.of(app, people)
})
after(() => app.close())

const list = (query: string, options = {}) => app.call('GET', `/v1/messages?${query}`, options)
const ids = (page: Json): string[] => page.data.map((item: Json) => item._id)

async function found(query: string): Promise<string[]> {
  const reply = await list(query)
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.totalCount, reply.body.data.length)
  assert.equal(reply.body.hasMore, false)
  return ids(reply.body)
}

const blocks = [
  { type: 'text', content: 'Hello Ada' },
  { type: 'button', content: 'Track', url: 'https://example.org/42', styles: { textAlign: 'center' } },
] as const

test('a message has every member of the interface', async () => {
  const said = await scene.say('ada', {
    draft: {
      channel: 'email',
      content: blocks,
      subject: 'Order 42',
      email: 'ada@example.org',
      data: { colour: 'red' },
    },
    event: {
      transactionId: 'order-42',
      payload: { orderId: '42' },
      overrides: { email: { from: 'shop@example.org' } },
      severity: 'high',
      contextKeys: ['tenant:acme'],
    },
    message: { providerId: 'sendgrid', contextKeys: ['tenant:acme'] },
  })
  await app.database.db.run(sql`update messages set provider_message_id = 'sg-1' where id = ${said.id}`)
  const reply = await list('subscriberId=ada')
  assert.equal(reply.status, 200)
  const { data, ...envelope } = reply.body
  assert.deepEqual(envelope, { hasMore: false, pageSize: 10, page: 0, totalCount: 1 })
  const { environment } = scene.scene
  const { notification } = said
  const { subscriber: _, template: __, ...message } = data[0]
  const now = app.world.now().toISOString()
  assert.deepEqual(message, {
    _id: said.id,
    _templateId: scene.workflow.id,
    _messageTemplateId: 'template-email',
    _feedId: null,
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    _notificationId: notification.id,
    _subscriberId: notification.subscriberId,
    _jobId: jobIdOf(said.eventId, notification.id, 1),
    templateIdentifier: 'orders',
    stepId: 'uuid-email',
    createdAt: now,
    updatedAt: now,
    content: blocks,
    transactionId: 'order-42',
    subject: 'Order 42',
    email: 'ada@example.org',
    providerId: 'sendgrid',
    identifier: 'sg-1',
    channel: 'email',
    read: false,
    seen: false,
    archived: false,
    cta: {},
    status: 'sent',
    payload: { orderId: '42' },
    overrides: { email: { from: 'shop@example.org' } },
    data: { colour: 'red' },
    tags: ['orders', 'shop'],
    severity: 'high',
    contextKeys: ['tenant:acme'],
    isTest: false,
  })
})

test('a message has its subscriber and its workflow, whole', async () => {
  await app.call('PUT', '/v1/subscribers/ada/credentials', {
    body: { providerId: 'fcm', credentials: { deviceTokens: ['token'] } },
  })
  const { environment } = scene.scene
  const { subscriber, template } = (await list('subscriberId=ada')).body.data[0]
  assert.deepEqual(subscriber, (await app.call('GET', '/v2/subscribers/ada')).body)
  assert.deepEqual(subscriber.channels[0].credentials.deviceTokens, ['token'])
  const { steps, preferenceSettings, notificationGroup, ...workflow } = template
  assert.equal(notificationGroup.name, 'Scenes')
  assert.deepEqual(preferenceSettings, { email: true, sms: true, in_app: true, chat: true, push: true })
  assert.deepEqual(
    steps.map((step: Json) => step.template.type),
    ['in_app', 'email'],
  )
  for (const name of ['createdAt', 'updatedAt', '_creatorId', '_notificationGroupId']) {
    assert.equal(typeof workflow[name], 'string', name)
    delete workflow[name]
  }
  assert.deepEqual(workflow, {
    _id: scene.workflow.id,
    name: 'Orders',
    description: 'About orders',
    active: true,
    draft: false,
    critical: false,
    tags: ['orders', 'shop'],
    severity: 'none',
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
    triggers: [{ type: 'event', identifier: 'orders', variables: [{ name: 'orderId' }], subscriberVariables: [] }],
    deleted: false,
    deletedAt: '',
    deletedBy: '',
  })
})

test('an in-app message reports when it was delivered, seen, read and archived, and a failed one why', async () => {
  const said = await scene.say('bob', { draft: { title: 'Title', phone: '+441632960001', content: 'Hello' } })
  const deliveredAt = app.world.now().toISOString()
  app.world.advance(5000)
  const now = app.world.now().toISOString()
  const mark = (markAs: string) =>
    app.call('POST', '/v1/subscribers/bob/messages/mark-as', { body: { messageId: said.id, markAs } })
  await mark('archived')
  const [message] = (await list('subscriberId=bob')).body.data
  assert.deepEqual(
    [message.deliveredAt, message.firstSeenDate, message.lastSeenDate, message.lastReadDate, message.archivedAt],
    [[deliveredAt], now, now, now, now],
  )
  assert.deepEqual([message.content, message.title, message.phone], ['Hello', 'Title', '+441632960001'])
  assert.equal('errorId' in message, false)
  await scene.say('bob', {
    message: { status: 'error', error: { errorId: 'mail_unexpected_error', errorText: 'No such mailbox' } },
  })
  const [failed] = (await list('subscriberId=bob')).body.data
  assert.deepEqual(
    [failed.status, failed.errorId, failed.errorText],
    ['error', 'mail_unexpected_error', 'No such mailbox'],
  )
})

test('no member of a message is null but those the interface allows', async () => {
  await scene.say('cleo', { draft: { channel: 'email' }, message: { providerId: null, status: 'warning' } })
  const [message] = (await list('subscriberId=cleo')).body.data
  const nulls = Object.keys(message).filter((name) => message[name] === null)
  assert.deepEqual(nulls, ['_feedId'])
  for (const name of ['providerId', 'subject', 'email', 'phone', 'title', 'errorId', 'snoozedUntil', 'lastReadDate'])
    assert.equal(name in message, false, name)
})

test('channel and subscriberId filter exactly, alone and together', async () => {
  const [inApp, email] = [await scene.say('dora'), await scene.say('dora', { draft: { channel: 'email' } })]
  const other = await scene.say('eve', { draft: { channel: 'sms' } })
  assert.deepEqual(await found('subscriberId=dora'), [email.id, inApp.id])
  assert.deepEqual(await found('subscriberId=dora&channel=email'), [email.id])
  assert.deepEqual(await found('subscriberId=dora&channel=push'), [])
  assert.deepEqual(await found('channel=sms'), [other.id])
  assert.deepEqual(await found('subscriberId=DORA'), [])
  assert.deepEqual(await found('subscriberId=nobody'), [])
  assert.deepEqual(ids((await list('subscriberId=')).body)[0], other.id, 'an empty filter is none')
})

test('transactionId finds the messages of one or many, whoever chose the id', async () => {
  const own = await scene.say('tx', { event: { transactionId: 'mine' } })
  const second = await scene.sayAgain({ id: own.eventId, transactionId: 'mine' }, own.notification, {
    draft: { channel: 'email' },
  })
  const ours = await scene.say('tx')
  const elsewhere = await scene.say('eve', { event: { transactionId: 'also-mine' } })
  assert.deepEqual(new Set(await found('transactionId=mine')), new Set([second.id, own.id]))
  assert.deepEqual(await found(`transactionId=${ours.eventId}`), [ours.id])
  assert.deepEqual(await found(`transactionId[]=${ours.eventId}&transactionId[]=also-mine`), [elsewhere.id, ours.id])
  assert.deepEqual(await found('transactionId=mine&channel=email'), [second.id])
  assert.deepEqual(await found('transactionId=mine&transactionId=also-mine&subscriberId=eve'), [elsewhere.id])
  assert.deepEqual(new Set(await found('transactionId=mine&subscriberId=tx')), new Set([own.id, second.id]))
  assert.deepEqual(await found('transactionId=mine&subscriberId=dora'), [])
  assert.deepEqual(await found('transactionId=never'), [])
  assert.deepEqual(await found(`transactionId=${own.eventId}`), [], 'the caller’s id took the place of ours')
})

test('the messages of a transaction are in the order they were made, however their ids fall', async () => {
  const first = await scene.say('late', { event: { transactionId: 'late' } })
  app.world.advance(86_400_000)
  const next = await scene.sayAgain({ id: first.eventId, transactionId: 'late' }, first.notification, {
    draft: { channel: 'email' },
  })
  assert.deepEqual(await found('transactionId=late'), [next.id, first.id])
})

test('an event for very many is paged by id, without a gap', async () => {
  const said = await scene.say('many', { event: { transactionId: 'many', notified: 10_001 } })
  const event = { id: said.eventId, transactionId: 'many' }
  const all = [said.id]
  for (const target of ['a', 'b', 'c', 'd'])
    all.push((await scene.sayAgain(event, said.notification, { draft: { target } })).id)
  const walked: string[] = []
  for (const page of [0, 1, 2]) {
    const { body } = await list(`transactionId=many&limit=2&page=${page}`)
    assert.deepEqual([body.totalCount, body.hasMore], [5, page < 2])
    walked.push(...ids(body))
  }
  assert.deepEqual(walked, all.sort().reverse())
})

test('contextKeys is the exact set in any order; given empty it finds messages without a context', async () => {
  const said = (contextKeys: string[] | null, channel: 'in_app' | 'email' = 'in_app') =>
    scene.say('ctx', { draft: { channel }, event: { contextKeys }, message: { contextKeys } })
  const [both, one, mail, none] = [
    await said(['project:x', 'tenant:ctx']),
    await said(['tenant:ctx']),
    await said(['tenant:ctx'], 'email'),
    await said(null),
  ]
  assert.deepEqual(await found('contextKeys=tenant:ctx'), [mail.id, one.id])
  assert.deepEqual(await found('contextKeys=tenant:ctx&contextKeys=project:x'), [both.id])
  assert.deepEqual(await found('contextKeys[]=project:x&contextKeys[]=tenant:ctx&contextKeys[]=tenant:ctx'), [both.id])
  assert.deepEqual(await found('contextKeys=project:x'), [])
  assert.deepEqual(await found('contextKeys=tenant:ctx&channel=email'), [mail.id])
  assert.deepEqual(await found('contextKeys=tenant:ctx&subscriberId=dora'), [])
  assert.deepEqual(await found('contextKeys=tenant:ctx&subscriberId=ctx&channel=in_app'), [one.id])
  assert.deepEqual(await found('contextKeys=&subscriberId=ctx'), [none.id])
  assert.deepEqual(await found(`contextKeys=tenant:ctx&transactionId=${one.eventId}&transactionId=${none.eventId}`), [
    one.id,
  ])
})

test('a context key without a colon, an unknown channel and limits out of range are 422 and named', async () => {
  const bad: Record<string, string> = {
    'contextKeys=acme': 'contextKeys',
    'contextKeys=:acme': 'contextKeys',
    'contextKeys=tenant:': 'contextKeys',
    'channel=carrier-pigeon': 'channel',
    'limit=0': 'limit',
    'limit=1001': 'limit',
    'limit=many': 'limit',
    'page=-1': 'page',
    [`subscriberId=${'x'.repeat(256)}`]: 'subscriberId',
    'subscriberId=%00': 'subscriberId',
    'transactionId=%00': 'transactionId',
  }
  for (const [query, field] of Object.entries(bad)) {
    const reply = await list(query)
    assert.equal(reply.status, 422, query)
    assert.deepEqual(Object.keys(reply.body.errors), [field], query)
  }
  const tooMany = Array.from({ length: 101 }, (_, index) => `transactionId=t${index}`).join('&')
  assert.equal((await list(tooMany)).status, 422)
  assert.equal((await list('limit=1000')).status, 200)
})

test('without a filter all channels stand in one order, newest first, over pages', async () => {
  const channels = ['in_app', 'email', 'sms', 'chat', 'push'] as const
  const newest: string[] = []
  for (const channel of [...channels, ...channels])
    newest.unshift((await scene.say('pages', { draft: { channel } })).id)
  assert.deepEqual(ids((await list('limit=10')).body), newest)
  const walked: string[] = []
  for (const page of [0, 1, 2, 3]) walked.push(...ids((await list(`limit=3&page=${page}`)).body))
  assert.deepEqual(walked.slice(0, 10), newest)
  const { body } = await list('limit=1000')
  assert.equal(body.totalCount, body.data.length)
  assert.equal(body.hasMore, false)
})

test('a message before its first outcome is in no list, nor one of another environment', async () => {
  const waiting = await scene.say('eve', { message: { status: null, state: 'calling' } })
  assert.ok(!ids((await list('limit=1000')).body).includes(waiting.id))
  assert.deepEqual((await list('limit=1000', { key: app.productionKey })).body.data, [])
})

test('a workflow that was changed or deleted since is shown as it was, and as deleted', async () => {
  const old = await scene.scene.addWorkflow('changed', [stepOf('in_app')], { name: 'Before' })
  const said = await scene.say('eve', { workflow: old })
  await scene.scene.addWorkflow('changed', [stepOf('email')], { name: 'After' }, old)
  await app.database.db.run(
    sql`update workflows set deleted_at = ${app.world.now()}, deleted_by = 'key-1' where id = ${old.id}`,
  )
  const { body } = await list(`transactionId=${said.eventId}`)
  const [{ template }] = body.data
  assert.deepEqual([template.name, template.steps[0].template.type], ['Before', 'in_app'])
  assert.deepEqual(
    [template.deleted, template.deletedAt, template.deletedBy],
    [true, app.world.now().toISOString(), 'key-1'],
  )
})

test('the messages of a deleted subscriber stay, without the person', async () => {
  const said = await scene.say('gone')
  await app.call('DELETE', '/v2/subscribers/gone')
  const { body } = await list(`transactionId=${said.eventId}`)
  assert.equal(body.data[0]._id, said.id)
  assert.equal('subscriber' in body.data[0], false)
  assert.deepEqual(await found('subscriberId=gone'), [])
})

test('a key that may only read sees which channels someone has, not their credentials', async () => {
  const said = await scene.say('secret')
  await app.call('PUT', '/v1/subscribers/secret/credentials', {
    body: { providerId: 'fcm', credentials: { deviceTokens: ['secret-token'] } },
  })
  const made = await app.call('POST', '/v1/environments/api-keys', { body: { name: 'reader', scopes: ['read'] } })
  assert.equal(made.status, 201)
  const reply = await list(`transactionId=${said.eventId}`, { key: made.body.key })
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(reply.body.data[0].subscriber.channels[0].credentials, {})
  assert.equal(reply.text.includes('secret-token'), false)
  assert.equal((await app.call('DELETE', `/v1/messages/${said.id}`, { key: made.body.key })).status, 403)
})

test('a message keeps the identifier that its workflow had when it was triggered', async () => {
  const steps = [stepOf('in_app')]
  const before = await scene.scene.addWorkflow('maiden-name', steps)
  await scene.say('late', { workflow: before, event: { transactionId: 'before' } })
  const renamed = await scene.scene.addWorkflow('married-name', steps, {}, before)
  await scene.say('late', { workflow: renamed, event: { transactionId: 'renamed' } })
  for (const [transactionId, name] of [
    ['before', 'maiden-name'],
    ['renamed', 'married-name'],
  ]) {
    const [message] = (await list(`transactionId=${transactionId}`)).body.data
    assert.deepEqual([message.templateIdentifier, message.template.triggers[0].identifier], [name, name])
    assert.equal('identifier' in message.template, false)
  }
})

test('a page whose payloads would fill the memory is refused with advice; a hundred messages of one event never do', async () => {
  const payload = { text: 'x'.repeat(520_000) }
  const said = await scene.say('many', { event: { transactionId: 'heavy', payload } })
  const event = { id: said.eventId, transactionId: 'heavy' }
  for (let target = 0; target < 139; target += 1)
    await scene.sayAgain(event, said.notification, { draft: { target: `t${target}` } })
  const heavy = await list('transactionId=heavy&limit=140')
  assert.equal(heavy.status, 422)
  assert.match(heavy.body.errors.limit.messages[0], /smaller/)
  assert.equal((await list('transactionId=heavy&limit=100')).status, 200)
})
