// E-mail by webhook: the signed call, and what its answers mean.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import type { EmailMessage } from '../../src/domain/messages/outbound-message.ts'
import { emailWebhook } from '../../src/providers/email/email-webhook.ts'
import { formMistakes } from '../../src/providers/form.ts'
import { createOutboundFetch } from '../../src/world/outbound/outbound-fetch.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { openNetwork, startVendor } from '../support/integration-scene.ts'
import { bodyOf, email, emailMessage } from '../support/outbound-scene.ts'

async function send(
  t: TestContext,
  listener: RequestListener,
  account: object = {},
  change: Partial<EmailMessage> = {},
) {
  const address = await startVendor(t, listener)
  const world = createFakeWorld()
  openNetwork(world)
  const credentials = { webhookUrl: `${address}/hooks/email?team=1`, secretKey: 'whsec-secret', ...account }
  return { outcome: (await emailWebhook.send?.(world, email(change), credentials)) as Outcome, world }
}

const answering =
  (status: number, body = ''): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(body)

test('the message arrives as JSON, signed with its time, under a key that reports a repeat', async (t) => {
  let seen: { path: string | undefined; headers: IncomingHttpHeaders; body: string } | undefined
  const { outcome, world } = await send(
    t,
    async (request, response) => {
      seen = { path: request.url, headers: request.headers, body: await bodyOf(request) }
      response.end('thanks')
    },
    { from: 'hello@example.com', senderName: 'Größe', apiKeyRequestHeader: 'X-Api-Key', apiKey: 'static-key' },
    {
      bcc: ['ben@example.org'],
      attachments: [{ name: 'terms.pdf', mime: 'application/pdf', content: 'JVBERi0xLjQK' }],
      metadata: { workflowId: 'w1' },
      customData: { campaign: 'x' },
    },
  )
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: emailMessage.id })
  assert.ok(seen)
  assert.equal(seen.path, '/hooks/email?team=1')
  assert.equal(seen.headers['idempotency-key'], emailMessage.id)
  assert.equal(seen.headers['x-api-key'], 'static-key')
  assert.equal(seen.headers['content-type'], 'application/json')
  const seconds = Math.floor(world.now().getTime() / 1000)
  const expected = createHmac('sha256', 'whsec-secret').update(`${seconds}.${seen.body}`).digest('hex')
  assert.equal(seen.headers['x-posthorn-signature'], `t=${seconds},v1=${expected}`)
  assert.deepEqual(JSON.parse(seen.body), {
    id: emailMessage.id,
    from: 'hello@example.com',
    senderName: 'Größe',
    to: ['zoe@example.org'],
    cc: [],
    bcc: ['ben@example.org'],
    subject: 'Invoice 7',
    html: '<p>Hi</p>',
    text: 'Hi',
    headers: {},
    attachments: [{ name: 'terms.pdf', mime: 'application/pdf', content: 'JVBERi0xLjQK' }],
    tags: [],
    metadata: { workflowId: 'w1' },
    customData: { campaign: 'x' },
  })
})

test('a passthrough is part of what is signed, and cannot stand in for the account’s own headers', async (t) => {
  let seen: { path: string | undefined; headers: IncomingHttpHeaders; body: string } | undefined
  const listener: RequestListener = async (request, response) => {
    seen = { path: request.url, headers: request.headers, body: await bodyOf(request) }
    response.end()
  }
  const account = { apiKeyRequestHeader: 'X-Api-Key', apiKey: 'static-key' }
  const passthrough = { body: { extra: 1 }, headers: { 'x-api-key': 'mine', 'x-team': 'ops' }, query: { a: 'b' } }
  const { outcome, world } = await send(t, listener, account, { passthrough })
  assert.equal(outcome.kind, 'sent')
  assert.equal(seen?.path, '/hooks/email?team=1&a=b')
  assert.deepEqual([seen?.headers['x-api-key'], seen?.headers['x-team']], ['static-key', 'ops'])
  assert.equal(JSON.parse(seen?.body ?? '').extra, 1)
  const seconds = Math.floor(world.now().getTime() / 1000)
  const expected = createHmac('sha256', 'whsec-secret').update(`${seconds}.${seen?.body}`).digest('hex')
  assert.equal(seen?.headers['x-posthorn-signature'], `t=${seconds},v1=${expected}`)
  const forged = await send(t, answering(200), {}, { passthrough: { headers: { 'X-Posthorn-Signature': 'x' } } })
  assert.equal(forged.outcome.kind, 'refused')
})

