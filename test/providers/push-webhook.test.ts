// Push by webhook: the signed call, and what its answers mean.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { PushMessage } from '../../src/domain/messages/outbound-message.ts'
import { formMistakes } from '../../src/providers/form.ts'
import { pushWebhook } from '../../src/providers/push/push-webhook.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { openNetwork, startVendor } from '../support/integration-scene.ts'
import type { VendorAnswer } from '../support/provider-scene.ts'
import { guardedWorld, kindOf, pushMessage, sendWith, vendorAnswering } from '../support/provider-scene.ts'

const account = { webhookUrl: 'https://hooks.example.com/push?team=1', secretKey: 'whsec-secret' }

async function send(t: TestContext, answer: VendorAnswer, change: Partial<PushMessage> = {}) {
  const vendor = await vendorAnswering(t, answer)
  const outcome = await sendWith(vendor, pushWebhook, { ...pushMessage, ...change }, account)
  return { outcome, asked: vendor.asked, call: vendor.seen[0], world: vendor.world }
}

test('the message arrives as JSON, signed, under a key that reports a repeat', async (t) => {
  const { outcome, asked, call, world } = await send(
    t,
    { status: 200, body: { id: 'evt_1' } },
    { customData: { sound: 'ping' } },
  )
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: 'evt_1' })
  assert.deepEqual(asked, ['POST https://hooks.example.com/push'])
  assert.equal(call?.path, '/push?team=1')
  assert.equal(call?.headers['content-type'], 'application/json')
  assert.equal(call?.headers['idempotency-key'], pushMessage.id)
  const seconds = Math.floor(world.now().getTime() / 1000)
  const expected = createHmac('sha256', 'whsec-secret').update(`${seconds}.${call?.body}`).digest('hex')
  assert.equal(call?.headers['x-posthorn-signature'], `t=${seconds},v1=${expected}`)
  assert.deepEqual(JSON.parse(call?.body ?? ''), {
    target: ['fKz1:APA91bFAKE'],
    title: 'Order shipped',
    content: 'Your order #42 is on its way',
    overrides: { sound: 'ping' },
    payload: { orderId: 42, subscriber: { subscriberId: 'sub-1' } },
    transactionId: 'tx-1',
    workflow: 'order-shipped',
    subscriberId: 'sub-1',
    messageId: pushMessage.id,
  })
  assert.equal(pushWebhook.idempotent, true)
})

test('the id is the answer’s, a number too, else ours stands for it; overrides are left out where there are none', async (t) => {
  const number = await send(t, { status: 202, body: { id: 7 } })
  assert.deepEqual(number.outcome, { kind: 'sent', providerMessageId: '7' })
  for (const body of ['', '<html>', {}, { id: '' }, { id: {} }]) {
    const { outcome, call } = await send(t, { status: 200, body })
    assert.deepEqual(outcome, { kind: 'sent', providerMessageId: pushMessage.id })
    assert.equal('overrides' in JSON.parse(call?.body ?? ''), false)
  }
})

test('a token that the receiver calls invalid is dead, another’s is not', async (t) => {
  const dead = await send(t, { status: 200, body: { id: 'x', invalidTokens: ['other', pushMessage.target] } })
  assert.equal(kindOf(dead.outcome), 'refused: dead-token')
  assert.doesNotMatch(JSON.stringify(dead.outcome), /APA91bFAKE/)
  const alive = await send(t, { status: 200, body: { id: 'x', invalidTokens: ['other'] } })
  assert.equal(alive.outcome.kind, 'sent')
})

const answers: [number, string][] = [
  [204, 'sent'],
  [302, 'misconfigured'],
  [400, 'refused: other'],
  [401, 'misconfigured'],
  [403, 'misconfigured'],
  [404, 'misconfigured'],
  [405, 'misconfigured'],
  [408, 'busy'],
  [410, 'refused: other'],
  [425, 'busy'],
  [429, 'busy'],
  [500, 'busy'],
  [503, 'busy'],
  [504, 'unsure'],
]
test('each answer means what it says, without the secret and the token', async (t) => {
  for (const [status, kind] of answers) {
    const body = status === 204 ? '' : { message: `down whsec-secret ${pushMessage.target}` }
    const { outcome } = await send(t, { status, body })
    assert.equal(kindOf(outcome), kind, String(status))
    if (kind !== 'sent') {
      assert.equal('detail' in outcome && outcome.detail, `The webhook answered ${status}: down [redacted] …FAKE`)
    }
  }
  const { outcome } = await send(t, { status: 503, headers: { 'retry-after': '9' } })
  assert.equal(outcome.kind === 'busy' && outcome.retryAfterMs, 9_000)
})

test('a passthrough is signed with the rest', async (t) => {
  const passthrough = { body: { payload: { more: 1 } } }
  const { call, world } = await send(t, { status: 200 }, { passthrough })
  assert.deepEqual(JSON.parse(call?.body ?? '').payload, {
    subscriber: { subscriberId: 'sub-1' },
    orderId: 42,
    more: 1,
  })
  const seconds = Math.floor(world.now().getTime() / 1000)
  const expected = createHmac('sha256', 'whsec-secret').update(`${seconds}.${call?.body}`).digest('hex')
  assert.equal(call?.headers['x-posthorn-signature'], `t=${seconds},v1=${expected}`)
})

test('an empty token is rejected, and a private address is not called', async (t) => {
  const withoutTarget = await send(t, { status: 200 }, { target: '' })
  assert.deepEqual([kindOf(withoutTarget.outcome), withoutTarget.asked.length], ['refused: bad-recipient', 0])
  for (const webhookUrl of ['http://127.0.0.1:1/x', 'https://10.0.0.1/x', 'https://localhost/x']) {
    const outcome = await sendWith({ world: guardedWorld() }, pushWebhook, pushMessage, { ...account, webhookUrl })
    assert.equal(kindOf(outcome), 'misconfigured', webhookUrl)
  }
})

test('the check finds out whether anyone is there, and hands over nothing', async (t) => {
  const methods: unknown[] = []
  const webhookUrl = await startVendor(t, (request, response) => {
    methods.push(request.method)
    response.writeHead(404).end()
  })
  const world = createFakeWorld()
  openNetwork(world)
  assert.deepEqual(await pushWebhook.check?.(world, { ...account, webhookUrl }), { kind: 'good' })
  assert.deepEqual(methods, ['HEAD'])
  const away = await pushWebhook.check?.(world, { ...account, webhookUrl: 'http://127.0.0.1:9/' })
  assert.equal(away?.kind === 'bad' && away.field, 'webhookUrl')
})

test('both credentials are needed, and an address that is none is named', () => {
  const mistakes = (credentials: object) => Object.keys(formMistakes(pushWebhook.form, credentials))
  assert.deepEqual(mistakes(account), [])
  assert.deepEqual(mistakes({}), ['credentials.webhookUrl', 'credentials.secretKey'])
  for (const webhookUrl of [
    'hooks.example.com',
    'ftp://a',
    'https://u:p@a.example',
    'http://metadata.google.internal/',
  ]) {
    assert.deepEqual(mistakes({ ...account, webhookUrl }), ['credentials.webhookUrl'], webhookUrl)
  }
})
