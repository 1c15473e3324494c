// Firebase Cloud Messaging: the message that is sent, the access token it is sent with, and what the answers mean.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { PushMessage } from '../../src/domain/messages/outbound-message.ts'
import { fcm } from '../../src/providers/push/fcm.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { SeenCall, Vendor, VendorAnswer } from '../support/provider-scene.ts'
import { kindOf, pushMessage, sendWith, vendorAnswering } from '../support/provider-scene.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const file = (change: object = {}): string =>
  JSON.stringify({
    type: 'service_account',
    project_id: 'demo-app',
    client_email: 'sender@demo-app.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    private_key_id: 'key-1',
    token_uri: 'https://evil.example/token',
    ...change,
  })
const serviceAccount = file()
const name = 'projects/demo-app/messages/0:1500415314455276%31bd1c9631bd1c96'
const accepted: VendorAnswer = { status: 200, body: { name } }

const tokenAsked = 'POST https://oauth2.googleapis.com/token'
const messageSent = 'POST https://fcm.googleapis.com/v1/projects/demo-app/messages:send'

interface Answers {
  readonly token?: (count: number) => VendorAnswer | Promise<VendorAnswer>
  readonly send?: (call: SeenCall) => VendorAnswer
}

/** Grants tokens `ya29.token-1`, `ya29.token-2` and so on, by default. */
async function firebase(t: TestContext, answers: Answers = {}): Promise<Vendor> {
  let count = 0
  return vendorAnswering(t, (call) => {
    if (call.path !== '/token') return answers.send?.(call) ?? accepted
    count += 1
    return answers.token?.(count) ?? granted(count)
  })
}

const granted = (count: number, seconds = 3_599): VendorAnswer => ({
  status: 200,
  body: { access_token: `ya29.token-${count}`, expires_in: seconds, token_type: 'Bearer' },
})

const send = (vendor: Pick<Vendor, 'world'>, change: Partial<PushMessage> = {}, account = serviceAccount) =>
  sendWith(vendor, fcm, { ...pushMessage, ...change }, { serviceAccount: account })

const bodyIn = ({ seen }: Vendor) => JSON.parse(seen.find(({ path }) => path !== '/token')?.body ?? 'null')
const isAsk = (address: string): boolean => address === tokenAsked

async function messageOf(t: TestContext, change: Partial<PushMessage>) {
  const vendor = await firebase(t)
  assert.equal((await send(vendor, change)).kind, 'sent')
  return bodyIn(vendor).message
}

test('a message is a notification to one token, sent with an access token; the payload stays here', async (t) => {
  const vendor = await firebase(t)
  assert.deepEqual(await send(vendor), { kind: 'sent', providerMessageId: name })
  assert.deepEqual(vendor.asked, [tokenAsked, messageSent])
  assert.equal(vendor.seen[1]?.headers.authorization, 'Bearer ya29.token-1')
  assert.equal(vendor.seen[1]?.headers['content-type'], 'application/json; charset=utf-8')
  assert.deepEqual(bodyIn(vendor), {
    message: {
      token: 'fKz1:APA91bFAKE',
      notification: { title: 'Order shipped', body: 'Your order #42 is on its way' },
    },
  })
})

test('settings of the type data make the payload texts, and no notification', async (t) => {
  const message = await messageOf(t, {
    payload: {
      orderId: 42,
      who: 'Zoe',
      items: [1, { a: null }],
      from: 'me',
      message_type: 'x',
      'google.c': 1,
      none: undefined,
    },
    customData: { type: 'data', data: { badge: 3 } },
  })
  assert.deepEqual(message, {
    token: 'fKz1:APA91bFAKE',
    data: {
      orderId: '42',
      who: 'Zoe',
      items: '[1,{"a":null}]',
      badge: '3',
      title: 'Order shipped',
      body: 'Your order #42 is on its way',
      message: 'Your order #42 is on its way',
    },
  })
})

test('a passthrough is merged last, and sets no authorization', async (t) => {
  const vendor = await firebase(t)
  await send(vendor, { passthrough: { body: { validate_only: true, message: { notification: { body: 'other' } } } } })
  assert.equal(bodyIn(vendor).validate_only, true)
  assert.deepEqual(bodyIn(vendor).message.notification, { title: 'Order shipped', body: 'other' })
  const forged = await firebase(t)
  const outcome = await send(forged, { passthrough: { headers: { Authorization: 'Bearer mine' } } })
  assert.deepEqual([kindOf(outcome), forged.asked], ['refused: bad-content', []])
})

test('a passthrough does not say which devices get it', async (t) => {
  const vendor = await firebase(t)
  for (const message of [{ token: 'other' }, { topic: 'all' }, { condition: "'a' in topics" }, null]) {
    const outcome = await send(vendor, { passthrough: { body: { message } } })
    assert.equal(kindOf(outcome), 'refused: bad-content', JSON.stringify(message))
  }
  assert.deepEqual(vendor.asked, [])
})

