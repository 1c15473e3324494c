// Web push: the encryption against the example of RFC 8291, the token against RFC 8292, and addresses that are not called.
import assert from 'node:assert/strict'
import { createECDH, createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import type { PushMessage } from '../../src/domain/messages/outbound-message.ts'
import { formMistakes } from '../../src/providers/form.ts'
import { webPush } from '../../src/providers/push/web-push.ts'
import { browserKeysOf, encrypted } from '../../src/providers/push/web-push-encryption.ts'
import type { OutboundOptions, OutboundRequest } from '../../src/world/world.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { guardedWorld, kindOf, pushMessage, sendWith } from '../support/provider-scene.ts'
import { exampleBrowser, readByBrowser, subscription } from '../support/web-push-browser.ts'

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url')
const pair = createECDH('prime256v1')
pair.setPrivateKey(Buffer.alloc(32, 7))
const account = {
  apiKey: pair.getPublicKey('base64url'),
  secretKey: pair.getPrivateKey('base64url'),
  from: 'ops@example.com',
}
const endpoint = 'https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV'

// RFC 8291, section 5 and appendix A.
const example = {
  plain: 'When I grow up, I want to be a watermelon',
  privateKey: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  body:
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_' +
    'yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
}

test('the example of RFC 8291 is encrypted byte for byte, and a changed byte is found out', () => {
  const keys = browserKeysOf(exampleBrowser.p256dh, exampleBrowser.auth)
  assert.ok(keys)
  const sender = createECDH('prime256v1')
  sender.setPrivateKey(bytes(example.privateKey))
  const body = encrypted(Buffer.from(example.plain), keys, { pair: sender, salt: bytes(example.salt) })
  assert.equal(body.toString('base64url'), example.body)
  assert.equal(readByBrowser(bytes(example.body)), example.plain)
  for (const at of [0, 40, body.length - 20, body.length - 1]) {
    const tampered = Buffer.from(body)
    tampered.writeUInt8(tampered.readUInt8(at) ^ 1, at)
    assert.throws(() => readByBrowser(tampered), String(at))
  }
})

test('each message has a key and a salt of its own', () => {
  const keys = browserKeysOf(exampleBrowser.p256dh, exampleBrowser.auth)
  assert.ok(keys)
  const [one, two] = [encrypted(Buffer.from('x'), keys), encrypted(Buffer.from('x'), keys)]
  assert.notDeepEqual(one.subarray(0, 16), two.subarray(0, 16))
  assert.notDeepEqual(one.subarray(21, 86), two.subarray(21, 86))
  assert.deepEqual([readByBrowser(one), readByBrowser(two)], ['x', 'x'])
})

function pushService() {
  const world = createFakeWorld()
  const seen: OutboundRequest[] = []
  const options: OutboundOptions[] = []
  world.fetch = async (request, given = {}) => {
    seen.push(request as OutboundRequest)
    options.push(given)
    return { status: 201, headers: new Headers(), body: '' }
  }
  const send = (change: Partial<PushMessage> = {}, credentials: object = account) =>
    sendWith({ world }, webPush, { ...pushMessage, target: subscription(endpoint), ...change }, credentials)
  return { world, seen, options, send }
}

const tokenIn = (request: OutboundRequest | undefined): string =>
  /^vapid t=([\w.-]+), k=/.exec(request?.headers['authorization'] ?? '')?.[1] ?? ''

test('the token is signed for the origin of the push service, with the key that the header names', async () => {
  const { world, seen, options, send } = pushService()
  await send()
  const header = seen[0]?.headers['authorization'] ?? ''
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(header) ?? []
  assert.equal(key, account.apiKey)
  const [head = '', claims = '', signature = ''] = token.split('.')
  assert.deepEqual(JSON.parse(bytes(head).toString()), { typ: 'JWT', alg: 'ES256' })
  assert.deepEqual(JSON.parse(bytes(claims).toString()), {
    aud: 'https://push.example.net',
    exp: Math.floor(world.now().getTime() / 1000) + 12 * 3600,
    sub: 'mailto:ops@example.com',
  })
  const point = bytes(key)
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const holds = (content: string) =>
    verify('sha256', Buffer.from(content), { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes(signature))
  assert.equal(holds(`${head}.${claims}`), true)
  assert.equal(holds(`${head}.${Buffer.from('{"aud":"https://other.example"}').toString('base64url')}`), false)
  assert.equal(options[0]?.reach, 'guarded')
})

test('a token serves all that goes to one push service, and is made again before it ends', async () => {
  const { world, seen, send } = pushService()
  await send()
  await send({ target: subscription('https://push.example.net/push/another') })
  await send({ target: subscription('https://other.example.net/push/x') })
  world.advance(11 * 3_600_000 + 1_000)
  await send()
  const tokens = seen.map(tokenIn)
  assert.equal(tokens[0], tokens[1])
  assert.equal(new Set(tokens).size, 3)
})

test('only the browser reads what is sent, and a passthrough is a part of it', async () => {
  const { seen, send } = pushService()
  await send({ passthrough: { body: { more: 1 } } })
  const body = seen[0]?.body as Buffer
  assert.equal(body.includes('Order'), false)
  assert.deepEqual(JSON.parse(readByBrowser(body)), {
    title: 'Order shipped',
    body: 'Your order #42 is on its way',
    data: { orderId: 42 },
    messageId: pushMessage.id,
    more: 1,
  })
})

test('what is no subscription, or too much, is not sent', async () => {
  const { seen, send } = pushService()
  const outside = Buffer.alloc(65, 4).toString('base64url')
  for (const target of [
    'x',
    '{}',
    'null',
    endpoint,
    subscription('http://push.example.net/x'),
    subscription('https://user:word@push.example.net/x'),
    subscription('nowhere'),
    subscription(endpoint, { auth: 'short' }),
    subscription(endpoint, { p256dh: 'short' }),
    subscription(endpoint, { p256dh: outside }),
  ]) {
    assert.equal(kindOf(await send({ target })), 'refused: bad-recipient', target)
  }
  assert.equal(kindOf(await send({ content: 'x'.repeat(3_993) })), 'refused: bad-content')
  assert.deepEqual(seen, [])
})

test('a private address is the subscriber’s fault, and its words are reported without the subscription', async () => {
  for (const host of ['127.0.0.1', '10.0.0.1', 'localhost', '169.254.169.254', '[::1]']) {
    const target = subscription(`https://${host}/push/secret-path`)
    const outcome = await sendWith({ world: guardedWorld() }, webPush, { ...pushMessage, target }, account)
    assert.equal(kindOf(outcome), 'refused: bad-recipient', host)
  }
  const { world, send } = pushService()
  world.fetch = async () => ({
    status: 400,
    headers: new Headers(),
    body: JSON.stringify({
      message: `no ${endpoint} ${exampleBrowser.auth} ${exampleBrowser.p256dh} /push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV`,
    }),
  })
  const outcome = await send()
  assert.equal(outcome.kind === 'refused' && outcome.detail, 'The push service answered 400: no … … … …')
})

test('an address of the subscriber’s own keeps no one else waiting', async () => {
  const { world, send } = pushService()
  for (const [status, wait] of [
    [429, { retryAfterMs: 60_000 }],
    [503, { retryAfterMs: 60_000 }],
  ] as const) {
    world.fetch = async () => ({ status, headers: new Headers({ 'retry-after': '86400' }), body: '' })
    const detail = `The push service answered ${status}`
    assert.deepEqual(await send(), { kind: 'busy', detail, ...wait, ofRecipient: true })
  }
})

test('keys that are none, or no pair, are named', async () => {
  const other = createECDH('prime256v1')
  other.generateKeys()
  const mistakes = (change: object) => Object.keys(formMistakes(webPush.form, { ...account, ...change }))
  assert.deepEqual(mistakes({}), [])
  assert.deepEqual(mistakes({ from: 'https://example.com/contact' }), [])
  assert.deepEqual(mistakes({ from: 'mailto:ops@example.com' }), [])
  assert.deepEqual(mistakes({ apiKey: 'x', secretKey: Buffer.alloc(32).toString('base64url'), from: 'nobody' }), [
    'credentials.apiKey',
    'credentials.secretKey',
    'credentials.from',
  ])
  const unlike = { ...account, apiKey: other.getPublicKey('base64url') }
  const { world, seen, send } = pushService()
  assert.equal((await send({}, unlike)).kind, 'misconfigured')
  assert.deepEqual(seen, [])
  const reported = await webPush.check?.(world, unlike)
  assert.equal(reported?.kind === 'bad' && reported.field, 'apiKey')
  assert.deepEqual(await webPush.check?.(world, account), { kind: 'good' })
})
