// Integrations over the API: create, read, change, delete.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { createIntegration, sendgridBody } from '../support/integration-scene.ts'

const path = '/v1/integrations'
const unknownId = '01890000-0000-7000-8000-000000000000'
let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

test('a new environment holds its built-in integrations, in the shape of the interface', async () => {
  const { status, body } = await app.call('GET', path)
  assert.equal(status, 200)
  assert.deepEqual(
    body.map((item: { providerId: string }) => item.providerId),
    ['platform', 'platform-email', 'platform-sms'],
  )
  const [inApp] = body
  const { _id, _environmentId, _organizationId, createdAt, updatedAt, name, ...rest } = inApp
  assert.match(_id, /^[0-9a-f-]{36}$/)
  assert.match(_environmentId, /^[0-9a-f-]{36}$/)
  assert.match(_organizationId, /^[0-9a-f-]{36}$/)
  assert.equal(new Date(createdAt).toISOString(), createdAt)
  assert.equal(new Date(updatedAt).toISOString(), updatedAt)
  assert.equal(typeof name, 'string')
  assert.deepEqual(rest, {
    identifier: 'platform',
    providerId: 'platform',
    channel: 'in_app',
    credentials: {},
    active: true,
    deleted: false,
    primary: false,
    conditions: [],
  })
})

test('an integration is created inactive and incomplete, with a name and an identifier made for it', async () => {
  const created = await createIntegration(app, { providerId: 'sendgrid', channel: 'email' })
  assert.equal(created.name, 'SendGrid')
  assert.match(created.identifier, /^sendgrid-[0-9a-f]{8}$/)
  assert.equal(created.active, false)
  assert.equal(created.primary, false)
  assert.deepEqual(created.credentials, {})
  assert.deepEqual(created.conditions, [])
  assert.equal('configurations' in created, false)
  assert.equal('deletedAt' in created, false)
  assert.deepEqual((await app.call('GET', `${path}/${created._id}`)).body, created)
  const named = await createIntegration(app, { providerId: 'sendgrid', channel: 'email', name: 'Müll & Co' })
  assert.match(named.identifier, /^mull-co-[0-9a-f]{8}$/)
})

test('credentials, conditions and configurations are kept, and members no one knows are dropped', async () => {
  const conditions = [
    {
      isNegated: false,
      type: 'GROUP',
      value: 'OR',
      children: [{ field: 'a', value: 'b', operator: 'EQUAL', on: 'payload' }],
    },
  ]
  const configurations = { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'sign', retry: { attempts: 3 } }
  const created = await createIntegration(app, {
    providerId: 'nodemailer',
    channel: 'email',
    credentials: { host: 'h', secure: true, tlsOptions: { rejectUnauthorized: false }, madeUp: 'x' },
    conditions,
    configurations: { ...configurations, madeUp: 1 },
    madeUp: true,
  })
  assert.deepEqual(created.credentials, { host: 'h', secure: true, tlsOptions: { rejectUnauthorized: false } })
  assert.deepEqual(created.conditions, conditions)
  assert.deepEqual(created.configurations, configurations)
})

test('an active integration must be complete and well-formed: every field that is not is named, without its value', async () => {
  const reply = await app.call('POST', path, {
    body: {
      providerId: 'nodemailer',
      channel: 'email',
      active: true,
      credentials: { port: 'hunter2', from: 'hunter2' },
    },
  })
  assert.equal(reply.status, 422)
  assert.deepEqual(Object.keys(reply.body.errors).sort(), ['credentials.from', 'credentials.host', 'credentials.port'])
  assert.doesNotMatch(reply.text, /hunter2/)
  const inactive = await createIntegration(app, {
    providerId: 'nodemailer',
    channel: 'email',
    credentials: { port: 'x' },
  })
  const activated = await app.call('PUT', `${path}/${inactive._id}`, { body: { active: true } })
  assert.equal(activated.status, 422)
  assert.deepEqual(Object.keys(activated.body.errors).sort(), [
    'credentials.from',
    'credentials.host',
    'credentials.port',
  ])
  assert.equal((await app.call('GET', `${path}/${inactive._id}`)).body.active, false)
})