test('a message that cannot be sent asks no one', async (t) => {
  const vendor = await firebase(t)
  assert.equal(kindOf(await send(vendor, { target: '' })), 'refused: bad-recipient')
  for (const key of ['from', 'message_type', 'google.x', 'gcm.x']) {
    const outcome = await send(vendor, { customData: { data: { [key]: 'x' } } })
    assert.equal(kindOf(outcome), 'refused: bad-content', key)
  }
  const broken = await send(vendor, {}, '{"private_key":"hunter2"}')
  assert.equal(broken.kind, 'misconfigured')
  assert.doesNotMatch(JSON.stringify(broken), /hunter2/)
  assert.deepEqual(vendor.asked, [])
})

test('many sends at once share one access token, and so do those after them', async (t) => {
  let grant: () => void = () => {}
  const opened = new Promise<void>((resolve) => {
    grant = resolve
  })
  const vendor = await firebase(t, { token: (count) => opened.then(() => granted(count)) })
  const sending = Array.from({ length: 20 }, () => send(vendor))
  grant()
  const outcomes = await Promise.all(sending)
  assert.ok(outcomes.every(({ kind }) => kind === 'sent'))
  await send(vendor)
  assert.equal(vendor.asked.filter(isAsk).length, 1)
  assert.equal(vendor.asked.length, 22)
})

test('a token is asked again five minutes before it ends, and not sooner', async (t) => {
  const vendor = await firebase(t)
  await send(vendor)
  vendor.world.advance((3_599 - 301) * 1_000)
  await send(vendor)
  assert.equal(vendor.asked.filter(isAsk).length, 1)
  vendor.world.advance(2_000)
  await send(vendor)
  assert.equal(vendor.asked.filter(isAsk).length, 2)
  assert.equal(vendor.seen.at(-1)?.headers.authorization, 'Bearer ya29.token-2')
})

test('while Google is in trouble the old token serves as long as it lasts', async (t) => {
  const vendor = await firebase(t, { token: (count) => (count === 1 ? granted(1) : { status: 503 }) })
  await send(vendor)
  vendor.world.advance(3_590_000)
  assert.equal((await send(vendor)).kind, 'sent')
  assert.equal(vendor.seen.at(-1)?.headers.authorization, 'Bearer ya29.token-1')
  vendor.world.advance(10_000)
  assert.equal((await send(vendor)).kind, 'busy')
})

test('each account has its own token, even where a file claims the same name and key', async (t) => {
  const vendor = await firebase(t)
  await send(vendor)
  const { privateKey: other } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await send(vendor, {}, file({ private_key: other.export({ type: 'pkcs8', format: 'pem' }) }))
  assert.equal(vendor.asked.filter(isAsk).length, 2)
  const tokens = vendor.seen.flatMap(({ headers }) => headers.authorization ?? [])
  assert.deepEqual(tokens, ['Bearer ya29.token-1', 'Bearer ya29.token-2'])
})

const unauthenticated: VendorAnswer = {
  status: 401,
  body: { error: { code: 401, message: 'Request had invalid authentication credentials.', status: 'UNAUTHENTICATED' } },
}

test('a token that is refused is forgotten, and the message sent once more with a new one', async (t) => {
  const vendor = await firebase(t, {
    send: ({ headers }) => (headers.authorization === 'Bearer ya29.token-1' ? unauthenticated : accepted),
  })
  assert.deepEqual(await send(vendor), { kind: 'sent', providerMessageId: name })
  assert.deepEqual(vendor.asked, [tokenAsked, messageSent, tokenAsked, messageSent])
})

test('many whose token is refused at once share the next one too', async (t) => {
  const vendor = await firebase(t, {
    send: ({ headers }) => (headers.authorization === 'Bearer ya29.token-1' ? unauthenticated : accepted),
  })
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => send(vendor)))
  assert.ok(outcomes.every(({ kind }) => kind === 'sent'))
  assert.equal(vendor.asked.filter(isAsk).length, 2)
})

test('one that is refused again is misconfigured, without a third try', async (t) => {
  const vendor = await firebase(t, { send: () => unauthenticated })
  assert.equal((await send(vendor)).kind, 'misconfigured')
  assert.deepEqual(vendor.asked, [tokenAsked, messageSent, tokenAsked, messageSent])
})

const grants: [string, VendorAnswer, string][] = [
  ['a bad signature', { status: 400, body: { error: 'invalid_grant', error_description: 'Bad.' } }, 'misconfigured'],
  ['an unknown client', { status: 401, body: { error: 'invalid_client' } }, 'misconfigured'],
  ['a disabled client', { status: 403, body: { error: 'disabled_client' } }, 'misconfigured'],
  ['too many grants', { status: 429, headers: { 'retry-after': '4' } }, 'busy'],
  ['trouble', { status: 500 }, 'busy'],
  ['a time-out between', { status: 504 }, 'busy'],
  ['no token', { status: 200, body: { access_tokem: 'ya29.leak' } }, 'busy'],
]
for (const [what, answer, kind] of grants) {
  test(`${what} at Google’s token endpoint is ${kind}, and nothing is sent`, async (t) => {
    const vendor = await firebase(t, { token: () => answer })
    const outcome = await send(vendor)
    assert.equal(outcome.kind, kind)
    assert.deepEqual(vendor.asked, [tokenAsked])
    assert.doesNotMatch(JSON.stringify(outcome), /ya29/)
  })
}

