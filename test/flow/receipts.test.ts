// Delivery receipts: what a provider reports moves a message forward, once, and only when the report proves itself.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { PostmarkScript, webhookKey } from '../support/postmark-script.ts'
import { email } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let postmark: PostmarkScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())
beforeEach(async () => {
  postmark = new PostmarkScript(scene)
  await postmark.account()
})
afterEach(() => postmark.remove())

interface Sent {
  readonly transactionId: string
  readonly address: string
  readonly messageId: string
  readonly providerMessageId: string
}

async function sent(more: object = {}): Promise<Sent> {
  const address = `${fresh('ada')}@example.org`
  const workflow = await scene.workflow([email('Hello')])
  const { transactionId } = await scene.run(workflow, { subscriberId: fresh('person'), email: address }, more)
  const message = await scene.message(transactionId)
  return { transactionId, address, messageId: message._id, providerMessageId: message.identifier }
}

const receiptsOf = (notification: Json): [string, string, string][] =>
  notification.jobs[0].executionDetails
    .filter((one: Json) => one.source === 'Webhook')
    .map((one: Json) => [one.detail, one.status, one.providerId])

const delivery = ({ providerMessageId, address }: Sent, more: object = {}) => ({
  RecordType: 'Delivery',
  MessageID: providerMessageId,
  Recipient: address,
  Details: 'Test delivery',
  ...more,
})
const bounce = ({ providerMessageId, address }: Sent, more: object = {}) => ({
  RecordType: 'Bounce',
  Type: 'HardBounce',
  MessageID: providerMessageId,
  Email: address,
  Description: 'No such mailbox',
  ...more,
})

test('a delivery is reported in the job’s story and dated on the message; the answer names the message', async () => {
  const mail = await sent()
  app.world.advance(60_000)
  const at = new Date(app.world.now().getTime() - 5_000).toISOString()
  const answer = await postmark.reports(delivery(mail, { DeliveredAt: at }))
  assert.deepEqual(answer, [
    {
      id: mail.messageId,
      event: { status: 'delivered', date: at, externalId: mail.providerMessageId, response: 'Test delivery' },
    },
  ])
  const notification = await scene.notification(mail.transactionId)
  assert.deepEqual(receiptsOf(notification), [['Test delivery - (delivered)', 'Success', 'postmark']])
  const message = await scene.message(mail.transactionId)
  assert.deepEqual([message.status, message.deliveredAt], ['sent', [at]])
})

test('a report that comes twice changes nothing the second time', async () => {
  const mail = await sent()
  await postmark.reports(delivery(mail))
  const before = await scene.notification(mail.transactionId)
  await postmark.reports(delivery(mail))
  assert.deepEqual(receiptsOf(await scene.notification(mail.transactionId)), receiptsOf(before))
  assert.equal((await scene.message(mail.transactionId)).deliveredAt.length, 1)
})

test('a hard bounce makes the message an error and suppresses the address: nothing more is sent there', async () => {
  const mail = await sent()
  await postmark.reports(bounce(mail))
  const message = await scene.message(mail.transactionId)
  assert.deepEqual([message.status, message.errorId], ['error', 'mail_unexpected_error'])
  assert.match(message.errorText, /No such mailbox/)
  const listed = await scene.expect(200, 'GET', `/v1/suppressions?channel=email&address=${mail.address}`)
  assert.deepEqual(
    listed.data.map((one: Json) => [one.address, one.reason, one.source]),
    [[mail.address, 'bounced', 'provider']],
  )
  const before = postmark.calls.length
  const workflow = await scene.workflow([email('Again')])
  const notification = await scene.run(workflow, { subscriberId: fresh('person'), email: mail.address })
  assert.equal(notification.jobs[0].status, 'skipped')
  assert.equal(postmark.calls.length, before)
})

test('a complaint suppresses and leaves the message as it was; an opening is a confirmation', async () => {
  const mail = await sent()
  const { address, providerMessageId } = mail
  await postmark.reports({ RecordType: 'Open', MessageID: providerMessageId, Recipient: address })
  await postmark.reports({ RecordType: 'SpamComplaint', MessageID: providerMessageId, Email: address })
  const notification = await scene.notification(mail.transactionId)
  assert.deepEqual(
    receiptsOf(notification).map(([, status]) => status),
    ['ReadConfirmation', 'Failed'],
  )
  assert.equal((await scene.message(mail.transactionId)).status, 'sent')
  const [listed] = (await scene.expect(200, 'GET', `/v1/suppressions?channel=email&address=${address}`)).data
  assert.equal(listed.reason, 'complained')
})

