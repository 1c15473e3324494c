// Chat by webhook: the call to a subscriber's or the customer's own address, and what its answers mean.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { RequestListener } from 'node:http'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { ChatMessage } from '../../src/domain/messages/outbound-message.ts'
import { chatWebhook } from '../../src/providers/chat/chat-webhook.ts'
import { formMistakes } from '../../src/providers/form.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { openNetwork, startVendor } from '../support/integration-scene.ts'
import { bodyOf } from '../support/outbound-scene.ts'
import type { SeenCall } from '../support/provider-scene.ts'
import { chatMessage, guardedWorld, kindOf, sendWith } from '../support/provider-scene.ts'

const account = { secretKey: 'whsec-secret' }

interface Sending {
  readonly change?: Partial<ChatMessage>
  readonly credentials?: object
  /** Whether the address is the subscriber's, or the account's default. */
  readonly isOwn?: boolean
}

async function send(t: TestContext, listener: RequestListener, sending: Sending = {}) {
  const { change = {}, credentials = account, isOwn = true } = sending
  const seen: SeenCall[] = []
  const address = await startVendor(t, async (request, response) => {
    seen.push({ path: request.url ?? '', headers: request.headers, body: await bodyOf(request) })
    listener(request, response)
  })
  const world = createFakeWorld()
  openNetwork(world)
  const webhookUrl = `${address}/chat?team=1`
  const outcome = await sendWith(
    { world },
    chatWebhook,
    { ...chatMessage, ...(isOwn ? { webhookUrl } : {}), ...change },
    isOwn ? credentials : { ...credentials, webhookUrl },
  )
  return { outcome, call: seen[0], world, webhookUrl }
}

const answering =
  (status: number, body = ''): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(body)

test('the message arrives as JSON, signed, under a key that reports a repeat', async (t) => {
  const { outcome, call, world } = await send(t, answering(200, '{"id":"evt_2"}'), {
    change: { channel: 'ops', phone: '+14155550101', customData: { card: { a: 1 } } },
  })
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: 'evt_2' })
  assert.equal(call?.path, '/chat?team=1')
  assert.equal(call?.headers['content-type'], 'application/json')
  assert.equal(call?.headers['idempotency-key'], chatMessage.id)
  const seconds = Math.floor(world.now().getTime() / 1000)
  const expected = createHmac('sha256', 'whsec-secret').update(`${seconds}.${call?.body}`).digest('hex')
  assert.equal(call?.headers['x-posthorn-signature'], `t=${seconds},v1=${expected}`)
  assert.deepEqual(JSON.parse(call?.body ?? ''), {
    content: 'Order *#42* shipped',
    channel: 'ops',
    phoneNumber: '+14155550101',
    card: { a: 1 },
    transactionId: 'tx-1',
    workflow: 'order-shipped',
    subscriberId: 'sub-1',
    messageId: chatMessage.id,
  })
  assert.equal(chatWebhook.idempotent, true)
})

test('without a secret nothing is signed, and what is not there is not sent', async (t) => {
  const { call } = await send(t, answering(204), { credentials: {} })
  assert.equal(call?.headers['x-posthorn-signature'], undefined)
  assert.deepEqual(Object.keys(JSON.parse(call?.body ?? '')).sort(), [
    'content',
    'messageId',
    'subscriberId',
    'transactionId',
    'workflow',
  ])
})

test('settings choose neither address nor secret, nor whose message it is', async (t) => {
  const customData = { webhookUrl: 'https://evil.example', hmacSecretKey: 'mine', messageId: 'x', subscriberId: 'y' }
  const { call } = await send(t, answering(200), { change: { customData } })
  const body = JSON.parse(call?.body ?? '')
  assert.deepEqual([body.webhookUrl, body.hmacSecretKey], [undefined, undefined])
  assert.deepEqual([body.messageId, body.subscriberId], [chatMessage.id, 'sub-1'])
})

test('the signature is of the body as it is sent, with what a passthrough adds', async (t) => {
  const passthrough = { body: { extra: 'yes' }, headers: { 'X-Team': 'ops' }, query: { a: 'b' } }
  const { call, world } = await send(t, answering(200), { change: { passthrough } })
  assert.equal(JSON.parse(call?.body ?? '').extra, 'yes')
  assert.equal(call?.headers['x-team'], 'ops')
  assert.equal(call?.path, '/chat?team=1&a=b')
  const seconds = Math.floor(world.now().getTime() / 1000)
  const expected = createHmac('sha256', 'whsec-secret').update(`${seconds}.${call?.body}`).digest('hex')
  assert.equal(call?.headers['x-posthorn-signature'], `t=${seconds},v1=${expected}`)
})

