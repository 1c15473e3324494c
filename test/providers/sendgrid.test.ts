// SendGrid: the check of an account on the wire, and what the API makes of it.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { after, before, test } from 'node:test'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { createIntegration, openNetwork, sendgridBody, startVendor } from '../support/integration-scene.ts'

const path = '/v1/integrations'
let app: TestApp
before(async () => {
  app = await createTestApp()
  openNetwork(app.world)
})
after(() => app.close())

const json = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

async function createChecked(t: TestContext, status: number, body: object): Promise<TestReply> {
  const baseUrl = await startVendor(t, (_request, response) => json(response, status, body))
  return app.call('POST', path, {
    body: { ...sendgridBody, check: true, credentials: { ...sendgridBody.credentials, baseUrl } },
  })
}

const count = async (): Promise<number> => (await app.call('GET', path)).body.length

test('the check asks for the key’s scopes and sends nothing', async (t) => {
  const asked: unknown[] = []
  const baseUrl = await startVendor(t, (request, response) => {
    asked.push([request.method, request.url, request.headers.authorization])
    json(response, 200, { scopes: ['mail.send', 'alerts.read'] })
  })
  const body = {
    ...sendgridBody,
    active: true,
    check: true,
    credentials: { ...sendgridBody.credentials, baseUrl: `${baseUrl}/` },
  }
  const created = await createIntegration(app, body)
  assert.equal(created.active, true)
  assert.deepEqual(asked, [['GET', '/v3/scopes', 'Bearer SG.top-secret']])
})

test('a refused key is 422 with SendGrid’s words, the key struck out, and nothing is stored', async (t) => {
  const before = await count()
  const message = 'The key SG.top-secret is invalid, expired or revoked'
  const reply = await createChecked(t, 401, { errors: [{ message, field: null }] })
  assert.equal(reply.status, 422)
  assert.deepEqual(reply.body.errors, {
    'credentials.apiKey': { messages: ['SendGrid answered 401: The key [redacted] is invalid, expired or revoked'] },
  })
  assert.equal(await count(), before)
  assert.doesNotMatch(JSON.stringify(app.world.logged), /top-secret/)
})

test('a key that may not send is refused, one that may not report its scopes is not', async (t) => {
  const narrow = await createChecked(t, 200, { scopes: ['alerts.read'] })
  assert.equal(narrow.status, 422)
  assert.match(narrow.text, /mail\.send/)
  assert.equal((await createChecked(t, 403, { errors: [{ message: 'access forbidden' }] })).status, 201)
})

test('trouble at SendGrid, a body that is no JSON and a vendor that is away are reported as they are', async (t) => {
  const trouble = await createChecked(t, 500, {})
  assert.match(trouble.body.errors.check.messages[0], /SendGrid answered 500/)
  const html = await startVendor(t, (_request, response) => void response.writeHead(200).end('<html>'))
  const odd = await app.call('POST', path, {
    body: { ...sendgridBody, check: true, credentials: { ...sendgridBody.credentials, baseUrl: html } },
  })
  assert.equal(odd.status, 422)
  const away = await app.call('POST', path, {
    body: { ...sendgridBody, check: true, credentials: { ...sendgridBody.credentials, baseUrl: 'http://127.0.0.1:9' } },
  })
  assert.equal(away.status, 422)
  assert.match(away.body.errors.check.messages[0], /127\.0\.0\.1/)
})

test('a base address at a cloud’s metadata is refused, also when only a redirect or a spelling leads there', async (t) => {
  for (const baseUrl of [
    'http://169.254.169.254',
    'http://2852039166',
    'http://[::ffff:169.254.169.254]',
    'metadata.google.internal',
  ]) {
    const credentials = { ...sendgridBody.credentials, baseUrl }
    const reply = await app.call('POST', path, { body: { ...sendgridBody, check: true, credentials } })
    assert.deepEqual(Object.keys(reply.body.errors), ['credentials.baseUrl'])
  }
  const redirecting = await startVendor(
    t,
    (_request, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  )
  const credentials = { ...sendgridBody.credentials, baseUrl: redirecting }
  const reply = await app.call('POST', path, { body: { ...sendgridBody, check: true, credentials } })
  assert.match(reply.body.errors.check.messages[0], /answered 302/)
})

test('an incomplete account is not asked about', async () => {
  const reply = await app.call('POST', path, { body: { providerId: 'sendgrid', channel: 'email', check: true } })
  assert.deepEqual(Object.keys(reply.body.errors).sort(), ['credentials.apiKey', 'credentials.from'])
})

test('a change is checked with the credentials it leads to, and refused as a whole', async (t) => {
  let status = 200
  const baseUrl = await startVendor(t, (_request, response) => json(response, status, { scopes: ['mail.send'] }))
  const created = await createIntegration(app, {
    ...sendgridBody,
    credentials: { ...sendgridBody.credentials, baseUrl },
  })
  assert.equal((await app.call('PUT', `${path}/${created._id}`, { body: { check: true } })).status, 200)
  status = 401
  const refused = await app.call('PUT', `${path}/${created._id}`, { body: { name: 'New', check: true } })
  assert.equal(refused.status, 422)
  assert.equal((await app.call('GET', `${path}/${created._id}`)).body.name, created.name)
})

test('no transaction is open while the provider is asked', async (t) => {
  const open: number[] = []
  const baseUrl = await startVendor(t, async (_request, response) => {
    const rows = await app.database.db.rows({
      text: `select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
      values: [],
    })
    open.push(rows.length)
    json(response, 200, { scopes: ['mail.send'] })
  })
  const body = { ...sendgridBody, check: true, credentials: { ...sendgridBody.credentials, baseUrl } }
  const created = await app.call('POST', path, { body, headers: { 'idempotency-key': 'asked' } })
  assert.equal(created.status, 201)
  assert.equal((await app.call('PUT', `${path}/${created.body._id}`, { body: { check: true } })).status, 200)
  assert.deepEqual(open, [0, 0])
})

test('a repeat with the same idempotency key asks no one', async (t) => {
  let calls = 0
  const baseUrl = await startVendor(t, (_request, response) => {
    calls += 1
    json(response, calls === 1 ? 200 : 401, { scopes: ['mail.send'] })
  })
  const body = { ...sendgridBody, check: true, credentials: { ...sendgridBody.credentials, baseUrl } }
  const headers = { 'idempotency-key': 'checked-once' }
  const first = await app.call('POST', path, { body, headers })
  const second = await app.call('POST', path, { body, headers })
  assert.deepEqual([first.status, second.status, calls], [201, 201, 1])
  assert.deepEqual(second.body, first.body)
})

test('the region decides the vendor’s host', async (t) => {
  const address = await startVendor(t, (_request, response) => json(response, 200, { scopes: ['mail.send'] }))
  const asked: string[] = []
  openNetwork(app.world, { address, asked })
  t.after(() => openNetwork(app.world))
  const withRegion = (region?: string) => ({
    ...sendgridBody,
    check: true,
    credentials: { ...sendgridBody.credentials, ...(region === undefined ? {} : { region }) },
  })
  for (const region of [undefined, '', 'global', 'eu']) await createIntegration(app, withRegion(region))
  const global = 'GET https://api.sendgrid.com/v3/scopes'
  assert.deepEqual(asked, [global, global, global, 'GET https://api.eu.sendgrid.com/v3/scopes'])
})