test('what comes out of order does no harm: after a bounce a late delivery changes nothing but the story', async () => {
  const mail = await sent()
  await postmark.reports(bounce(mail))
  await postmark.reports(delivery(mail))
  assert.equal((await scene.message(mail.transactionId)).status, 'error')
  const blocked = await sent()
  await postmark.reports(delivery(blocked))
  await postmark.reports(bounce(blocked, { Type: 'Blocked' }))
  assert.equal((await scene.message(blocked.transactionId)).status, 'sent', 'delivered is delivered')
})

test('a copy that bounces is reported, and its address suppressed; the message was still sent', async () => {
  const copy = `${fresh('copy')}@example.org`
  const mail = await sent({ overrides: { email: { cc: [copy] } } })
  await postmark.reports(bounce(mail, { Email: copy }))
  const message = await scene.message(mail.transactionId)
  assert.equal(message.status, 'sent')
  assert.deepEqual(receiptsOf(await scene.notification(mail.transactionId)).length, 1)
  const { data } = await scene.expect(200, 'GET', `/v1/suppressions?channel=email&address=${copy}`)
  assert.equal(data.length, 1)
})

test('a message that was perhaps sent was sent, when its delivery is reported', async () => {
  postmark.answer = () => 'cut'
  const mail = await sent()
  // E-mail that was perhaps sent is repeated once; then it stands as a warning.
  await scene.advance(3_600_000, 1_000)
  assert.equal((await scene.message(mail.transactionId)).status, 'warning')
  const metadata = { message_id: mail.messageId }
  await postmark.reports({
    RecordType: 'Delivery',
    MessageID: 'pm-unknown',
    Recipient: mail.address,
    Metadata: metadata,
  })
  const message = await scene.message(mail.transactionId)
  assert.deepEqual([message.status, message.errorId], ['sent', undefined])
})

test('a call without the key, or with another, is 401 and changes nothing', async () => {
  const mail = await sent()
  assert.equal((await postmark.tells(bounce(mail), { key: 'another-key' })).status, 401)
  const bare = await app.call('POST', postmark.address, {
    body: JSON.stringify(bounce(mail)),
    headers: { 'content-type': 'application/json' },
    key: null,
  })
  assert.equal(bare.status, 401)
  // Not even an API key of the environment is the vendor's.
  assert.equal((await app.call('POST', postmark.address, { body: bounce(mail) })).status, 401)
  assert.equal((await scene.message(mail.transactionId)).status, 'sent')
  const inUrl = await app.call('POST', `${postmark.address}?token=${webhookKey}`, {
    body: JSON.stringify(delivery(mail)),
    headers: { 'content-type': 'text/plain' },
    key: null,
  })
  assert.deepEqual([inUrl.status, inUrl.body.length], [200, 1])
})

test('an integration that takes no calls, another environment’s, and one that is not there are 404', async () => {
  const mail = await sent()
  const [, , , environmentId, integrationId] = postmark.address.split('/')
  const production = await app.call('GET', '/v1/environments/me', { key: app.productionKey })
  const unknownPath = [
    `/v1/webhooks/${production.body._id}/${integrationId}`,
    `/v1/webhooks/${environmentId}/${environmentId}`,
    '/v1/webhooks/nonsense/nonsense',
  ]
  for (const address of unknownPath)
    assert.equal((await postmark.tells(delivery(mail), { address })).status, 404, address)
  await scene.expect(200, 'PUT', `/v1/integrations/${integrationId}`, {
    configurations: { inboundWebhookEnabled: false, inboundWebhookSigningKey: webhookKey },
  })
  assert.equal((await postmark.tells(delivery(mail))).status, 404)
})

test('the other address of such calls, and a look whether anyone is there, are answered too', async () => {
  const mail = await sent()
  const [, , , environmentId, integrationId] = postmark.address.split('/')
  const address = `/v2/inbound-webhooks/delivery-providers/${environmentId}/${integrationId}`
  assert.equal((await postmark.tells(delivery(mail), { address })).body.length, 1)
  assert.equal((await app.call('HEAD', postmark.address, { key: null })).status, 200)
})

test('one integration’s calls do not touch what another sent', async () => {
  const mail = await sent()
  await postmark.account()
  assert.deepEqual(await postmark.reports(bounce(mail)), [])
  assert.equal((await scene.message(mail.transactionId)).status, 'sent')
})

test('a report of something else, or of nothing we sent, is taken and changes nothing', async () => {
  assert.deepEqual(
    await postmark.reports({ RecordType: 'Delivery', MessageID: 'nobody’s', Recipient: 'x@example.org' }),
    [],
  )
  for (const body of ['', '{', 'null', '[]', '{"RecordType":"Strange\\u0000"}']) {
    const headers = { authorization: `Bearer ${webhookKey}`, 'content-type': 'application/json' }
    const reply = await app.call('POST', postmark.address, { body, headers, key: null })
    assert.deepEqual([reply.status, reply.body], [200, []], body)
  }
})