test('an active integration cannot be made incomplete', async () => {
  const created = await createIntegration(app, { ...sendgridBody, active: true })
  const reply = await app.call('PUT', `${path}/${created._id}`, {
    body: { credentials: { from: 'hello@example.com' } },
  })
  assert.equal(reply.status, 422)
  assert.deepEqual(Object.keys(reply.body.errors), ['credentials.apiKey'])
})

test('types are checked also while inactive, and secrets of the wrong type are not repeated', async () => {
  const reply = await app.call('POST', path, {
    body: {
      providerId: 'sendgrid',
      channel: 'email',
      credentials: { apiKey: 123456789, secure: 'yes', tlsOptions: 'x' },
      configurations: { inboundWebhookEnabled: 'yes', inboundWebhookSigningKey: 987654321, retry: 5 },
      active: 'yes',
      _environmentId: 'not-a-uuid',
    },
  })
  assert.equal(reply.status, 422)
  assert.deepEqual(Object.keys(reply.body.errors).sort(), [
    '_environmentId',
    'active',
    'configurations.inboundWebhookEnabled',
    'configurations.inboundWebhookSigningKey',
    'configurations.retry',
    'credentials.apiKey',
    'credentials.secure',
    'credentials.tlsOptions',
  ])
  assert.doesNotMatch(reply.text, /123456789|987654321/)
})

test('conditions are checked down to the last member', async () => {
  const conditions = [
    {
      isNegated: 'no',
      type: 'SOME',
      value: 'XOR',
      children: [{ field: 5, value: 5, operator: 'SAME', on: 'moon' }, {}],
    },
    'x',
  ]
  const reply = await app.call('POST', path, { body: { providerId: 'sendgrid', channel: 'email', conditions } })
  assert.equal(reply.status, 422)
  assert.deepEqual(Object.keys(reply.body.errors).sort(), [
    'conditions.0.children.0.field',
    'conditions.0.children.0.on',
    'conditions.0.children.0.operator',
    'conditions.0.children.0.value',
    'conditions.0.children.1.field',
    'conditions.0.children.1.on',
    'conditions.0.children.1.operator',
    'conditions.0.children.1.value',
    'conditions.0.isNegated',
    'conditions.0.type',
    'conditions.0.value',
    'conditions.1',
  ])
})

test('an unknown provider, or one of another channel, is refused naming the nearest', async () => {
  const slip = await app.call('POST', path, { body: { providerId: 'sendgird', channel: 'email' } })
  assert.equal(slip.status, 422)
  assert.match(slip.body.errors.providerId.messages[0], /sendgrid/)
  const other = await app.call('POST', path, { body: { providerId: 'twilio', channel: 'email' } })
  assert.equal(other.status, 422)
  assert.match(other.body.errors.providerId.messages[0], /channel sms/)
  const missing = await app.call('POST', path, { body: { channel: 'fax' } })
  assert.deepEqual(Object.keys(missing.body.errors).sort(), ['channel', 'providerId'])
})

test('an identifier is taken once, by deleted integrations too, at creation and at a change', async () => {
  const first = await createIntegration(app, { ...sendgridBody, identifier: 'taken' })
  const second = await createIntegration(app, { ...sendgridBody, identifier: 'free' })
  const refused = 'Integration with identifier already exists'
  const again = await app.call('POST', path, { body: { ...sendgridBody, identifier: 'taken' } })
  assert.deepEqual([again.status, again.body.message], [409, refused])
  await app.call('DELETE', `${path}/${first._id}`)
  assert.equal((await app.call('POST', path, { body: { ...sendgridBody, identifier: 'taken' } })).status, 409)
  const renamed = await app.call('PUT', `${path}/${second._id}`, { body: { identifier: 'taken' } })
  assert.deepEqual([renamed.status, renamed.body.message], [409, refused])
  assert.equal((await app.call('PUT', `${path}/${second._id}`, { body: { identifier: 'free' } })).status, 200)
  assert.equal(
    (await app.call('POST', path, { body: { ...sendgridBody, identifier: 'taken' }, key: app.productionKey })).status,
    201,
  )
})

