// Secrets planted where people are reached: no key that may not do everything finds one of them in any answer, nor does the log.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { scopes } from '../../src/domain/environment.ts'
import { createSealer } from '../../src/domain/operate/sealed.ts'
import { routes } from '../../src/http/registry.ts'
import { reseal } from '../../src/manage/operate/reseal.ts'
import type { FinishedSpan, SpanSink } from '../../src/world/tracer.ts'
import { createTracer } from '../../src/world/tracer.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { VendorScript } from '../support/channel-scene.ts'
import { testEncryptionKey } from '../support/fake-world.ts'
import { OutboxScene } from '../support/outbox-scene.ts'
import { createTestPipeline } from '../support/pipeline.ts'

const linkBase = 'https://posthorn.example.com'
const webhook = 'https://hooks.slack.com/services/T0PLANTED/B0PLANTED/planted-webhook'
const planted = {
  webhook,
  token: 'planted-device-token',
  named: 'planted-device-named-by-the-event',
  refused: 'planted-device-that-is-gone',
  chosen: 'https://hooks.slack.com/services/T0CHOSEN/B0CHOSEN/planted-by-the-payload',
}

let app: TestApp
let scene: OutboxScene
let reader: string
/** What stands for each parameter of a path. */
const known: Record<string, string> = {}
/** The token of the link in the mail. */
let link = ''

/** Everything that was traced. */
const spans: FinishedSpan[] = []
const sink: SpanSink = {
  add: (span) => void spans.push(span),
  counts: () => ({ sent: 0, dropped: 0 }),
  flush: async () => {},
  stop: async () => {},
}

before(async () => {
  app = await createTestApp()
  app.world.tracer = createTracer({ sink, sampler: 'always_on', ratio: 1 })
  app = { ...app, pipeline: createTestPipeline(app.database.db, app.world, { linkBase }) }
  scene = new OutboxScene(app)
  const vendors = new VendorScript(scene)
  const [chat, push] = [await vendors.chat('slack'), await vendors.firebase('planted')]
  const configurations = { payloadWebhookHosts: ['hooks.slack.com'] }
  await scene.expect(200, 'PUT', `/v1/integrations/${chat._id}`, { configurations })
  const subscriberId = await vendors.person(
    { integration: chat, credentials: { webhookUrl: webhook } },
    { integration: push, credentials: { deviceTokens: [planted.token, planted.refused] } },
  )
  await scene.expect(200, 'PATCH', `/v2/subscribers/${subscriberId}`, { email: 'planted@example.org' })
  const content = `<p>${'x'.repeat(150)} <a href="{{ unsubscribe.url }}">Stop</a></p>`
  const workflow = await scene.created([
    { template: { type: 'email', subject: 'Stop at {{ unsubscribe.url }}', contentType: 'customHtml', content } },
    { template: { type: 'in_app', content: 'Stop at {{ unsubscribe.url }}' } },
    { template: { type: 'chat', content: 'Hello' } },
    { template: { type: 'push', title: 'Hello', content: 'there' } },
  ])
  const name = workflow.triggers[0].identifier
  vendors.does(planted.refused, 404)
  await scene.run(name, subscriberId)
  await scene.capture(true)
  const overrides = {
    fcm: { deviceTokens: [planted.named] },
    channels: { chat: { webhookUrl: 'https://planted-too.example' } },
  }
  const notification = await scene.run(name, subscriberId, { overrides, payload: { webhookUrl: planted.chosen } })
  const held = scopes.filter((scope) => scope !== 'full')
  reader = (await scene.expect(201, 'POST', '/v1/environments/api-keys', { name: 'reader', scopes: held })).key
  const mail = await scene.newest({ channel: 'email' })
  link = /\/v1\/unsubscribe\/([\w-]{87})/.exec(mail.message.html)?.[1] ?? assert.fail('there is no link')
  Object.assign(known, {
    subscriberId,
    notificationId: notification._id,
    transactionId: notification.transactionId,
    messageId: mail._id,
    workflowId: workflow._id,
  })
})
after(() => app.close())

const secrets = (): string[] => [...Object.values(planted), link]

function assertNone(text: string, where: string): void {
  // A part of a link, cut off, is a part of the secret: the signature stands at its end.
  for (const secret of [...secrets(), link.slice(0, 60), link.slice(-24)]) {
    assert.ok(
      !text.includes(secret),
      `${secret} stands in ${where}: …${text.slice(Math.max(0, text.indexOf(secret) - 200)).slice(0, 400)}`,
    )
  }
}

test('a full key sees all of them, as ever', async () => {
  const messages = JSON.stringify(await scene.expect(200, 'GET', '/v1/messages?limit=100'))
  const { data } = await scene.list({ limit: '100' })
  const outbox = await Promise.all(data.map((one: Json) => scene.expect(200, 'GET', `/v1/outbox/${one._id}`)))
  const whole = messages + JSON.stringify(outbox)
  for (const secret of secrets()) assert.ok(whole.includes(secret), secret)
  const activity = await scene.expect(200, 'GET', `/v1/notifications/${known['notificationId']}`)
  assert.equal(activity.payload.webhookUrl, planted.chosen)
})

test('a key that may do everything but what is for full keys finds none of them in any answer', async () => {
  let answered = 0
  const ids = (await scene.list({ limit: '100' })).data.map((one: Json) => one._id)
  for (const route of routes.filter(({ method, scope }) => method === 'GET' && scope !== 'full')) {
    const forEach = route.path.startsWith('/v1/outbox/{') ? ids : [known['messageId']]
    for (const messageId of forEach) {
      const values: Record<string, string> = { ...known, messageId }
      const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? 'none')
      const query = path === '/v1/outbox/wait' ? '?timeout=1ms' : ''
      const reply = await app.call('GET', `${path}${query}`, { key: reader })
      assert.ok(reply.status < 500, `${reply.status} ${path}`)
      if (reply.status === 200) answered += 1
      assertNone(reply.text.replaceAll('=\r\n', ''), path)
    }
  }
  assert.ok(answered > 30, `${answered} answered`)
})

