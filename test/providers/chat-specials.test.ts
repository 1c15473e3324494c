// What is special about single chat vendors: Teams' old connectors, Stream's token and relay, Rocket.Chat's workspaces, Telegram's chats.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { ChatMessage } from '../../src/domain/messages/outbound-message.ts'
import { getstream } from '../../src/providers/chat/getstream.ts'
import { msteams } from '../../src/providers/chat/msteams.ts'
import { rocketChat } from '../../src/providers/chat/rocket-chat.ts'
import { telegram } from '../../src/providers/chat/telegram.ts'
import { whatsappBusiness } from '../../src/providers/chat/whatsapp-business.ts'
import { formMistakes } from '../../src/providers/form.ts'
import type { Provider } from '../../src/providers/provider.ts'
import type { OutboundOptions, OutboundRequest } from '../../src/world/world.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { chatMessage, kindOf, sendWith } from '../support/provider-scene.ts'

interface Answer {
  readonly status: number
  readonly body?: string
  readonly headers?: Record<string, string>
}

async function send(provider: Provider, change: Partial<ChatMessage>, answer: Answer, credentials: object = {}) {
  const world = createFakeWorld()
  const asked: OutboundRequest[] = []
  const reaches: OutboundOptions['reach'][] = []
  world.fetch = async (request, options = {}) => {
    asked.push(request as OutboundRequest)
    reaches.push(options.reach)
    return { status: answer.status, headers: new Headers(answer.headers), body: answer.body ?? '' }
  }
  const outcome = await sendWith({ world }, provider, { ...chatMessage, ...change }, credentials)
  return { outcome, asked, reaches }
}

const failed = (status: number) =>
  `Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error ${status} with ContextId x`
const connectorAnswers: readonly [Answer, string][] = [
  [{ status: 200, body: '1', headers: { 'request-id': 'r-1' } }, 'sent'],
  [{ status: 200, body: failed(429) }, 'busy'],
  [{ status: 200, body: failed(413) }, 'refused: bad-content'],
  [{ status: 200, body: failed(400) }, 'refused: bad-content'],
  [{ status: 200, body: failed(404) }, 'refused: bad-recipient'],
  [{ status: 200, body: failed(503) }, 'busy'],
  [{ status: 200, body: failed(504) }, 'unsure'],
  [{ status: 200, body: '' }, 'unsure'],
  [{ status: 200, body: '<html>' }, 'unsure'],
  [{ status: 410 }, 'refused: bad-recipient'],
]
test('an old connector of Teams reports of failures within a success', async () => {
  const webhookUrl = 'https://acme.webhook.office.com/webhookb2/g1@t1/IncomingWebhook/h1/g2'
  for (const [answer, kind] of connectorAnswers) {
    const { outcome } = await send(msteams, { webhookUrl }, answer)
    assert.equal(kindOf(outcome), kind, answer.body)
    if (kind === 'sent') assert.deepEqual(outcome, { kind: 'sent', providerMessageId: 'r-1' })
  }
})

test('a text for Teams that only looks like a card is a text', async () => {
  const webhookUrl = 'https://outlook.office.com/webhook/x'
  for (const content of ['{broken', '{', '[1]', 'null']) {
    const { asked } = await send(msteams, { webhookUrl, content }, { status: 200, body: '1' })
    assert.deepEqual(JSON.parse(String(asked[0]?.body)), { text: content })
  }
})

const stream = { apiKey: 'stream-key', secretKey: 'stream-secret', user: 'notifier' }

