// Firebase Cloud Messaging: the check of a service account on the wire.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { jwtVerify } from 'jose'
import { formMistakes } from '../../src/providers/form.ts'
import { fcm } from '../../src/providers/push/fcm.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { openNetwork, startVendor } from '../support/integration-scene.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const file = {
  type: 'service_account',
  project_id: 'demo-app',
  client_email: 'sender@demo-app.iam.gserviceaccount.com',
  private_key: pem,
  private_key_id: 'key-1',
  token_uri: 'https://attacker.example.org/token',
}
const text = (change: object = {}): string => JSON.stringify({ ...file, ...change })

interface Seen {
  readonly path: string | undefined
  readonly authorization: string | undefined
  readonly body: string
}

async function seenOf(request: IncomingMessage): Promise<Seen> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  return { path: request.url, authorization: request.headers.authorization, body }
}

async function check(
  t: TestContext,
  answers: { token: [number, object]; send?: [number, object] },
  serviceAccount = text(),
) {
  const seen: Seen[] = []
  const asked: string[] = []
  const address = await startVendor(t, async (request, response) => {
    const call = await seenOf(request)
    seen.push(call)
    const [status, body] = call.path === '/token' ? answers.token : (answers.send ?? [500, {}])
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const world = createFakeWorld()
  openNetwork(world, { address, asked })
  return { result: await fcm.check?.(world, { serviceAccount }), asked, seen, world }
}

const granted: [number, object] = [200, { access_token: 'ya29.test', expires_in: 3599, token_type: 'Bearer' }]

test('the check takes an access token from Google’s own endpoint and lets Firebase validate a message without sending it', async (t) => {
  const { result, asked, seen, world } = await check(t, {
    token: granted,
    send: [200, { name: 'projects/demo-app/messages/1' }],
  })
  assert.deepEqual(result, { kind: 'good' })
  assert.deepEqual(asked, [
    'POST https://oauth2.googleapis.com/token',
    'POST https://fcm.googleapis.com/v1/projects/demo-app/messages:send',
  ])
  const form = new URLSearchParams(seen[0]?.body)
  assert.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer')
  const { payload, protectedHeader } = await jwtVerify(form.get('assertion') ?? '', publicKey, {
    currentDate: world.now(),
  })
  const issuedAt = Math.floor(world.now().getTime() / 1000)
  assert.deepEqual(payload, {
    iss: file.client_email,
    scope: 'https://www.googleapis.com/auth/firebase.messaging',
    aud: 'https://oauth2.googleapis.com/token',
    iat: issuedAt,
    exp: issuedAt + 3600,
  })
  assert.deepEqual(protectedHeader, { alg: 'RS256', typ: 'JWT', kid: 'key-1' })
  assert.equal(seen[1]?.authorization, 'Bearer ya29.test')
  assert.deepEqual(JSON.parse(seen[1]?.body ?? ''), { message: { topic: 'credential-check' }, validate_only: true })
})

test('a key that lost its line breaks on the way is fixed', async (t) => {
  const { result } = await check(
    t,
    { token: granted, send: [200, {}] },
    text({ private_key: pem.replaceAll('\n', '\\n') }),
  )
  assert.deepEqual(result, { kind: 'good' })
})

test('a refused grant and a refused message are reported in Google’s words', async (t) => {
  const grant = await check(t, {
    token: [400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }],
  })
  assert.deepEqual(grant.result, {
    kind: 'bad',
    words: 'Google answered 400: Invalid JWT Signature.',
    field: 'serviceAccount',
  })
  assert.equal(grant.asked.length, 1)
  const denied = await check(t, {
    token: granted,
    send: [403, { error: { code: 403, message: 'Permission denied', status: 'PERMISSION_DENIED' } }],
  })
  assert.deepEqual(denied.result, {
    kind: 'bad',
    words: 'Firebase answered 403: Permission denied',
    field: 'serviceAccount',
  })
})

test('a file that is none, or lacks a part, is named without a word of it', () => {
  const { privateKey: elliptic } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const wrong = [
    'hunter2',
    '"hunter2"',
    'null',
    text({ project_id: undefined }),
    text({ project_id: '../hunter2' }),
    text({ client_email: 5 }),
    text({ private_key: undefined }),
    text({ private_key: 'hunter2' }),
    text({ private_key: elliptic.export({ type: 'pkcs8', format: 'pem' }) }),
  ]
  for (const serviceAccount of wrong) {
    const mistakes = formMistakes(fcm.form, { serviceAccount })
    assert.deepEqual(Object.keys(mistakes), ['credentials.serviceAccount'], serviceAccount)
    assert.doesNotMatch(JSON.stringify(mistakes), /hunter2|PRIVATE/)
  }
  assert.deepEqual(formMistakes(fcm.form, { serviceAccount: text() }), {})
})
