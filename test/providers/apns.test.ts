// Apple's push service: the token that requests are signed with, how long it is used, and what is not sent.
import assert from 'node:assert/strict'
import { generateKeyPairSync, verify } from 'node:crypto'
import { test } from 'node:test'
import { jwtVerify } from 'jose'
import type { PushMessage } from '../../src/domain/messages/outbound-message.ts'
import { formMistakes } from '../../src/providers/form.ts'
import { apns } from '../../src/providers/push/apns.ts'
import type { OutboundAnswer, OutboundOptions } from '../../src/world/world.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { kindOf, pushMessage, sendWith } from '../support/provider-scene.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const account = {
  secretKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  apiKey: 'ABC1234DEF',
  projectName: 'TEAM123456',
  applicationId: 'com.example.app',
}
const minuteMs = 60_000
const expired = { status: 403, reason: 'ExpiredProviderToken' }

/** Apple as it is scripted: one answer a call, then successes. */
function apple(...answers: { status: number; reason: string }[]) {
  const world = createFakeWorld()
  const tokens: string[] = []
  const options: OutboundOptions[] = []
  world.onFetch = (request, given): OutboundAnswer => {
    tokens.push((request.headers.get('authorization') ?? '').replace('bearer ', ''))
    options.push(given)
    const { status, reason } = answers.shift() ?? { status: 200, reason: '' }
    return { status, headers: new Headers(), body: reason === '' ? '' : JSON.stringify({ reason }) }
  }
  const send = (change: Partial<PushMessage> = {}, credentials: object = account) =>
    sendWith({ world }, apns, { ...pushMessage, target: 'ab12', ...change }, credentials)
  return { world, tokens, options, send }
}

test('the token is signed for the team with ES256, and anything changed in it is found out', async () => {
  const { world, tokens, options, send } = apple()
  assert.equal((await send()).kind, 'sent')
  const [token = ''] = tokens
  const { payload, protectedHeader } = await jwtVerify(token, publicKey, { currentDate: world.now() })
  assert.deepEqual(protectedHeader, { alg: 'ES256', kid: 'ABC1234DEF' })
  assert.deepEqual(payload, { iss: 'TEAM123456', iat: Math.floor(world.now().getTime() / 1000) })
  const [header, claims, signature = ''] = token.split('.')
  const raw = Buffer.from(signature, 'base64url')
  assert.equal(raw.length, 64)
  const holds = (content: string) =>
    verify('sha256', Buffer.from(content), { key: publicKey, dsaEncoding: 'ieee-p1363' }, raw)
  assert.equal(holds(`${header}.${claims}`), true)
  const others = Buffer.from(JSON.stringify({ ...payload, iss: 'TEAM999999' })).toString('base64url')
  assert.equal(holds(`${header}.${others}`), false)
  assert.equal(options[0]?.http2, true)
  assert.notEqual(options[0]?.account, undefined)
})

test('many sends share a token for fifty minutes; another key has another', async () => {
  const { world, tokens, send } = apple()
  await Promise.all(Array.from({ length: 20 }, () => send()))
  world.advance(49 * minuteMs)
  await send()
  assert.equal(new Set(tokens).size, 1)
  await send({}, { ...account, apiKey: 'ZZZ1234DEF' })
  assert.equal(new Set(tokens).size, 2)
  world.advance(minuteMs)
  await send()
  assert.equal(new Set(tokens).size, 3)
})

test('a token that Apple calls expired is made again and tried once more, but never twice within twenty minutes', async () => {
  const { world, tokens, send } = apple(expired, { status: 200, reason: '' }, expired)
  assert.equal(kindOf(await send()), 'misconfigured')
  assert.equal(tokens.length, 1, 'a token of this minute is not replaced by another')
  world.advance(21 * minuteMs)
  await send()
  assert.equal(new Set(tokens).size, 1)
  assert.equal((await send()).kind, 'sent')
  assert.deepEqual([tokens.length, new Set(tokens).size], [4, 2])
})

test('many whose token expired at once make one new token between them', async () => {
  const { world, tokens, send } = apple()
  await send()
  world.advance(30 * minuteMs)
  const old = tokens[0]
  world.onFetch = (request) => {
    const token = (request.headers.get('authorization') ?? '').replace('bearer ', '')
    tokens.push(token)
    return { status: token === old ? 403 : 200, headers: new Headers(), body: '{"reason":"ExpiredProviderToken"}' }
  }
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => send()))
  assert.deepEqual(new Set(outcomes.map(kindOf)), new Set(['sent']))
  assert.equal(new Set(tokens).size, 2)
})

test('what Apple would not take is not asked', async () => {
  const { tokens, send } = apple()
  const kinds = [
    await send({ target: ' <> ' }),
    await send({ title: '', content: '' }),
    await send({ content: 'é'.repeat(2_100) }),
    await send({ customData: { collapseId: 'a\r\nb' } }),
    await send({}, { ...account, secretKey: 'no key' }),
  ]
  assert.deepEqual(kinds.map(kindOf), [
    'refused: bad-recipient',
    'refused: bad-content',
    'refused: bad-content',
    'refused: bad-content',
    'misconfigured',
  ])
  assert.deepEqual(tokens, [])
  assert.equal((await send({ content: 'é'.repeat(2_100), customData: { pushType: 'voip' } })).kind, 'sent')
})

test('a token that is not for a topic of the caller’s own is not called dead', async () => {
  const reason = { status: 400, reason: 'DeviceTokenNotForTopic' }
  const { send } = apple(reason, reason)
  assert.equal(kindOf(await send()), 'refused: dead-token')
  assert.equal(kindOf(await send({ customData: { topic: 'com.example.other' } })), 'refused: bad-recipient')
})

test('a key of another kind or an id that is none is named', () => {
  const mistakes = (change: object) => Object.keys(formMistakes(apns.form, { ...account, ...change }))
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  assert.deepEqual(mistakes({}), [])
  assert.deepEqual(mistakes({ secretKey: account.secretKey.replaceAll('\n', '\\n') }), [])
  for (const secretKey of [rsa, other, 'x']) assert.deepEqual(mistakes({ secretKey }), ['credentials.secretKey'])
  assert.deepEqual(mistakes({ apiKey: 'short', projectName: 'x', applicationId: 'a b' }), [
    'credentials.apiKey',
    'credentials.projectName',
    'credentials.applicationId',
  ])
})
