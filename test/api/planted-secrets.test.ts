// Secrets planted where people are reached: no key that may only read finds one of them in any answer, nor does the log.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { routes } from '../../src/http/registry.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { VendorScript } from '../support/channel-scene.ts'
import { OutboxScene } from '../support/outbox-scene.ts'
import { createTestPipeline } from '../support/pipeline.ts'

const linkBase = 'https://posthorn.example.com'
const webhook = 'https://hooks.slack.com/services/T0PLANTED/B0PLANTED/planted-webhook'
const planted = {
  webhook,
  token: 'planted-device-token',
  named: 'planted-device-named-by-the-event',
  refused: 'planted-device-that-is-gone',
}

let app: TestApp
let scene: OutboxScene
let reader: string
/** What stands for each parameter of a path. */
const known: Record<string, string> = {}
/** The token of the link in the mail. */
let link = ''

before(async () => {
  app = await createTestApp()
  app = { ...app, pipeline: createTestPipeline(app.database.db, app.world, { linkBase }) }
  scene = new OutboxScene(app)
  const vendors = new VendorScript(scene)
  const [chat, push] = [await vendors.chat('slack'), await vendors.firebase('planted')]
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
  const overrides = { fcm: { deviceTokens: [planted.named] }, channels: { chat: { webhookUrl: webhook } } }
  const notification = await scene.run(name, subscriberId, { overrides })
  reader = (await scene.expect(201, 'POST', '/v1/environments/api-keys', { name: 'reader', scopes: ['read'] })).key
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
})

test('a key that may only read finds none of them in any answer', async () => {
  let answered = 0
  const ids = (await scene.list({ limit: '100' })).data.map((one: Json) => one._id)
  for (const route of routes.filter(({ method, scope }) => method === 'GET' && scope === 'read')) {
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
  assert.ok((await search(link.slice(-20))) > 0)
  assert.equal(await search(link.slice(-20), reader), 0)
  assert.ok((await search('Stop', reader)) > 0)
})

test('nor does the log hold one', () => {
  assertNone(JSON.stringify(app.world.logged), 'the log')
})