test('an environment holds one in-app integration and one of each of the other built-ins', async () => {
  const inApp = await app.call('POST', path, { body: { providerId: 'novu', channel: 'in_app' } })
  assert.deepEqual([inApp.status, inApp.body.message], [400, 'One environment can only have one In app provider'])
  assert.equal((await app.call('POST', path, { body: { providerId: 'platform-email', channel: 'email' } })).status, 409)
  assert.equal((await app.call('POST', path, { body: { providerId: 'novu-sms', channel: 'sms' } })).status, 409)
})

test('a built-in that was deleted can be made again, by either vendor’s word', async () => {
  const key = app.productionKey
  const { body: all } = await app.call('GET', path, { key })
  const { _id } = all.find((item: { providerId: string }) => item.providerId === 'platform-email')
  assert.equal((await app.call('DELETE', `${path}/${_id}`, { key })).status, 200)
  const made = await createIntegration(app, { providerId: 'novu-email', channel: 'email', active: true }, key)
  assert.equal(made.providerId, 'platform-email')
})

test('only the key’s own environment may be named', async () => {
  const own = (await app.call('GET', path)).body[0]._environmentId
  const other = (await app.call('GET', path, { key: app.productionKey })).body[0]._environmentId
  assert.equal((await app.call('POST', path, { body: { ...sendgridBody, _environmentId: other } })).status, 403)
  const created = await createIntegration(app, { ...sendgridBody, _environmentId: own })
  assert.equal((await app.call('PUT', `${path}/${created._id}`, { body: { _environmentId: other } })).status, 403)
  assert.equal((await app.call('PUT', `${path}/${created._id}`, { body: { _environmentId: own } })).status, 200)
  assert.equal((await app.call('PUT', `${path}/${created._id}`, { body: { _environmentId: 'x' } })).status, 422)
})

test('a change touches what is given and replaces credentials, conditions and configurations as a whole', async () => {
  const created = await createIntegration(app, {
    ...sendgridBody,
    name: 'Before',
    configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'k' },
  })
  app.world.advance(1000)
  const changed = await app.call('PUT', `${path}/${created._id}`, {
    body: { credentials: { apiKey: 'SG.other' }, configurations: { inboundWebhookEnabled: false } },
  })
  assert.equal(changed.status, 200)
  assert.deepEqual(changed.body, {
    ...created,
    credentials: { apiKey: 'SG.other' },
    configurations: { inboundWebhookEnabled: false },
    updatedAt: app.world.now().toISOString(),
  })
  const renamed = await app.call('PUT', `${path}/${created._id}`, { body: { name: 'After', identifier: 'after' } })
  assert.deepEqual(renamed.body, { ...changed.body, name: 'After', identifier: 'after' })
  assert.deepEqual((await app.call('GET', `${path}/${created._id}`)).body, renamed.body)
})

test('a change of nothing leaves it as it is, of something unknown is 404, and an invalid id 422', async () => {
  const created = await createIntegration(app, { ...sendgridBody, name: 'Kept' })
  const { _id } = created
  app.world.advance(1_000)
  for (const body of [{}, { name: '' }, { check: false }, { madeUp: 1 }]) {
    const reply = await app.call('PUT', `${path}/${_id}`, { body })
    assert.deepEqual([reply.status, reply.body], [200, created])
  }
  const passedOver = await app.call('PUT', `${path}/${_id}`, { body: { name: '', active: false } })
  assert.equal(passedOver.body.name, 'Kept')
  const unknown = await app.call('PUT', `${path}/${unknownId}`, { body: { name: 'x' } })
  assert.deepEqual([unknown.status, unknown.body.message], [404, `Entity with id ${unknownId} not found`])
  assert.equal((await app.call('PUT', `${path}/${unknownId}`, { body: { check: true } })).status, 404)
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const reply = await app.call(method, `${path}/nothing`, method === 'PUT' ? { body: { name: 'x' } } : {})
    assert.equal(reply.status, 422, method)
    assert.ok(reply.body.errors.integrationId)
  }
  assert.equal((await app.call('POST', `${path}/nothing/set-primary`)).status, 422)
})

