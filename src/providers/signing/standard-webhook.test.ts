// The example that Svix publishes, and what must not pass for it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStandardWebhook } from './standard-webhook.ts'

const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const now = new Date(1_614_265_330_000)
const published = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

interface Change {
  readonly prefix?: string
  readonly id?: string
  readonly timestamp?: string
  readonly signature?: string
  readonly body?: string
}

const call = ({
  prefix = 'svix',
  id = 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp = '1614265330',
  signature = published,
  body = '{"test": 2432232314}',
}: Change = {}) => ({
  headers: { [`${prefix}-id`]: id, [`${prefix}-timestamp`]: timestamp, [`${prefix}-signature`]: signature },
  body: Buffer.from(body),
})

test('the published example is believed, under either name and among other signatures', () => {
  assert.equal(isStandardWebhook(call(), key, now), true)
  assert.equal(isStandardWebhook(call({ prefix: 'webhook' }), key, now), true)
  assert.equal(isStandardWebhook(call(), key.replace('whsec_', ''), now), true)
  assert.equal(isStandardWebhook(call({ signature: `v1,AAAA v2,xyz ${published}` }), key, now), true)
})

test('whatever was changed is not believed', () => {
  for (const change of [
    { body: '{"test": 2432232315}' },
    { id: 'msg_other' },
    { timestamp: '1614265331' },
    { signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OF=' },
    { signature: published.replace('v1,', 'v2,') },
    { signature: '' },
    { prefix: 'other' },
  ]) {
    assert.equal(isStandardWebhook(call(change), key, now), false, JSON.stringify(change))
  }
  assert.equal(isStandardWebhook(call(), 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx', now), false)
})

test('an old call, one from ahead, and any call where there is no key are not believed', () => {
  assert.equal(isStandardWebhook(call(), key, new Date(now.getTime() + 301_000)), false)
  assert.equal(isStandardWebhook(call(), key, new Date(now.getTime() - 301_000)), false)
  for (const none of [undefined, '', 'whsec_']) assert.equal(isStandardWebhook(call(), none, now), false)
})
