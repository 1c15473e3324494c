// Workflows over the API: create, read, replace, change, switch on and off, delete.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { condition, create, delay, digest, email, inApp, refusals, refused } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

test('a workflow is answered in the shape of the interface', async () => {
  const environment = await environmentOf(app)
  const reply = await app.call('POST', '/v1/workflows', {
    body: {
      name: 'Order shipped',
      workflowId: 'order-shipped',
      description: 'To the customer',
      tags: ['orders', 'shipping', 'orders'],
      active: true,
      critical: true,
      preferenceSettings: { sms: false },
      severity: 'high',
      payloadSchema: { type: 'object', required: ['orderId'] },
      data: { team: 'logistics' },
      steps: [inApp('Order {{ payload.orderId }}'), delay(), email('Hello {{ subscriber.lastName }}')],
      unknown: 'is ignored',
    },
  })
  assert.equal(reply.status, 201, reply.text)
  const { steps, _id, _creatorId, notificationGroup, triggers, workflowIntegrationStatus, ...rest } = reply.body
  assert.equal(steps.length, 3)
  assert.match(_id, /^[0-9a-f-]{36}$/)
  assert.match(_creatorId, /^[0-9a-f-]{36}$/)
  assert.deepEqual(notificationGroup, {
    _id: rest._notificationGroupId,
    name: 'General',
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
  })
  assert.equal(triggers.length, 1)
  assert.equal(triggers[0].type, 'event')
  assert.equal(triggers[0].identifier, 'order-shipped')
  assert.ok(
    triggers[0].variables.some(({ name }: { name: string }) => name === 'orderId'),
    JSON.stringify(triggers),
  )
  assert.ok(
    triggers[0].subscriberVariables.some(({ name }: { name: string }) => name === 'lastName'),
    JSON.stringify(triggers),
  )
  assert.deepEqual(workflowIntegrationStatus, {
    hasActiveIntegrations: true,
    channels: {
      in_app: { hasActiveIntegrations: true },
      email: { hasActiveIntegrations: true, hasPrimaryIntegrations: true },
    },
  })
  assert.deepEqual(rest, {
    name: 'Order shipped',
    description: 'To the customer',
    tags: ['orders', 'shipping'],
    active: true,
    draft: false,
    critical: true,
    preferenceSettings: { in_app: true, email: true, sms: false, chat: true, push: true },
    severity: 'high',
    payloadSchema: { type: 'object', required: ['orderId'] },
    data: { team: 'logistics' },
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    _notificationGroupId: rest._notificationGroupId,
    deleted: false,
    deletedAt: '',
    deletedBy: '',
    createdAt: app.world.now().toISOString(),
    updatedAt: app.world.now().toISOString(),
  })
})

test('what is not said has its default', async () => {
  const made = await create(app, { name: 'Bare' })
  assert.equal(made.active, false)
  assert.equal(made.draft, true)
  assert.equal(made.description, '')
  assert.deepEqual(made.tags, [])
  assert.equal(made.critical, false)
  assert.equal(made.severity, 'none')
  assert.deepEqual(made.steps, [])
  assert.deepEqual(made.preferenceSettings, { in_app: true, email: true, sms: true, chat: true, push: true })
  assert.equal('payloadSchema' in made || 'data' in made, false)
})