test('a subscriber’s own address comes before the account’s, which serves the others', async (t) => {
  const own = await send(t, answering(200), { credentials: { webhookUrl: 'https://default.example/x' } })
  assert.equal(own.outcome.kind, 'sent')
  const byDefault = await send(t, answering(200), { isOwn: false, change: { webhookUrl: '' } })
  assert.deepEqual(byDefault.outcome, { kind: 'sent', providerMessageId: chatMessage.id })
  assert.equal(byDefault.call?.path, '/chat?team=1')
})

test('without any address, or with one that is none, no one is asked', async () => {
  const world = createFakeWorld()
  const none = await sendWith({ world }, chatWebhook, chatMessage, account)
  assert.equal(kindOf(none), 'refused: bad-recipient')
  for (const webhookUrl of [
    '',
    'secret-part',
    'ftp://a/secret-part',
    'https://u:secret-part@a',
    'http://169.254.169.254/',
  ]) {
    const outcome = await sendWith({ world }, chatWebhook, { ...chatMessage, webhookUrl }, account)
    assert.equal(kindOf(outcome), 'refused: bad-recipient', webhookUrl)
    assert.doesNotMatch(JSON.stringify(outcome), /secret-part/)
  }
})

test('a private address is not called, whoever wrote it down', async () => {
  for (const webhookUrl of ['http://127.0.0.1:1/x', 'https://10.0.0.1/x', 'https://localhost/x']) {
    const theirs = await sendWith({ world: guardedWorld() }, chatWebhook, { ...chatMessage, webhookUrl }, account)
    assert.equal(kindOf(theirs), 'refused: bad-recipient', webhookUrl)
    const ours = await sendWith({ world: guardedWorld() }, chatWebhook, chatMessage, { ...account, webhookUrl })
    assert.equal(kindOf(ours), 'misconfigured', webhookUrl)
  }
})

const answers: [number, string, string][] = [
  [302, 'refused: bad-recipient', 'misconfigured'],
  [400, 'refused: other', 'refused: other'],
  [401, 'refused: bad-recipient', 'misconfigured'],
  [403, 'refused: bad-recipient', 'misconfigured'],
  [404, 'refused: bad-recipient', 'misconfigured'],
  [405, 'refused: bad-recipient', 'misconfigured'],
  [408, 'busy', 'busy'],
  [410, 'refused: bad-recipient', 'misconfigured'],
  [429, 'busy', 'busy'],
  [500, 'busy', 'busy'],
  [503, 'busy', 'busy'],
  [504, 'unsure', 'unsure'],
]
for (const [status, own, byDefault] of answers) {
  test(`${status} is ${own} at a subscriber’s address and ${byDefault} at the account’s`, async (t) => {
    const body = '{"message":"queue down whsec-secret"}'
    const theirs = await send(t, answering(status, body))
    assert.equal(kindOf(theirs.outcome), own)
    assert.match(JSON.stringify(theirs.outcome), new RegExp(`answered ${status}: queue down \\[redacted\\]`))
    const ours = await send(t, answering(status, body), { isOwn: false })
    assert.equal(kindOf(ours.outcome), byDefault)
  })
}

test('an address that comes back in an answer is not repeated', async (t) => {
  const { outcome } = await send(t, (request, response) => {
    response.writeHead(400).end(`nothing at ${request.url}`)
  })
  assert.deepEqual(outcome, {
    kind: 'refused',
    reason: 'other',
    detail: 'The webhook answered 400: nothing at [redacted]',
  })
})

test('the check looks at the default address where there is one', async (t) => {
  const methods: unknown[] = []
  const address = await startVendor(t, (request, response) => {
    methods.push(request.method)
    response.writeHead(405).end()
  })
  const world = createFakeWorld()
  assert.deepEqual(await chatWebhook.check?.(world, {}), { kind: 'good' })
  openNetwork(world)
  assert.deepEqual(await chatWebhook.check?.(world, { webhookUrl: address }), { kind: 'good' })
  assert.deepEqual(methods, ['HEAD'])
  const away = await chatWebhook.check?.(world, { webhookUrl: 'http://127.0.0.1:9/' })
  assert.equal(away?.kind === 'bad' && away.field, 'webhookUrl')
})

test('an account may be empty, and an address that is none is named', () => {
  assert.deepEqual(formMistakes(chatWebhook.form, {}), {})
  for (const webhookUrl of ['ops.example.com', 'ftp://a', 'https://u:p@a.example', 'http://169.254.169.254/x']) {
    assert.deepEqual(Object.keys(formMistakes(chatWebhook.form, { webhookUrl })), ['credentials.webhookUrl'])
  }
})