test('Stream gets a token of the server’s own, signed with the secret, and it is never shown', async () => {
  const { asked, outcome } = await send(
    getstream,
    { channel: 'messaging:a' },
    { status: 401, body: JSON.stringify({ code: 43, message: 'words' }) },
    stream,
  )
  assert.equal(outcome.kind, 'misconfigured')
  const [head = '', claims = '', signature] = asked[0]?.headers['authorization']?.split('.') ?? []
  assert.deepEqual(JSON.parse(Buffer.from(head, 'base64url').toString()), { alg: 'HS256', typ: 'JWT' })
  assert.deepEqual(JSON.parse(Buffer.from(claims, 'base64url').toString()), { server: true })
  const signed = (secret: string) => createHmac('sha256', secret).update(`${head}.${claims}`).digest('base64url')
  assert.equal(signature, signed('stream-secret'))
  assert.notEqual(signature, signed('another-secret'))
  const token = `${head}.${claims}.${signature}`
  const repeated = await send(getstream, { channel: 'messaging:a' }, { status: 400, body: `bad ${token}` }, stream)
  assert.doesNotMatch(JSON.stringify(repeated.outcome), /eyJ/)
})

test('Stream wants a channel with its type, and to know who posts', async () => {
  for (const channel of ['orders', 'messaging:', ':a', 'messaging:a/../b', 'a:b:c']) {
    const { outcome, asked } = await send(getstream, { channel }, { status: 201 }, stream)
    assert.deepEqual([kindOf(outcome), asked.length], ['refused: bad-recipient', 0], channel)
  }
  const { user: _user, ...withoutUser } = stream
  const { outcome, asked } = await send(getstream, { channel: 'messaging:a' }, { status: 201 }, withoutUser)
  assert.deepEqual([kindOf(outcome), asked.length], ['misconfigured', 0])
})

const relayAnswers: readonly [Answer, string][] = [
  [{ status: 200, headers: { 'x-webhook-id': 'w-1' } }, 'sent'],
  [{ status: 204 }, 'sent'],
  [{ status: 401 }, 'misconfigured'],
  [{ status: 403 }, 'misconfigured'],
  [{ status: 404 }, 'refused: bad-recipient'],
  [{ status: 302 }, 'refused: bad-recipient'],
  [{ status: 413 }, 'refused: bad-content'],
  [{ status: 429 }, 'busy'],
  [{ status: 504 }, 'unsure'],
]
test('without Stream’s secret a relay gets the text and the key, guarded, and its answers are read by their status', async () => {
  const relay = { apiKey: 'stream-key', baseUrl: 'https://relay.example' }
  for (const [answer, kind] of relayAnswers) {
    const { outcome, asked, reaches } = await send(getstream, { webhookUrl: 'https://relay.example/x' }, answer, relay)
    assert.equal(kindOf(outcome), kind, String(answer.status))
    assert.deepEqual(reaches, ['guarded'])
    assert.equal(asked[0]?.headers['x-api-key'], 'stream-key')
    assert.doesNotMatch(String(asked[0]?.body), /stream-key/)
  }
  // Without a host that the account names, the key goes nowhere.
  const { asked } = await send(
    getstream,
    { webhookUrl: 'https://relay.example/x' },
    { status: 200 },
    { apiKey: 'stream-key' },
  )
  assert.equal(asked[0]?.headers['x-api-key'], undefined)
})

const workspace = { token: 'token-secret', user: 'u1', baseUrl: 'https://chat.example.com' }

test('the token of a workspace goes to no other, whatever a subscriber’s address says', async () => {
  for (const webhookUrl of [
    'https://evil.example',
    'https://chat.example.com.evil.example',
    'http://chat.example.com',
  ]) {
    const { outcome, asked } = await send(rocketChat, { webhookUrl, channel: 'R1' }, { status: 200 }, workspace)
    assert.deepEqual([kindOf(outcome), asked.length], ['refused: bad-recipient', 0], webhookUrl)
  }
  const own = await send(rocketChat, { channel: 'R1' }, { status: 404 }, workspace)
  assert.deepEqual([kindOf(own.outcome), own.reaches], ['misconfigured', ['operator']])
})