test('everything a step can say is stored and answered', async () => {
  await app.call('POST', '/v1/feeds', { body: { name: 'Orders', identifier: 'orders' } })
  const blocks = [
    { type: 'text', content: 'Hello', styles: { textAlign: 'center' } },
    { type: 'button', content: 'Open', url: 'https://example.com/{{ payload.id }}' },
  ]
  const templates = [
    {
      type: 'email',
      subject: 'Hello',
      contentType: 'editor',
      content: blocks,
      preheader: 'In short',
      senderName: 'Shop',
      layoutId: null,
      name: 'The e-mail',
      variables: [{ name: 'id', type: 'String', required: true, defaultValue: '5' }],
    },
    {
      type: 'in_app',
      content: 'Hello',
      subject: 'A subject',
      title: 'A title',
      cta: {
        type: 'redirect',
        data: { url: '/orders/{{ payload.id }}' },
        action: { status: 'pending', buttons: [{ type: 'primary', content: 'Accept', resultContent: 'Accepted' }] },
      },
      actor: { type: 'user', data: null },
      feedId: 'orders',
      data: { nested: { list: [1, 'two', null] } },
    },
  ]
  const metadata = {
    type: 'timed',
    amount: 1,
    unit: 'months',
    digestKey: 'order.id',
    timed: { atTime: '09:30', monthlyType: 'each', monthDays: [1, '15'] },
  }
  const made = await create(app, {
    name: 'Everything',
    steps: [
      {
        ...email(),
        template: templates[0],
        name: 'Mail',
        shouldStopOnFail: true,
        active: false,
        filters: [condition('{{ payload.wanted }}')],
        replyCallback: { active: true, url: 'https://example.com/reply' },
      },
      digest({ metadata }),
      { ...inApp(), template: templates[1], variants: [inApp('Another', { filters: [condition('team')] })] },
    ],
  })
  const read = await app.call('GET', `/v1/workflows/${made._id}`)
  assert.deepEqual(read.body, made)
  const [mail, digesting, reported] = made.steps
  assert.deepEqual(mail.template, templates[0])
  assert.deepEqual([mail.name, mail.shouldStopOnFail, mail.active], ['Mail', true, false])
  assert.deepEqual(mail.filters, [condition('{{ payload.wanted }}')])
  assert.deepEqual(mail.replyCallback, { active: true, url: 'https://example.com/reply' })
  assert.deepEqual(digesting.metadata, { ...metadata, timed: { ...metadata.timed, monthDays: ['1', '15'] } })
  assert.deepEqual(reported.template, templates[1])
  assert.equal(reported.variants[0].template.content, 'Another')
  assert.deepEqual(reported.variants[0].filters, [condition('team')])
})

test('an identifier is a slug of the name when none is given, and another one when that is taken', async () => {
  assert.equal((await create(app, { name: 'Größe & mehr' })).triggers[0].identifier, 'grosse-mehr')
  assert.match((await create(app, { name: 'Größe & mehr' })).triggers[0].identifier, /^grosse-mehr-[0-9a-f]{8}$/)
  assert.equal((await create(app, { name: '通知' })).triggers[0].identifier, 'workflow')
})

test('an identifier is taken once, at creation and at a change', async () => {
  const first = await create(app, { name: 'First', workflowId: 'taken' })
  const other = await create(app, { name: 'Other', workflowId: 'other' })
  const again = await app.call('POST', '/v1/workflows', { body: { name: 'x', workflowId: 'taken' } })
  assert.equal(again.status, 409)
  assert.match(again.body.message, /taken/)
  for (const body of [{ workflowId: 'taken' }, { identifier: 'taken' }]) {
    assert.equal((await app.call('PATCH', `/v1/workflows/${other._id}`, { body })).status, 409)
  }
  const put = { name: 'Other', steps: [], identifier: 'taken' }
  assert.equal((await app.call('PUT', `/v1/workflows/${other._id}`, { body: put })).status, 409)
  const own = await app.call('PATCH', `/v1/workflows/${first._id}`, { body: { workflowId: 'taken' } })
  assert.equal(own.status, 200)
})

test('an identifier has letters, digits and four signs', async () => {
  const made = await create(app, { name: 'x', workflowId: 'Aa0_-.:' })
  assert.equal((await app.call('GET', '/v1/workflows/Aa0_-.:')).body._id, made._id)
  const long = 'a'.repeat(255)
  assert.equal((await create(app, { name: 'x', workflowId: long })).triggers[0].identifier, long)
  assert.equal((await app.call('GET', `/v1/workflows/${long}`)).status, 200)
  for (const workflowId of ['', 'a b', 'a/b', 'ä', 'a'.repeat(256), 5, null]) {
    const errors = await refused(app, { name: 'x', workflowId })
    assert.deepEqual(Object.keys(errors), ['workflowId'], String(workflowId))
  }
})