test('a repeat with the same message is reported by the same key, so it may be repeated', () => {
  assert.equal(emailWebhook.idempotent, true)
})

test('the id is taken from where the account says, else ours stands for it', async (t) => {
  const answer = JSON.stringify({ data: { id: 'ext-77', items: [{ number: 5 }], empty: '' } })
  const idAt = async (idPath: string) => {
    const { outcome } = await send(t, answering(200, answer), { idPath })
    return outcome.kind === 'sent' ? outcome.providerMessageId : undefined
  }
  assert.equal(await idAt('data.id'), 'ext-77')
  assert.equal(await idAt('$.data.items[0].number'), '5')
  for (const path of ['data.missing', 'data', 'data.empty', '__proto__.id'])
    assert.equal(await idAt(path), emailMessage.id)
  const { outcome } = await send(t, answering(202, '<html>'), { idPath: 'data.id' })
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: emailMessage.id })
})

const kinds: [number, Outcome['kind']][] = [
  [200, 'sent'],
  [204, 'sent'],
  [302, 'misconfigured'],
  [400, 'refused'],
  [401, 'misconfigured'],
  [404, 'misconfigured'],
  [405, 'misconfigured'],
  [408, 'busy'],
  [410, 'refused'],
  [425, 'busy'],
  [429, 'busy'],
  [500, 'busy'],
  [503, 'busy'],
  [504, 'unsure'],
]
test('each answer means what it says', async (t) => {
  for (const [status, kind] of kinds) {
    const { outcome } = await send(t, answering(status, status === 204 ? '' : '{"message":"queue down whsec-secret"}'))
    assert.equal(outcome.kind, kind, String(status))
    if (kind !== 'sent') {
      assert.match(JSON.stringify(outcome), new RegExp(`The webhook answered ${status}: queue down \\[redacted\\]`))
    }
  }
})

test('a private address is not called unless it is allowed, and neither is metadata', async () => {
  const world = createFakeWorld()
  world.onFetch = createOutboundFetch({ allow: [] })
  for (const webhookUrl of ['http://127.0.0.1:1/x', 'https://10.0.0.1/x', 'https://localhost/x']) {
    const outcome = await emailWebhook.send?.(world, email(), { webhookUrl, secretKey: 's' })
    assert.equal(outcome?.kind, 'misconfigured', webhookUrl)
  }
})

test('the check finds out whether anyone is there, and hands over nothing', async (t) => {
  const seen: unknown[] = []
  const address = await startVendor(t, (request, response) => {
    seen.push(request.method)
    response.writeHead(405).end()
  })
  const world = createFakeWorld()
  openNetwork(world)
  assert.deepEqual(await emailWebhook.check?.(world, { webhookUrl: address, secretKey: 's' }), { kind: 'good' })
  assert.deepEqual(seen, ['HEAD'])
  const away = await emailWebhook.check?.(world, { webhookUrl: 'http://127.0.0.1:9/', secretKey: 's' })
  assert.equal(away?.kind === 'bad' && away.field, 'webhookUrl')
})

test('an address, a header or a path that is none is named', () => {
  const mistakes = (credentials: object) => Object.keys(formMistakes(emailWebhook.form, credentials))
  const right = { webhookUrl: 'https://ops.example.com/x?y=z', secretKey: 's' }
  assert.deepEqual(mistakes(right), [])
  for (const webhookUrl of ['ops.example.com', 'ftp://a', 'https://u:p@a.example', 'http://169.254.169.254/x']) {
    assert.deepEqual(mistakes({ ...right, webhookUrl }), ['credentials.webhookUrl'], webhookUrl)
  }
  for (const apiKeyRequestHeader of ['X Key', 'X-Key:', 'Host', 'content-length', 'X-Posthorn-Signature', '']) {
    const expected = apiKeyRequestHeader === '' ? [] : ['credentials.apiKeyRequestHeader']
    assert.deepEqual(mistakes({ ...right, apiKeyRequestHeader }), expected, apiKeyRequestHeader)
  }
  for (const idPath of ['a..b', '[0]', 'a b', 'a[x]'])
    assert.deepEqual(mistakes({ ...right, idPath }), ['credentials.idPath'])
})