test('an incoming webhook of Rocket.Chat’s gets no token, and is its subscriber’s', async () => {
  const change = { webhookUrl: 'https://a.example/hooks/1/2', channel: '@zoe' }
  const { outcome, asked, reaches } = await send(
    rocketChat,
    change,
    { status: 200, body: '{"success":true}' },
    workspace,
  )
  assert.deepEqual([outcome.kind, reaches], ['sent', ['guarded']])
  assert.doesNotMatch(JSON.stringify(asked), /token-secret/)
  assert.equal(kindOf((await send(rocketChat, change, { status: 401 }, workspace)).outcome), 'refused: bad-recipient')
})

test('a room must be named', async () => {
  const { outcome, asked } = await send(
    rocketChat,
    { webhookUrl: 'https://chat.example.com' },
    { status: 200 },
    workspace,
  )
  assert.deepEqual([kindOf(outcome), asked.length], ['refused: bad-recipient', 0])
})

const bot = { token: '123456789:AAtopsecrettopsecrettopsecret' }

test('a chat of Telegram’s is an id or a name, and nothing else', async () => {
  const ok: Answer = { status: 200, body: '{"ok":true,"result":{"message_id":1,"chat":{"id":5}}}' }
  for (const channel of ['5', '-1001234567890', '@acme_orders']) {
    assert.equal((await send(telegram, { channel }, ok, bot)).outcome.kind, 'sent', channel)
  }
  for (const channel of ['', 'acme', '5 6', '@', '1.5', '@a/b']) {
    const { outcome, asked } = await send(telegram, { channel }, ok, bot)
    assert.deepEqual([kindOf(outcome), asked.length], ['refused: bad-recipient', 0], channel)
  }
  const broken = await send(
    telegram,
    { channel: '5' },
    { status: 500, body: 'at /bot123456789:AAtopsecrettopsecrettopsecret/x' },
    bot,
  )
  assert.doesNotMatch(JSON.stringify(broken.outcome), /topsecret/)
})

test('what an account cannot be is reported by its field', () => {
  const named = (provider: Provider, credentials: object) => Object.keys(formMistakes(provider.form, credentials))
  assert.deepEqual(named(telegram, { token: 'nonsense' }), ['credentials.token'])
  assert.deepEqual(named(telegram, { ...bot, channelId: 'acme' }), ['credentials.channelId'])
  assert.deepEqual(named(whatsappBusiness, { apiToken: 'EAA', phoneNumberIdentification: '1/../2' }), [
    'credentials.phoneNumberIdentification',
  ])
  for (const baseUrl of ['http://169.254.169.254', '']) {
    assert.deepEqual(named(rocketChat, { ...workspace, baseUrl }), ['credentials.baseUrl'])
  }
})

test('WhatsApp needs a number, and something to say', async () => {
  const account = { apiToken: 'EAA-secret', phoneNumberIdentification: '1' }
  const wrong: readonly [Partial<ChatMessage>, string][] = [
    [{}, 'refused: bad-recipient'],
    [{ phone: 'none' }, 'refused: bad-recipient'],
    [{ phone: '+1', content: '' }, 'refused: bad-content'],
    [{ phone: '+1', content: 'x'.repeat(4_097) }, 'refused: bad-content'],
    [{ phone: '+1', passthrough: { query: { access_token: 'other' } } }, 'refused: bad-content'],
  ]
  for (const [change, kind] of wrong) {
    const { outcome, asked } = await send(whatsappBusiness, change, { status: 200 }, account)
    assert.deepEqual([kindOf(outcome), asked.length], [kind, 0])
  }
})

test('a number is written to WhatsApp as a plus sign and its digits, however it was given', async () => {
  const account = { apiToken: 'EAA-secret', phoneNumberIdentification: '1' }
  for (const phone of ['+44 7700 900123', '0044 7700 900123', '447700900123']) {
    const { asked } = await send(whatsappBusiness, { phone }, { status: 200 }, account)
    assert.equal(JSON.parse(String(asked[0]?.body)).to, '+447700900123', phone)
  }
})