test('a workflow is found by its id and by its identifier', async () => {
  const made = await create(app, { name: 'Found', workflowId: 'found-by' })
  assert.deepEqual((await app.call('GET', `/v1/workflows/${made._id}`)).body, made)
  assert.deepEqual((await app.call('GET', '/v1/workflows/found-by')).body, made)
  assert.equal((await app.call('GET', '/v1/workflows/nobody')).status, 404)
  const namedSo = await create(app, { name: 'Named so', workflowId: '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21' })
  const read = await app.call('GET', '/v1/workflows/019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21')
  assert.equal(read.body._id, namedSo._id)
})

test('a replacement replaces the definition; identifier, group and status stay unless given', async () => {
  const group = (await app.call('POST', '/v1/notification-groups', { body: { name: 'Replaced' } })).body
  const made = await create(app, {
    name: 'Before',
    workflowId: 'replaced',
    description: 'x',
    tags: ['a'],
    active: true,
    critical: true,
    severity: 'low',
    preferenceSettings: { email: false },
    data: { a: 1 },
    payloadSchema: {},
    notificationGroupId: group._id,
    steps: [inApp()],
  })
  app.world.advance(1000)
  const reply = await app.call('PUT', '/v1/workflows/replaced', { body: { name: 'After', steps: [email()] } })
  assert.equal(reply.status, 200, reply.text)
  const { body } = reply
  assert.deepEqual(
    [body._id, body.name, body.description, body.tags, body.critical, body.severity],
    [made._id, 'After', '', [], false, 'none'],
  )
  assert.equal('data' in body || 'payloadSchema' in body, false)
  assert.equal(body.preferenceSettings.email, true)
  assert.deepEqual([body.active, body._notificationGroupId], [true, group._id])
  assert.equal(body.triggers[0].identifier, 'replaced')
  assert.equal(body.steps[0].template.type, 'email')
  assert.equal(body.createdAt, made.createdAt)
  assert.equal(body.updatedAt, app.world.now().toISOString())
  assert.deepEqual(Object.keys(refusals(await app.call('PUT', '/v1/workflows/replaced', { body: {} }))).sort(), [
    'name',
    'steps',
  ])
})

test('a change leaves what it does not name, and null clears', async () => {
  const made = await create(app, {
    name: 'Partly',
    workflowId: 'partly',
    description: 'x',
    tags: ['a'],
    data: { a: 1 },
    payloadSchema: {},
    preferenceSettings: { email: false },
    steps: [inApp()],
  })
  const renamed = await app.call('PATCH', '/v1/workflows/partly', {
    body: { name: 'Renamed', preferenceSettings: { sms: false } },
  })
  assert.equal(renamed.status, 200, renamed.text)
  assert.deepEqual(
    { ...renamed.body, name: made.name, preferenceSettings: made.preferenceSettings },
    { ...made, updatedAt: renamed.body.updatedAt },
  )
  assert.deepEqual(
    [renamed.body.name, renamed.body.preferenceSettings.email, renamed.body.preferenceSettings.sms],
    ['Renamed', false, false],
  )
  const body = { description: null, data: null, payloadSchema: null, identifier: 'partly-2' }
  const cleared = (await app.call('PATCH', '/v1/workflows/partly', { body })).body
  assert.equal(cleared.description, '')
  assert.equal('data' in cleared || 'payloadSchema' in cleared, false)
  assert.equal((await app.call('GET', '/v1/workflows/partly')).status, 404)
  assert.equal((await app.call('GET', '/v1/workflows/partly-2')).status, 200)
  const both = { workflowId: 'one', identifier: 'two' }
  assert.deepEqual(Object.keys(refusals(await app.call('PATCH', '/v1/workflows/partly-2', { body: both }))), [
    'identifier',
  ])
})

test('what an answer says can be sent back as a replacement, and changes nothing', async () => {
  const made = await create(app, {
    name: 'Round trip',
    active: true,
    data: { a: 1 },
    steps: [inApp('x', { variants: [inApp('y', { filters: [condition('a')] })] }), digest(), email()],
  })
  app.world.advance(1000)
  const back = await app.call('PUT', `/v1/workflows/${made._id}`, { body: made })
  assert.equal(back.status, 200, back.text)
  assert.deepEqual(back.body, made)
})

