// Who is primary, and how names become identifiers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IntegrationStatus } from './integration.ts'
import { electPrimary, knownConfigurations, knownCredentials, slugOf } from './integration.ts'

const statusOf = (id: string, change: Partial<IntegrationStatus> = {}): IntegrationStatus => ({
  id,
  providerId: 'sendgrid',
  channel: 'email',
  active: true,
  primary: false,
  hasConditions: false,
  ...change,
})
const builtIn = (change: Partial<IntegrationStatus> = {}) =>
  statusOf('built-in', { providerId: 'platform-email', ...change })

test('a primary that is still fit stays, whoever comes', () => {
  assert.equal(electPrimary([statusOf('a', { primary: true }), statusOf('b')], 'b'), 'a')
})

test('the first real provider takes it from a built-in', () => {
  assert.equal(electPrimary([builtIn({ primary: true }), statusOf('a')], 'a'), 'a')
})

test('a built-in that was chosen beside a real provider does not lose it to a second one', () => {
  assert.equal(electPrimary([builtIn({ primary: true }), statusOf('a'), statusOf('b')], 'b'), 'built-in')
  assert.equal(electPrimary([builtIn({ primary: true }), statusOf('a')]), 'built-in')
})

test('without a fit primary the oldest fit real provider is elected, then a built-in, then no one', () => {
  const unfit = [
    statusOf('gone', { primary: true, active: false }),
    statusOf('some', { primary: true, hasConditions: true }),
  ]
  assert.equal(electPrimary([...unfit, builtIn(), statusOf('a'), statusOf('b')], 'b'), 'a')
  assert.equal(electPrimary([...unfit, builtIn()]), 'built-in')
  assert.equal(electPrimary([...unfit, builtIn({ active: false })]), undefined)
  assert.equal(electPrimary([]), undefined)
})

test('a channel without a primary has none', () => {
  assert.equal(electPrimary([statusOf('a', { channel: 'push', providerId: 'fcm' })], 'a'), undefined)
})

test('a name becomes a slug', () => {
  assert.equal(slugOf('My SendGrid (EU)'), 'my-sendgrid-eu')
  assert.equal(slugOf('Größe – Ärger'), 'grosse-arger')
  assert.equal(slugOf('郵便'), '')
  assert.ok(slugOf('x'.repeat(1000)).length <= 100)
})

test('members the interface does not know are dropped', () => {
  assert.deepEqual(knownCredentials({ apiKey: 'a', hmac: true, evil: 'b' } as object), { apiKey: 'a', hmac: true })
  assert.deepEqual(knownConfigurations({ inboundWebhookEnabled: true, retry: { attempts: 1 }, evil: 1 }), {
    inboundWebhookEnabled: true,
    retry: { attempts: 1 },
  })
})
