// Firebase on the wire: a thousand devices by one HTTP/2 connection with one access token, goodbyes and refused streams.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { constants } from 'node:http2'
import { test } from 'node:test'
import { fcm } from '../../src/providers/push/fcm.ts'
import type { World } from '../../src/world/world.ts'
import type { Http2Call } from '../support/http2-vendor.ts'
import { respond, startHttp2Vendor } from '../support/http2-vendor.ts'
import { kindOf, pushMessage, sendWith } from '../support/provider-scene.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const account = {
  serviceAccount: JSON.stringify({
    project_id: 'demo-app',
    client_email: 'sender@demo-app.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  }),
}

const sendTo = (world: World, index: number) =>
  sendWith({ world: world as never }, fcm, { ...pushMessage, target: `device-${index}` }, account)
const many = (world: World, count: number) => Promise.all(Array.from({ length: count }, (_, at) => sendTo(world, at)))

/** Google grants `ya29.1`, `ya29.2` and so on, by ordinary calls. */
function google() {
  let granted = 0
  const others: World['fetch'] = async () => {
    granted += 1
    const body = JSON.stringify({ access_token: `ya29.${granted}`, expires_in: 3599 })
    return { status: 200, headers: new Headers(), body }
  }
  return { others, granted: () => granted }
}

const tokenIn = ({ body }: Http2Call): string => JSON.parse(body).message.token
const gone = JSON.stringify({
  error: { details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: 'UNREGISTERED' }] },
})

function firebase(call: Http2Call): void {
  if (call.headers[':path'] !== '/v1/projects/demo-app/messages:send') respond(call, 404, '{}')
  else if (call.headers.authorization !== 'Bearer ya29.1') respond(call, 401, '{}')
  else if (tokenIn(call).endsWith('7')) respond(call, 404, gone)
  else respond(call, 200, JSON.stringify({ name: `projects/demo-app/messages/${tokenIn(call)}` }))
}

test('a thousand devices are sent to by one connection with one access token, each with its own outcome', async (t) => {
  const { others, granted } = google()
  const { world, calls, sessions } = await startHttp2Vendor(t, firebase, { others })
  const outcomes = await many(world, 1_000)
  assert.deepEqual([sessions.length, calls.length, granted()], [1, 1_000, 1])
  outcomes.forEach((outcome, index) => {
    assert.equal(kindOf(outcome), index % 10 === 7 ? 'refused: dead-token' : 'sent')
    const name = `projects/demo-app/messages/device-${index}`
    if (outcome.kind === 'sent') assert.equal(outcome.providerMessageId, name)
  })
})

test('a stale access token is asked for again once, whoever finds out, and all go by the same connection', async (t) => {
  const { others, granted } = google()
  const { world, sessions } = await startHttp2Vendor(
    t,
    (call) => {
      const isStale = call.headers.authorization === 'Bearer ya29.1'
      respond(call, isStale ? 401 : 200, isStale ? '{}' : JSON.stringify({ name: `x/${tokenIn(call)}` }))
    },
    { others },
  )
  const outcomes = await many(world, 100)
  assert.deepEqual(new Set(outcomes.map(kindOf)), new Set(['sent']))
  assert.deepEqual([sessions.length, granted()], [1, 2])
})

test('a stream that Firebase refuses was not sent; one that it cuts leaves us unsure; the others continue', async (t) => {
  const { others } = google()
  const { world, sessions } = await startHttp2Vendor(
    t,
    (call) => {
      if (tokenIn(call) === 'device-2') return call.stream.close(constants.NGHTTP2_REFUSED_STREAM)
      if (tokenIn(call) === 'device-3') return call.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      return firebase(call)
    },
    { others },
  )
  const outcomes = await many(world, 6)
  assert.deepEqual(outcomes.map(kindOf), ['sent', 'sent', 'busy', 'unsure', 'sent', 'sent'])
  assert.equal(sessions.length, 1)
})

test('after a goodbye, what was not looked at was certainly not sent, and may be sent again', async (t) => {
  const { others } = google()
  let heard = 0
  const { world } = await startHttp2Vendor(
    t,
    (call) => {
      heard += 1
      if (heard === 100) call.stream.session?.goaway(constants.NGHTTP2_NO_ERROR, Number(call.stream.id))
      firebase(call)
    },
    { others },
  )
  const outcomes = await many(world, 400)
  for (const outcome of outcomes) assert.match(kindOf(outcome), /^(sent|busy|refused: dead-token)$/)
  const again = outcomes.flatMap(({ kind }, index) => (kind === 'busy' ? [index] : []))
  assert.ok(again.length > 0, 'the goodbye came too late to leave anything')
  const repeated = await Promise.all(again.map((index) => sendTo(world, index)))
  for (const outcome of repeated) assert.match(kindOf(outcome), /^(sent|refused: dead-token)$/)
})