test('a deleted integration is gone from every read, the rest is answered, and who deleted it is kept', async () => {
  const created = await createIntegration(app, { ...sendgridBody, active: true })
  const { body: before } = await app.call('GET', path)
  const reply = await app.call('DELETE', `${path}/${created._id.toUpperCase()}`)
  assert.equal(reply.status, 200)
  const ids = (items: { _id: string }[]): string[] => items.map((item) => item._id)
  assert.deepEqual(
    ids(reply.body),
    ids(before).filter((id) => id !== created._id),
  )
  for (const [method, suffix] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/set-primary'],
  ] as const) {
    const again = await app.call(method, `${path}/${created._id}${suffix}`)
    assert.deepEqual([again.status, again.body.message], [404, `Entity with id ${created._id} not found`])
  }
  assert.equal((await app.call('PUT', `${path}/${created._id}`, { body: { name: 'x' } })).status, 404)
  for (const list of [path, `${path}/active`]) {
    assert.equal(ids((await app.call('GET', list)).body).includes(created._id), false)
  }
  const row = await app.database.db.row<{ deleted_at: Date; known: boolean }>(sql`
    select deleted_at, exists (select 1 from api_keys k where k.id::text = deleted_by) as known
    from integrations where id = ${created._id}`)
  assert.equal(row?.deleted_at.toISOString(), app.world.now().toISOString())
  assert.equal(row?.known, true)
})

test('the list of active integrations leaves out the others', async () => {
  const active = await createIntegration(app, { ...sendgridBody, active: true })
  const inactive = await createIntegration(app, sendgridBody)
  const { body } = await app.call('GET', `${path}/active`)
  const ids = body.map((item: { _id: string }) => item._id)
  assert.equal(ids.includes(active._id), true)
  assert.equal(ids.includes(inactive._id), false)
})

test('another environment sees and touches nothing', async () => {
  const key = app.productionKey
  const mine = await createIntegration(app, sendgridBody)
  const at = `${path}/${mine._id}`
  assert.equal((await app.call('GET', at, { key })).status, 404)
  assert.equal((await app.call('PUT', at, { key, body: { name: 'x' } })).status, 404)
  assert.equal((await app.call('PUT', at, { key, body: { name: 'x', check: true } })).status, 404)
  assert.equal((await app.call('DELETE', at, { key })).status, 404)
  assert.equal((await app.call('POST', `${at}/set-primary`, { key })).status, 404)
  for (const list of [path, `${path}/active`]) {
    const { body } = await app.call('GET', list, { key })
    assert.equal(
      body.some((item: { _id: string }) => item._id === mine._id),
      false,
    )
  }
  assert.deepEqual((await app.call('GET', at)).body, mine)
})

test('a repeat with the same idempotency key makes nothing new and answers as before', async () => {
  const headers = { 'idempotency-key': 'create-once' }
  const first = await app.call('POST', path, { body: sendgridBody, headers })
  const second = await app.call('POST', path, { body: sendgridBody, headers })
  assert.equal(second.status, 201)
  assert.equal(second.headers['idempotency-replay'], 'true')
  assert.deepEqual(second.body, first.body)
  const deletion = { headers: { 'idempotency-key': 'delete-once' } }
  const gone = await app.call('DELETE', `${path}/${first.body._id}`, deletion)
  const again = await app.call('DELETE', `${path}/${first.body._id}`, deletion)
  assert.equal(again.status, 200)
  assert.deepEqual(again.body, gone.body)
})

test('with the vendor set to novu the built-in ids are written so', async () => {
  const novu = await createTestApp({ vendor: 'novu' })
  try {
    const { body } = await novu.call('GET', path)
    assert.deepEqual(
      body.map((item: { providerId: string }) => item.providerId),
      ['novu', 'novu-email', 'novu-sms'],
    )
    const catalogue = await novu.call('GET', '/v1/providers')
    assert.ok(catalogue.body.some((item: { providerId: string }) => item.providerId === 'novu-email'))
    assert.doesNotMatch(catalogue.text, /"platform-email"/)
  } finally {
    await novu.close()
  }
})