test('nor by marking what holds them', async () => {
  const { data } = await scene.expect(200, 'GET', '/v1/messages?channel=in_app&limit=100')
  const [{ _id: messageId }] = data
  const marks = `/v1/subscribers/${known['subscriberId']}/messages/mark-as`
  const marked = await app.call('POST', marks, { key: reader, body: { messageId, markAs: 'read' } })
  assert.equal(marked.status, 201, marked.text)
  assert.ok(marked.text.includes('Stop at'))
  assertNone(marked.text, marks)
  const archive = `/v2/subscribers/${known['subscriberId']}/notifications/${messageId}/archive`
  const archived = await app.call('PATCH', archive, { key: reader })
  assert.equal(archived.status, 200, archived.text)
  assertNone(archived.text, archive)
})

test('nor by simulating, nor by searching the outbox for a part of a link', async () => {
  const simulate = '/v1/events/simulate'
  const body = {
    name: (await scene.expect(200, 'GET', `/v1/workflows/${known['workflowId']}`)).triggers[0].identifier,
    to: known['subscriberId'],
  }
  const simulated = await app.call('POST', simulate, { body, key: reader })
  assert.equal(simulated.status, 200)
  assertNone(simulated.text, simulate)
  const search = async (text: string, key?: string): Promise<number> => {
    const reply = await scene.get(`?${new URLSearchParams({ text })}`, key)
    return reply.body.data.length
  }
  // What is not stored is found by no one.
  assert.equal(await search(link.slice(-20)), 0)
  assert.equal(await search(link.slice(-20), reader), 0)
  assert.ok((await search('Stop', reader)) > 0)
})

test('nor does a table hold one of a device or a webhook, but for what an event names in its overrides', async () => {
  const { db } = app.database
  const tables = await db.rows<{ name: string }>(sql`
    select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`)
  assert.ok(tables.length > 20)
  for (const { name } of tables) {
    const rows = await db.rows<{ row: string }>({ text: `select t::text as row from ${name} t`, values: [] })
    for (const secret of [planted.webhook, planted.token, planted.refused]) {
      // As bytes it would be written in hexadecimal digits.
      const forms = [secret, Buffer.from(secret).toString('hex')]
      const holding = rows.filter(({ row }) => forms.some((form) => row.includes(form)))
      assert.deepEqual(holding, [], `${secret} stands in ${name}`)
    }
  }
})

test('what is sealed is found in the outbox by whom it is for, also after a change of the key', async () => {
  const found = async () => (await scene.list({ recipient: planted.chosen })).data.length
  assert.equal(await found(), 1)
  const { db } = app.database
  const changed = { ...app.world, sealer: createSealer([Buffer.alloc(32, 9), testEncryptionKey]) }
  const reported: string[] = []
  await reseal(db, changed, (what) => reported.push(what))
  assert.ok(reported.includes('addresses of messages'))
  const rows = await db.rows<{ id: string; addresses: Buffer; address_digest: Buffer; environment_id: string }>(
    sql`select id, addresses, address_digest, environment_id from messages where addresses is not null`,
  )
  assert.ok(rows.length >= 4)
  const only = createSealer([Buffer.alloc(32, 9)])
  for (const { id, addresses, environment_id } of rows) only.open(environment_id, 'message-addresses', id, addresses)
  const digest = only.digest(rows[0]?.environment_id ?? '', planted.chosen)
  assert.ok(rows.some((row) => row.address_digest.equals(digest)))
})

/** By table and column, whatever tables there are; partitions count as their table. */
async function columnsWith(secret: string): Promise<string[]> {
  const { db } = app.database
  const columns = await db.rows<{ table: string; column: string }>(sql`
    select c.table_name as table, c.column_name as column from information_schema.columns c
    join pg_class k on k.relname = c.table_name and not k.relispartition and k.relkind in ('r', 'p')
    where c.table_schema = 'public' and c.data_type <> 'bytea'`)
  const found: string[] = []
  for (const { table, column } of columns) {
    const text = `select 1 from "${table}" where strpos("${column}"::text, $1) > 0 limit 1`
    if ((await db.row({ text, values: [secret] })) !== undefined) found.push(`${table}.${column}`)
  }
  return found.sort()
}

test('they stand in the tables where an event brought them, and nowhere else', async () => {
  const secretsOf: Readonly<Record<string, readonly string[]>> = {
    'of the subscriber': [planted.webhook, planted.token],
    'of the payload': [planted.chosen],
    'of the overrides': [planted.named],
    'of the mail': [link, link.slice(-20)],
  }
  const found: Record<string, string[]> = {}
  for (const [whose, some] of Object.entries(secretsOf)) {
    found[whose] = [...new Set((await Promise.all(some.map(columnsWith))).flat())].sort()
  }
  // In clear: what an event itself brought.
  assert.deepEqual(found, {
    'of the subscriber': [],
    'of the payload': ['events.payload'],
    'of the overrides': ['events.overrides'],
    'of the mail': [],
  })
})

test('nor does the log hold one', () => {
  assertNone(JSON.stringify(app.world.logged), 'the log')
})

test('nor do the traces', () => {
  assert.ok(
    spans.some(({ name }) => name === 'send chat'),
    spans.map(({ name }) => name).join(),
  )
  assertNone(JSON.stringify(spans), 'the traces')
})