test('the status is switched on and off', async () => {
  await create(app, { name: 'Switched', workflowId: 'switched' })
  for (const active of [true, false]) {
    const reply = await app.call('PUT', '/v1/workflows/switched/status', { body: { active } })
    assert.equal(reply.status, 200)
    assert.deepEqual([reply.body.active, reply.body.draft], [active, !active])
  }
  assert.deepEqual(Object.keys(refusals(await app.call('PUT', '/v1/workflows/switched/status', { body: {} }))), [
    'active',
  ])
  assert.equal((await app.call('PUT', '/v1/workflows/nobody/status', { body: { active: true } })).status, 404)
})

test('a deleted workflow is gone, and its identifier is free', async () => {
  const made = await create(app, { name: 'Gone', workflowId: 'gone' })
  const reply = await app.call('DELETE', '/v1/workflows/gone')
  assert.equal(reply.status, 200)
  assert.equal(reply.body, true)
  for (const id of ['gone', made._id]) {
    assert.equal((await app.call('GET', `/v1/workflows/${id}`)).status, 404)
    assert.equal((await app.call('PATCH', `/v1/workflows/${id}`, { body: { name: 'x' } })).status, 404)
    assert.equal((await app.call('PUT', `/v1/workflows/${id}`, { body: { name: 'x', steps: [] } })).status, 404)
    assert.equal((await app.call('DELETE', `/v1/workflows/${id}`)).status, 404)
  }
  const again = await create(app, { name: 'Back', workflowId: 'gone' })
  assert.notEqual(again._id, made._id)
  assert.equal((await app.call('GET', '/v1/workflows/gone')).body.name, 'Back')
})

test('another environment sees and touches nothing, and may use the same identifier', async () => {
  const key = app.productionKey
  const made = await create(app, { name: 'Mine', workflowId: 'mine' })
  for (const id of ['mine', made._id]) {
    assert.equal((await app.call('GET', `/v1/workflows/${id}`, { key })).status, 404)
    assert.equal((await app.call('PATCH', `/v1/workflows/${id}`, { key, body: { name: 'x' } })).status, 404)
    assert.equal((await app.call('PUT', `/v1/workflows/${id}/status`, { key, body: { active: true } })).status, 404)
    assert.equal((await app.call('DELETE', `/v1/workflows/${id}`, { key })).status, 404)
  }
  assert.deepEqual((await app.call('GET', '/v1/workflows', { key })).body.data, [])
  assert.equal((await app.call('POST', '/v1/workflows', { key, body: { name: 'x', workflowId: 'mine' } })).status, 201)
  assert.equal((await app.call('GET', '/v1/workflows/mine')).body.name, 'Mine')
})

test('only a full key changes workflows; a read key reads them', async () => {
  const keyOf = async (scope: string): Promise<string> => {
    const reply = await app.call('POST', '/v1/environments/api-keys', { body: { name: scope, scopes: [scope] } })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.key
  }
  const key = await keyOf('read')
  assert.equal((await app.call('GET', '/v1/workflows', { key })).status, 200)
  assert.equal((await app.call('POST', '/v1/workflows', { key, body: { name: 'x' } })).status, 403)
  assert.equal((await app.call('DELETE', '/v1/workflows/mine', { key })).status, 403)
  const trigger = await keyOf('trigger')
  assert.equal((await app.call('GET', '/v1/workflows', { key: trigger })).status, 403)
})

test('a repeat with the same idempotency key gets the first answer and makes no second workflow', async () => {
  const headers = { 'idempotency-key': 'make-once' }
  const body = { name: 'Made once', steps: [inApp()] }
  const first = await app.call('POST', '/v1/workflows', { headers, body })
  const second = await app.call('POST', '/v1/workflows', { headers, body })
  assert.equal(second.headers['idempotency-replay'], 'true')
  assert.deepEqual(second.body, first.body)
  const list = await app.call('GET', '/v1/workflows?query=Made%20once')
  assert.equal(list.body.totalCount, 1)
  const removed = { headers: { 'idempotency-key': 'remove-once' } }
  const path = `/v1/workflows/${first.body._id}`
  assert.equal((await app.call('DELETE', path, removed)).body, true)
  const repeat = await app.call('DELETE', path, removed)
  assert.equal(repeat.status, 200)
  assert.equal(repeat.body, true)
})
