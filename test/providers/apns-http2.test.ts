// Apple's push service on the wire: a thousand devices by one HTTP/2 connection, goodbyes and refused streams.
import assert from 'node:assert/strict'
import { generateKeyPairSync, verify } from 'node:crypto'
import { constants } from 'node:http2'
import { test } from 'node:test'
import { apns } from '../../src/providers/push/apns.ts'
import type { World } from '../../src/world/world.ts'
import type { Http2Call } from '../support/http2-vendor.ts'
import { respond, startHttp2Vendor } from '../support/http2-vendor.ts'
import { kindOf, pushMessage, sendWith } from '../support/provider-scene.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const account = {
  secretKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  apiKey: 'ABC1234DEF',
  projectName: 'TEAM123456',
  applicationId: 'com.example.app',
}

const deviceOf = (index: number): string => index.toString(16).padStart(64, '0')
const idOf = (index: number): string => `0197f3a0-0000-7000-8000-${index.toString(16).padStart(12, '0')}`
const sendTo = (world: World, index: number, credentials = account) =>
  sendWith({ world: world as never }, apns, { ...pushMessage, id: idOf(index), target: deviceOf(index) }, credentials)
const many = (world: World, count: number) => Promise.all(Array.from({ length: count }, (_, at) => sendTo(world, at)))

/** As Apple looks at a request before anything else. */
function reasonFor({ headers, body }: Http2Call): string | undefined {
  const [scheme, token = ''] = (headers.authorization ?? '').split(' ')
  const [header, claims, signature = ''] = token.split('.')
  const raw = Buffer.from(signature, 'base64url')
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  if (scheme !== 'bearer') return 'MissingProviderToken'
  if (!verify('sha256', Buffer.from(`${header}.${claims}`), key, raw)) return 'InvalidProviderToken'
  if (headers['apns-topic'] !== account.applicationId) return 'DeviceTokenNotForTopic'
  if (!/^\/3\/device\/[\da-f]{64}$/.test(headers[':path'] ?? '')) return 'BadPath'
  return 'aps' in JSON.parse(body) ? undefined : 'PayloadEmpty'
}

function apple(call: Http2Call): void {
  const reason = reasonFor(call)
  const id = String(call.headers['apns-id'])
  if (reason !== undefined) respond(call, 400, JSON.stringify({ reason }))
  else if (String(call.headers[':path']).endsWith('7')) respond(call, 410, '{"reason":"Unregistered","timestamp":1}')
  else respond(call, 200, '', { 'apns-id': id })
}

test('a thousand devices are sent to by one connection with one token, each with its own outcome', async (t) => {
  const { world, calls, sessions } = await startHttp2Vendor(t, apple)
  const outcomes = await many(world, 1_000)
  assert.equal(sessions.length, 1)
  assert.equal(calls.length, 1_000)
  assert.equal(new Set(calls.map(({ headers }) => headers[':path'])).size, 1_000)
  assert.equal(new Set(calls.map(({ headers }) => headers.authorization)).size, 1)
  outcomes.forEach((outcome, index) => {
    const isGone = index % 16 === 7
    assert.equal(kindOf(outcome), isGone ? 'refused: dead-token' : 'sent')
    if (outcome.kind === 'sent') assert.equal(outcome.providerMessageId, idOf(index))
  })
})

test('a vendor that first takes one stream, and more once it knows us, gets all of them', async (t) => {
  const known = new Set<number>()
  const { world, sessions } = await startHttp2Vendor(
    t,
    (call) => {
      if (!known.has(call.connection)) call.stream.session?.settings({ maxConcurrentStreams: 1_000 })
      known.add(call.connection)
      apple(call)
    },
    { streamsMax: 1 },
  )
  const outcomes = await many(world, 200)
  assert.deepEqual(new Set(outcomes.map(kindOf)), new Set(['sent', 'refused: dead-token']))
  assert.ok(sessions.length <= 4, `${sessions.length} connections`)
})

test('two teams never share a connection', async (t) => {
  const { world, calls } = await startHttp2Vendor(t, apple)
  const other = { ...account, projectName: 'TEAM654321' }
  await Promise.all([sendTo(world, 1), sendTo(world, 2, other), sendTo(world, 3), sendTo(world, 4, other)])
  const teamOf = ({ headers }: Http2Call): string => {
    const claims = (headers.authorization ?? '').split('.')[1] ?? ''
    return JSON.parse(Buffer.from(claims, 'base64url').toString()).iss
  }
  const pairs = new Set(calls.map((call) => `${call.connection} ${teamOf(call)}`))
  assert.equal(pairs.size, 2)
})

test('after a goodbye, what Apple did not look at was certainly not sent, and the next goes by a new connection', async (t) => {
  let isOver = false
  const { world, sessions } = await startHttp2Vendor(t, (call) => {
    if (isOver || call.connection > 0) return apple(call)
    isOver = true
    const lastHeard = Number(call.stream.id)
    apple(call)
    call.stream.session?.goaway(constants.NGHTTP2_NO_ERROR, lastHeard, Buffer.from('{"reason":"Shutdown"}'))
    call.stream.session?.close()
  })
  const first = await sendTo(world, 1)
  assert.equal(first.kind, 'sent')
  const outcomes = await many(world, 6)
  for (const outcome of outcomes) assert.match(outcome.kind, /^(sent|busy)$/, JSON.stringify(outcome))
  assert.equal((await sendTo(world, 2)).kind, 'sent')
  assert.ok(sessions.length >= 2)
})

test('a stream that Apple refuses was not sent; one that it cuts leaves us unsure; the others continue', async (t) => {
  const { world, sessions } = await startHttp2Vendor(t, (call) => {
    const device = Number.parseInt(String(call.headers[':path']).slice(-4), 16)
    if (device === 2) return call.stream.close(constants.NGHTTP2_REFUSED_STREAM)
    if (device === 3) return call.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    return apple(call)
  })
  const outcomes = await many(world, 6)
  assert.deepEqual(outcomes.map(kindOf), ['sent', 'sent', 'busy', 'unsure', 'sent', 'sent'])
  assert.equal(sessions.length, 1)
})

test('a goodbye in the midst of a thousand: whatever was not looked at may be sent again', async (t) => {
  let heard = 0
  const { world } = await startHttp2Vendor(t, (call) => {
    heard += 1
    if (heard === 300) call.stream.session?.goaway(constants.NGHTTP2_NO_ERROR, Number(call.stream.id))
    apple(call)
  })
  const outcomes = await many(world, 1_000)
  const kinds = outcomes.map(({ kind }) => kind)
  assert.deepEqual(
    kinds.filter((kind) => kind === 'misconfigured' || kind === 'unsure'),
    [],
  )
  const again = outcomes.flatMap(({ kind }, index) => (kind === 'busy' ? [index] : []))
  assert.ok(again.length > 0, 'the goodbye came too late to leave anything')
  const repeated = await Promise.all(again.map((index) => sendTo(world, index)))
  for (const outcome of repeated) assert.match(kindOf(outcome), /^(sent|refused: dead-token)$/)
})