test('a report that is faster than our own commit is kept, and reported when the message is settled', async () => {
  let early: Json
  postmark.meanwhile = async () => {
    postmark.meanwhile = undefined
    early = await postmark.reports({ RecordType: 'Delivery', MessageID: 'pm-1', Recipient: '', Details: 'Quick' })
  }
  const mail = await sent()
  assert.deepEqual([early, mail.providerMessageId], [[], 'pm-1'])
  assert.equal(receiptsOf(await scene.notification(mail.transactionId)).length, 0)
  await scene.advance(20_000)
  assert.deepEqual(receiptsOf(await scene.notification(mail.transactionId)), [
    ['Quick - (delivered)', 'Success', 'postmark'],
  ])
  const left = await scene.rows(sql`select 1 from tasks where kind = 'receipt' and due_at is not null`)
  await scene.advance(7_200_000, 60_000)
  const rest = await scene.rows(sql`select 1 from tasks where kind = 'receipt'`)
  assert.ok(rest.length <= left.length)
  assert.equal(rest.length, 0, 'a report of an unknown message is forgotten in the end')
})

test('an unknown caller’s body is not read: an address that no one has is 404, however long it is', async () => {
  const unknownPath = '/v1/webhooks/01890000-0000-7000-8000-000000000000/01890000-0000-7000-8000-000000000000'
  const body = Buffer.alloc(21 * 1024 * 1024, 'x')
  const headers = { 'content-type': 'application/octet-stream' }
  assert.equal((await app.call('POST', unknownPath, { body, headers, key: null })).status, 404)
  assert.equal((await app.call('POST', postmark.address, { body, headers, key: null })).status, 413)
  // Whatever a large one took of memory is given back.
  for (let call = 0; call < 6; call += 1) {
    const large = body.subarray(0, 19 * 1024 * 1024)
    assert.equal((await app.call('POST', postmark.address, { body: large, headers, key: null })).status, 401)
  }
})

test('a bounce at the integration that had its turn before suppresses, and leaves what the next one sent', async () => {
  const mail = await sent()
  const first = postmark.address
  const [, , , , firstId = ''] = first.split('/')
  const second = await postmark.account()
  await scene.rows(sql`
    update messages set integration_id = ${second}, sending = sending || ${JSON.stringify({ tried: [firstId] })}::jsonb
    where id = ${mail.messageId}`)
  assert.equal((await postmark.tells(bounce(mail), { address: first })).body.length, 1)
  assert.equal((await scene.message(mail.transactionId)).status, 'sent')
  const { data } = await scene.expect(200, 'GET', `/v1/suppressions?channel=email&address=${mail.address}`)
  assert.equal(data.length, 1)
  await postmark.reports(bounce(mail))
  assert.equal((await scene.message(mail.transactionId)).status, 'error')
})

test('the same reports in many concurrent requests are recorded once, and none is lost to a deadlock', async () => {
  const mails = [await sent(), await sent(), await sent()]
  const calls = mails.flatMap((mail) => [delivery(mail), bounce(mail), delivery(mail)])
  const answers = await Promise.all([...calls, ...calls.reverse()].map((body) => postmark.tells(body)))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  for (const mail of mails) {
    assert.equal(receiptsOf(await scene.notification(mail.transactionId)).length, 2)
    assert.equal((await scene.message(mail.transactionId)).status, 'error')
  }
})

test('a long list of reports is processed to its end, and unmatched ones are kept in small tasks', async () => {
  const mail = await sent()
  await scene.rows(sql`delete from tasks where kind = 'receipt'`)
  const made = await scene.expect(201, 'POST', '/v1/integrations', {
    providerId: 'mailjet',
    channel: 'email',
    credentials: { apiKey: 'a', secretKey: 'b', from: 'hello@example.com' },
    configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: webhookKey },
  })
  await scene.rows(sql`update messages set integration_id = ${made._id} where id = ${mail.messageId}`)
  const report = (guid: string) => ({ event: 'open', Message_GUID: guid, email: mail.address })
  const newSubscribers = Array.from({ length: 2_050 }, (_, n) => report(`stranger-${n}`))
  const address = `/v1/webhooks/${made._environmentId}/${made._id}`
  const answer = await postmark.tells([...newSubscribers, report(mail.providerMessageId)], { address })
  assert.deepEqual(
    answer.body.map(({ id }: Json) => id),
    [mail.messageId],
  )
  const tasks = await scene.rows(sql`
    select jsonb_array_length(state->'receipts') as kept from tasks where kind = 'receipt'`)
  assert.equal(tasks.length, 21)
  assert.ok(tasks.every(({ kept }) => kept <= 100))
  await scene.advance(3_600_000, 300_000)
  assert.equal((await scene.rows(sql`select 1 from tasks where kind = 'receipt'`)).length, 0)
})
