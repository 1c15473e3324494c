// Rotating what an environment signs with: receivers have time to change over, and links in old mail stay good.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { callService } from '../../src/deliver/call-service.ts'
import type { Author } from '../../src/domain/operate/audit.ts'
import type { SigningKeys } from '../../src/domain/operate/signing-keys.ts'
import { writeUnsubscribeToken } from '../../src/domain/preferences/unsubscribe-token.ts'
import { rotateSigning } from '../../src/manage/operate/signing.ts'
import { isStandardWebhook } from '../../src/providers/signing/standard-webhook.ts'
import { findSigningKeys } from '../../src/store/operate/signing-versions.ts'
import type { OutboundRequest } from '../../src/world/world.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { look } from '../support/unsubscribe-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const author: Author = { keyId: 'cli', keyName: 'somebody', address: 'here', requestId: null }

async function keysOf(): Promise<SigningKeys> {
  const found = await findSigningKeys(app.database.db, app.world.sealer, await environmentOf(app))
  return found ?? assert.fail('there are none')
}

test('links of every version open, also those from before there were versions', async () => {
  const environment = await environmentOf(app)
  const workflow = await scene.expect(201, 'POST', '/v1/workflows', {
    name: 'Signed',
    active: true,
    steps: [inApp('x')],
  })
  const subscriber = await scene.expect(201, 'POST', '/v2/subscribers', { subscriberId: 'signed-person' })
  const ids = { environmentId: environment.id, subscriberId: subscriber._id, workflowId: workflow._id }
  const before = await keysOf()
  const links = [
    writeUnsubscribeToken(ids, Buffer.from(before.versions[0]?.secret ?? '')),
    ...before.tokenKeys('unsubscribe').map((key) => writeUnsubscribeToken(ids, key)),
  ]
  assert.equal(writeUnsubscribeToken(ids, before.tokenKey('unsubscribe')), links[0], 'older nodes open it too')
  // Looked at, so that the service has kept what it knew before the rotation.
  for (const token of links) assert.equal((await look(app, `/v1/unsubscribe/${token}`)).status, 200)
  await rotateSigning(app.database.db, app.world, environment, { author, idempotency: undefined })
  links.push(writeUnsubscribeToken(ids, (await keysOf()).tokenKey('unsubscribe')))
  assert.equal(new Set(links).size, 3, 'each version has its own')
  app.world.advance(2_000)
  for (const token of links) assert.equal((await look(app, `/v1/unsubscribe/${token}`)).status, 200)
  const forged = writeUnsubscribeToken(ids, Buffer.from('another'))
  assert.notEqual((await look(app, `/v1/unsubscribe/${forged}`)).status, 200)
})

test('calls carry both signatures for a while, and full keys see both secrets', async () => {
  const own = await scene.expect(200, 'GET', '/v1/environments/me')
  const [newest, first] = own.signingSecrets
  assert.deepEqual([newest.version, first.version, newest.secret], [2, 1, own.signingSecret])
  assert.match(newest.secret, /^whsec_/)
  const keys = (await keysOf()).callKeys(app.world.now())
  const asked: OutboundRequest[] = []
  const world = {
    ...app.world,
    now: () => app.world.now(),
    fetch: async (request: OutboundRequest | Request) => {
      asked.push(request as OutboundRequest)
      return { status: 200, headers: new Headers(), body: '{}' }
    },
  }
  const call = {
    url: 'https://ops.example.com/x',
    method: 'POST' as const,
    headers: { 'Webhook-Id': 'another' },
    body: '{"a":1}',
    timeoutMs: 1_000,
  }
  await callService(world, { call, idempotencyKey: 'job-1', keys })
  const { headers = {}, body = '' } = asked[0] ?? {}
  const [, seconds, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['x-posthorn-signature'] ?? '') ?? []
  assert.equal(hex, createHmac('sha256', first.secret).update(`${seconds}.${body}`).digest('hex'))
  assert.equal(headers['Webhook-Id'], undefined)
  const inbound = { headers, body: Buffer.from(body) }
  assert.equal(isStandardWebhook(inbound, newest.secret, app.world.now()), true)
  assert.equal(isStandardWebhook(inbound, `whsec_${Buffer.from('other').toString('base64')}`, app.world.now()), false)
})

test('a rotation stands in the audit log, without the secret', async () => {
  const { data } = await scene.expect(200, 'GET', '/v1/audit?resourceKind=environment')
  const entry = data.find(({ after }: Json) => after?.signingVersion !== undefined)
  assert.deepEqual([entry.before, entry.after], [{ signingVersion: 1 }, { signingVersion: 2 }])
  assert.doesNotMatch(JSON.stringify(data), /whsec_/)
})