test('a token endpoint that breaks off is busy: no message was sent; a send that breaks off leaves us unsure', async (t) => {
  const vendor = await firebase(t)
  const passOn = vendor.world.onFetch
  let isBroken = (address: string): boolean => isAsk(`POST ${address}`)
  vendor.world.onFetch = (request, options) => {
    if (isBroken(request.url)) throw new OutboundError('unsure', 'broke off')
    return passOn?.(request, options) ?? Promise.reject(new Error('no network'))
  }
  assert.deepEqual(await send(vendor), { kind: 'busy', detail: 'broke off', down: true })
  isBroken = (address) => !isAsk(`POST ${address}`)
  assert.deepEqual(await send(vendor), { kind: 'unsure', detail: 'broke off', down: true })
})

test('a grant that took almost all the time leaves none to send in', async (t) => {
  const vendor = await firebase(t, {
    token: (count) => {
      vendor.world.advance(18_500)
      return granted(count)
    },
  })
  assert.equal((await send(vendor)).kind, 'busy')
  assert.deepEqual(vendor.asked, [tokenAsked])
})

const fcmError = (errorCode: string) => ({
  '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError',
  errorCode,
})
const violation = (field: string) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field, description: 'Invalid' }],
})
const notToken = 'The registration token is not a valid FCM registration token'

const answers: [number, string, readonly object[], string][] = [
  [404, 'Requested entity was not found.', [fcmError('UNREGISTERED')], 'refused: dead-token'],
  [404, 'Requested entity was not found.', [], 'misconfigured'],
  [400, notToken, [fcmError('INVALID_ARGUMENT')], 'refused: dead-token'],
  [400, 'Invalid value', [fcmError('INVALID_ARGUMENT'), violation('message.data[0].value')], 'refused: bad-content'],
  [400, 'Invalid value', [fcmError('INVALID_ARGUMENT'), violation('message.token')], 'refused: dead-token'],
  [400, 'Message too big', [fcmError('INVALID_ARGUMENT')], 'refused: bad-content'],
  [400, 'Unknown name "sound"', [violation('message.notification')], 'refused: bad-content'],
  [403, 'SenderId mismatch', [fcmError('SENDER_ID_MISMATCH')], 'refused: bad-recipient'],
  [403, 'Permission denied', [], 'misconfigured'],
  [401, 'Auth error from APNS', [fcmError('THIRD_PARTY_AUTH_ERROR')], 'misconfigured'],
  [429, 'Quota exceeded', [fcmError('QUOTA_EXCEEDED')], 'busy'],
  [500, 'Internal', [fcmError('INTERNAL')], 'busy'],
  [503, 'Unavailable', [fcmError('UNAVAILABLE')], 'busy'],
  [504, 'Gateway', [], 'unsure'],
  [413, 'Too large', [], 'refused: other'],
]
for (const [status, message, details, kind] of answers) {
  test(`${status} "${message}" with ${details.length} details: ${kind}`, async (t) => {
    const body = { error: { code: status, message: `${message} (${pushMessage.target})`, status: 'X', details } }
    const vendor = await firebase(t, { send: () => ({ status, body }) })
    const outcome = await send(vendor)
    assert.equal(kindOf(outcome), kind)
    assert.match(JSON.stringify(outcome), /…FAKE/)
    assert.doesNotMatch(JSON.stringify(outcome), /APA91b|ya29/)
    // A key of Apple's is not fixed by another access token.
    assert.equal(vendor.asked.length, 2)
  })
}

test('a wait is as long as Firebase says, else a minute for quotas and ten seconds for trouble', async (t) => {
  const waits = async (status: number, headers = {}) => {
    const outcome = await send(await firebase(t, { send: () => ({ status, headers }) }))
    return outcome.kind === 'busy' ? outcome.retryAfterMs : outcome.kind
  }
  assert.equal(await waits(429), 60_000)
  assert.equal(await waits(429, { 'retry-after': '5' }), 5_000)
  assert.equal(await waits(503), 10_000)
  assert.equal(await waits(503, { 'retry-after': '40' }), 40_000)
})

test('a success without a name leaves us unsure', async (t) => {
  for (const body of ['', '{}', '<html>']) {
    const outcome = await send(await firebase(t, { send: () => ({ status: 200, body }) }))
    assert.equal(outcome.kind, 'unsure')
  }
})
