// Vendors that sign a word and not what they send: whoever has seen a call cannot send another report with its signature.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { sweepSignedTexts } from '../../src/store/integrations/inbound-tokens.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const key = 'signing-key-of-mailgun'

async function mailgunAddress(): Promise<string> {
  const made = await scene.expect(201, 'POST', '/v1/integrations', {
    providerId: 'mailgun',
    channel: 'email',
    name: fresh('Mailgun'),
    active: false,
    check: false,
    credentials: { apiKey: 'k', domain: 'mg.example.com', from: 'hello@example.com' },
    configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: key },
  })
  return `/v1/webhooks/${made._environmentId}/${made._id}`
}

function report(token: string, event: object): string {
  const timestamp = String(Math.floor(app.world.now().getTime() / 1_000))
  const signature = createHmac('sha256', key)
    .update(timestamp + token)
    .digest('hex')
  return JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': event })
}

const tell = (address: string, body: string): Promise<TestReply> =>
  app.call('POST', address, { body, headers: { 'content-type': 'application/json' }, key: null })

const delivered = { event: 'delivered', recipient: 'ada@example.com', message: { headers: { 'message-id': 'm-1' } } }
const complained = { ...delivered, event: 'complained' }

test('a signature is good for the report that it came with, however often that is repeated', async () => {
  const address = await mailgunAddress()
  const first = report('one', delivered)
  assert.equal((await tell(address, first)).status, 200)
  assert.equal((await tell(address, first)).status, 200)
  // The same token and signature, around something else.
  const forged = JSON.stringify({ ...JSON.parse(first), 'event-data': complained })
  assert.equal((await tell(address, forged)).status, 401)
  assert.equal((await tell(address, report('two', complained))).status, 200)
})

test('what one integration was sent is not held against another', async () => {
  const [one, other] = [await mailgunAddress(), await mailgunAddress()]
  assert.equal((await tell(one, report('shared', delivered))).status, 200)
  assert.equal((await tell(other, report('shared', complained))).status, 200)
})

test('words are forgotten long after their calls could be repeated', async () => {
  await tell(await mailgunAddress(), report('old', delivered))
  const { db } = app.database
  const count = async () => (await db.rows(sql`select token from inbound_tokens`)).length
  const before = await count()
  const later = (days: number) => new Date(app.world.now().getTime() + days * 24 * 60 * 60_000)
  assert.equal(await db.transaction((tx) => sweepSignedTexts(tx, later(29), 1_000)), 0)
  assert.equal(await db.transaction((tx) => sweepSignedTexts(tx, later(31), 1_000)), before)
  assert.equal(await count(), 0)
})
