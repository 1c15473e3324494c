// The catalogue of providers over the API.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { channels, credentialFlags, credentialObjects, credentialTexts } from '../../src/domain/delivery/integration.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
let catalogue: Json[]
before(async () => {
  app = await createTestApp()
  const reply = await app.call('GET', '/v1/providers')
  assert.equal(reply.status, 200)
  catalogue = reply.body
})
after(() => app.close())

test('every provider reports its channel, its documentation and its form', () => {
  assert.ok(catalogue.length >= 8)
  const types: Record<string, readonly string[]> = {
    string: credentialTexts,
    boolean: credentialFlags,
    object: credentialObjects,
  }
  for (const item of catalogue) {
    assert.ok(channels.includes(item.channel))
    assert.match(item.docsUrl, /^(https:\/\/|\/)/)
    for (const field of item.credentials) {
      assert.ok(
        types[field.type]?.includes(field.key),
        `${item.providerId} ${field.key} is a ${field.type} of the interface`,
      )
      assert.notEqual(field.label, '')
    }
  }
  assert.equal(new Set(catalogue.map((item) => item.providerId)).size, catalogue.length)
})

const required: Record<string, string[]> = {
  platform: [],
  'platform-email': [],
  'platform-sms': [],
  nodemailer: ['host', 'port', 'from'],
  sendgrid: ['apiKey', 'from'],
  twilio: ['accountSid', 'token', 'from'],
  fcm: ['serviceAccount'],
  slack: [],
}
for (const [providerId, keys] of Object.entries(required)) {
  test(`${providerId} requires ${keys.join(', ') || 'nothing'}`, () => {
    const found = catalogue.find((item) => item.providerId === providerId)
    assert.deepEqual(
      found.credentials.filter((field: Json) => field.required).map((field: Json) => field.key),
      keys,
    )
  })
}

test('keys, passwords and tokens are marked as secrets, addresses are not', () => {
  const fields = catalogue.flatMap((item) => item.credentials)
  for (const field of fields) {
    if (['password', 'token', 'secretKey', 'serviceAccount', 'tlsOptions'].includes(field.key))
      assert.equal(field.secret, true, field.key)
    if (['from', 'host', 'port', 'region'].includes(field.key)) assert.equal(field.secret, false, field.key)
  }
})

test('without a key there is no catalogue', async () => {
  assert.equal((await app.call('GET', '/v1/providers', { key: null })).status, 401)
})
