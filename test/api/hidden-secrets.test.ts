// Secrets of integrations: who reads them is written down, and where the operator says so no one does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let open: TestApp
let closed: TestApp
before(async () => {
  open = await createTestApp()
  closed = await createTestApp({ nodeOf: open, revealSecrets: 'off' })
})
after(async () => {
  await closed.close()
  await open.close()
})

const account = { apiKey: 'hush-key', from: 'hello@example.com', senderName: 'Hello' }
const integration = {
  providerId: 'sendgrid',
  channel: 'email',
  active: true,
  check: false,
  credentials: account,
  configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'hush-signing' },
}

async function made(app: TestApp): Promise<Json> {
  const { status, body } = await app.call('POST', '/v1/integrations', { body: integration })
  assert.equal(status, 201)
  return body
}

test('where secrets are hidden, no answer shows one', async () => {
  const { _id } = await made(closed)
  const answers = [
    await closed.call('POST', '/v1/integrations', { body: integration }),
    await closed.call('GET', '/v1/integrations'),
    await closed.call('GET', '/v1/integrations/active'),
    await closed.call('GET', `/v1/integrations/${_id}`),
    await closed.call('PUT', `/v1/integrations/${_id}`, { body: { name: 'Renamed' } }),
    await closed.call('POST', `/v1/integrations/${_id}/set-primary`),
    await closed.call('DELETE', `/v1/integrations/${(await made(closed))._id}`),
  ]
  for (const { status, text } of answers) {
    assert.ok(status < 300, text)
    assert.doesNotMatch(text, /hush/)
  }
  const { credentials, configurations } = answers[3]?.body ?? {}
  assert.deepEqual(credentials, { ...account, apiKey: '[hidden]' })
  assert.equal(configurations.inboundWebhookSigningKey, '[hidden]')
})

test('saving what was hidden keeps what is stored; something else replaces it', async () => {
  const { _id } = await made(closed)
  const path = `/v1/integrations/${_id}`
  const { credentials, configurations } = (await closed.call('GET', path)).body
  const saved = await closed.call('PUT', path, {
    body: { credentials: { ...credentials, senderName: 'Other' }, configurations },
  })
  assert.equal(saved.status, 200)
  const inClear = async (): Promise<Json> => (await open.call('GET', path)).body
  assert.deepEqual((await inClear()).credentials, { ...account, senderName: 'Other' })
  assert.equal((await inClear()).configurations.inboundWebhookSigningKey, 'hush-signing')
  await closed.call('PUT', path, { body: { credentials: { ...credentials, apiKey: 'hush-new' } } })
  assert.equal((await inClear()).credentials.apiKey, 'hush-new')
  // There is nothing to keep where nothing is stored.
  const created = await closed.call('POST', '/v1/integrations', { body: { ...integration, credentials } })
  assert.equal(created.status, 422)
})

test('each key’s first look at an integration in an hour is in the audit log', async () => {
  const { _id } = await made(open)
  const looks = async (): Promise<Json[]> =>
    (await open.call('GET', `/v1/audit?resourceId=${_id}&action=read`)).body.data
  const look = (app: TestApp, key?: string) =>
    app.call('GET', `/v1/integrations/${_id}`, key === undefined ? {} : { key })
  assert.deepEqual(await looks(), [])
  const again = await createTestApp({ nodeOf: open })
  try {
    for (const app of [open, open, again]) await look(app)
    assert.equal((await looks()).length, 1)
    const { body } = await open.call('POST', '/v1/environments/api-keys', { body: { name: 'second' } })
    await look(open, body.key)
    assert.equal((await looks()).length, 2)
    open.world.advance(60 * 60_000)
    // A change that changes nothing shows as much.
    await open.call('PUT', `/v1/integrations/${_id}`, { body: {} })
    assert.equal((await looks()).length, 3)
  } finally {
    await again.close()
  }
  const [entry] = await looks()
  assert.deepEqual([entry?.action, entry?.before, entry?.after], ['read', null, { secrets: 'read' }])
  // Who sees none reads none.
  const { body } = await open.call('POST', '/v1/environments/api-keys', { body: { name: 'r', scopes: ['read'] } })
  await look(open, body.key)
  assert.equal((await looks()).length, 3)
})

test('a hidden secret is not sent to another place than it was given for', async () => {
  const { _id } = await made(closed)
  const path = `/v1/integrations/${_id}`
  const { credentials } = (await closed.call('GET', path)).body
  let asked = 0
  closed.world.fetch = async () => {
    asked += 1
    throw new Error('nothing may be asked')
  }
  for (const more of [{ baseUrl: 'https://elsewhere.example' }, { host: 'elsewhere.example' }, { ignoreTls: true }]) {
    const { status, body } = await closed.call('PUT', path, {
      body: { credentials: { ...credentials, ...more }, check: true },
    })
    assert.equal(status, 422)
    assert.deepEqual(Object.keys(body.errors), [`credentials.${Object.keys(more)[0]}`])
  }
  assert.equal(asked, 0)
  const whole = { ...credentials, apiKey: 'hush-again', baseUrl: 'https://elsewhere.example' }
  assert.equal((await closed.call('PUT', path, { body: { credentials: whole, check: false } })).status, 200)
})

test('hidden values of any type are saved as they were', async () => {
  const tlsOptions = { rejectUnauthorized: false, ca: 'hush-certificate' }
  const smtp = { host: 'mail.example.com', port: '465', secure: true, user: 'u', password: 'hush-word', tlsOptions }
  const { body } = await closed.call('POST', '/v1/integrations', {
    body: { providerId: 'nodemailer', channel: 'email', check: false, credentials: { ...smtp, ...sender } },
  })
  const path = `/v1/integrations/${body._id}`
  const { credentials } = (await closed.call('GET', path)).body
  assert.deepEqual(credentials.tlsOptions, { hidden: '[hidden]' })
  assert.equal(credentials.secure, true)
  const saved = await closed.call('PUT', path, { body: { credentials: { ...credentials, senderName: 'Other' } } })
  assert.equal(saved.status, 200)
  assert.deepEqual((await open.call('GET', path)).body.credentials, { ...smtp, ...sender, senderName: 'Other' })
})

const sender = { from: 'hello@example.com', senderName: 'Hello' }

test('the mark of a hidden secret is no one’s secret', async () => {
  const configurations = { inboundWebhookEnabled: true, inboundWebhookSigningKey: '[hidden]' }
  const { status, body } = await closed.call('POST', '/v1/integrations', { body: { ...integration, configurations } })
  assert.equal(status, 422)
  assert.deepEqual(Object.keys(body.errors), ['configurations.inboundWebhookSigningKey'])
})
