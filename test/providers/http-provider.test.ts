// A provider that is one request: what each answer, and each way of getting none, comes to.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import { refused, sent } from '../../src/domain/delivery/outcome.ts'
import { chatWebhook } from '../../src/providers/chat/chat-webhook.ts'
import { emailWebhook } from '../../src/providers/email/email-webhook.ts'
import { baseAddress, optional, secret, text } from '../../src/providers/form.ts'
import { httpProvider, outcomeOfStatus } from '../../src/providers/http-provider.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { pushWebhook } from '../../src/providers/push/push-webhook.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import { createOutboundFetch } from '../../src/world/outbound/outbound-fetch.ts'
import type { FakeWorld } from '../support/fake-world.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { openNetwork, startVendor } from '../support/integration-scene.ts'
import { email } from '../support/outbound-scene.ts'
import { chatMessage, kindOf, pushMessage, sendWith, vendorAnswering } from '../support/provider-scene.ts'

const form = { apiKey: secret('Key'), baseUrl: optional(text('Base')) }

const vendor: Provider = httpProvider({
  id: 'vendor',
  channel: 'email',
  name: 'Vendor',
  docsUrl: '/docs',
  evidence: { source: 'ours' },
  form,
  reach: ({ baseUrl }) => (baseUrl === undefined ? 'guarded' : 'operator'),
  request: (message, { apiKey, baseUrl = 'https://vendor.example' }) => {
    if (message.subject === 'throw') throw new Error(`cannot write ${apiKey}`)
    if (message.subject === 'refuse') return refused('bad-content', 'not this')
    return {
      url: `${baseAddress(baseUrl)}/send`,
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: message.subject,
    }
  },
  outcome: (answer) => {
    if (answer.string('break') !== undefined) throw new Error('cannot read this')
    return answer.status === 200 ? sent(answer.string('id') ?? '') : outcomeOfStatus(answer)
  },
})

async function sendTo(baseUrl: string, change = {}, world: FakeWorld = createFakeWorld()): Promise<Outcome> {
  if (world.onFetch === undefined) openNetwork(world)
  const outcome = await vendor.send?.(world, email(change), { apiKey: 'top-secret', baseUrl })
  assert.ok(outcome)
  return outcome
}

async function answered(t: TestContext, status: number, headers = {}, body = ''): Promise<Outcome> {
  return sendTo(await startVendor(t, (_request, response) => void response.writeHead(status, headers).end(body)))
}

const kinds: [Outcome['kind'], readonly number[]][] = [
  ['busy', [408, 425, 429, 500, 502, 503, 521, 522, 523, 529]],
  ['misconfigured', [301, 302, 307, 401, 403]],
  ['refused', [400, 402, 404, 405, 410, 413, 422, 451]],
  ['unsure', [201, 204, 501, 504, 520, 524]],
]
for (const [kind, statuses] of kinds) {
  test(`${statuses.join(', ')}: ${kind}, with the status and the words`, async (t) => {
    for (const status of statuses) {
      const outcome = await answered(t, status, {}, status === 204 ? '' : 'because')
      assert.equal(outcome.kind, kind, String(status))
      assert.match(JSON.stringify(outcome), new RegExp(`answered ${status}`))
      if (status !== 204) assert.match(JSON.stringify(outcome), /because/)
      assert.equal('down' in outcome, status >= 500, `${status}: trouble of the vendor’s own`)
    }
  })
}

test('Retry-After is read in seconds and as a date, and nothing else is taken for one', async (t) => {
  const now = createFakeWorld().now()
  const cases: [string, number | undefined][] = [
    ['7', 7_000],
    [' 1.5 ', 1_500],
    ['0', 0],
    [new Date(now.getTime() + 90_000).toUTCString(), 90_000 - now.getMilliseconds()],
    [new Date(now.getTime() - 90_000).toUTCString(), 0],
    ['99999999', 86_400_000],
    ['soon', undefined],
    ['-3', undefined],
    ['1e9', undefined],
  ]
  for (const [given, expected] of cases) {
    const outcome = await answered(t, 429, { 'retry-after': given })
    assert.equal(outcome.kind, 'busy')
    assert.equal(outcome.kind === 'busy' ? outcome.retryAfterMs : undefined, expected, given)
  }
  const without = await answered(t, 503)
  assert.equal('retryAfterMs' in without, false)
})

test('a host we do not call is misconfigured, one that is away is busy, one that breaks off leaves us unsure', async (t) => {
  const guarded = createFakeWorld()
  guarded.onFetch = createOutboundFetch({ allow: [] })
  assert.equal((await sendTo('http://169.254.169.254', {}, guarded)).kind, 'misconfigured')
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  const away = await sendTo(`http://127.0.0.1:${port}`)
  assert.deepEqual([away.kind, 'down' in away], ['busy', true])
  const cut = await sendTo(await startVendor(t, (request) => void request.socket.destroy()))
  assert.deepEqual([cut.kind, 'down' in cut], ['unsure', true])
})

test('a call that cannot be made says nothing of the vendor', async () => {
  const world = createFakeWorld()
  world.fetch = createOutboundFetch({ allow: ['127.0.0.1'] })
  const outcome = await vendor.send?.(world, email(), { apiKey: 'a\r\nb', baseUrl: 'http://127.0.0.1:9' })
  assert.ok(outcome)
  assert.deepEqual([outcome.kind, 'down' in outcome], ['busy', false])
})

test('the account’s own address is called in the operator’s reach, the vendor’s in the guarded one, both within a bound', async () => {
  const world = createFakeWorld()
  const seen: unknown[] = []
  world.onFetch = (_request, options) => {
    seen.push(options.reach)
    assert.ok(options.timeoutMs !== undefined && options.timeoutMs < 20_000)
    throw new OutboundError('not-sent', 'away')
  }
  await vendor.send?.(world, email(), { apiKey: 'k', baseUrl: 'http://10.0.0.1' })
  await vendor.send?.(world, email(), { apiKey: 'k' })
  await vendor.send?.(world, email(), { apiKey: 'k', baseUrl: '' })
  assert.deepEqual(seen, ['operator', 'guarded', 'guarded'])
})

test('a base address that the form does not ask for opens no private address to webhooks of others', async () => {
  const world = createFakeWorld()
  world.onFetch = createOutboundFetch({ allow: [] })
  const account = { secretKey: 'whsec-secret', webhookUrl: 'http://127.0.0.1:1/hook', baseUrl: 'https://example.com' }
  const chat = { ...chatMessage, webhookUrl: 'http://127.0.0.1:1/hook' }
  assert.equal(kindOf((await chatWebhook.send?.(world, chat, account)) as Outcome), 'refused: bad-recipient')
  assert.equal((await emailWebhook.send?.(world, email(), account))?.kind, 'misconfigured')
})

test('a message that is no good asks no one', async () => {
  const world = createFakeWorld()
  assert.deepEqual(
    await vendor.send?.(world, email({ subject: 'refuse' }), { apiKey: 'k' }),
    refused('bad-content', 'not this'),
  )
})

test('whatever breaks before the request is misconfigured, after it unsure; nothing is thrown and no secret reported', async (t) => {
  const world = createFakeWorld()
  const before = await sendTo('http://127.0.0.1:9', { subject: 'throw' }, world)
  assert.equal(before.kind, 'misconfigured')
  assert.match(JSON.stringify(before), /cannot write \[redacted\]/)
  const breaking = await startVendor(t, (_request, response) => void response.end('{"break":"yes"}'))
  const after = await sendTo(breaking, {}, world)
  assert.equal(after.kind, 'unsure')
  world.onFetch = () => {
    throw new TypeError('a bug with top-secret')
  }
  const bug = await sendTo('http://127.0.0.1:9', {}, world)
  assert.deepEqual(bug, { kind: 'unsure', detail: 'Vendor failed unexpectedly while sending: a bug with [redacted]' })
  assert.equal(world.logged.filter(({ level }) => level === 'error').length, 2)
  assert.doesNotMatch(JSON.stringify(world.logged), /top-secret/)
})

test('a vendor’s words lose the secret, however it is written, and are bounded and storable', async (t) => {
  const encoded = Buffer.from('top-secret').toString('base64')
  const reported = await answered(t, 400, {}, `top-secret ${encoded} \u0000 ${'x'.repeat(70_000)}`)
  assert.equal(reported.kind, 'refused')
  assert.doesNotMatch(JSON.stringify(reported), /top-secret|\\u0000/)
  assert.ok(!JSON.stringify(reported).includes(encoded))
  assert.ok(JSON.stringify(reported).length < 16 * 1024)
  const long = await answered(t, 200, {}, JSON.stringify({ id: `\u0000${'9'.repeat(5_000)}` }))
  assert.deepEqual(long, { kind: 'sent', providerMessageId: '9'.repeat(1_000) })
})

test('where a provider says nothing of it, a passthrough may not name recipients as our messages do', async (t) => {
  const account = { webhookUrl: 'https://ops.example/hooks', secretKey: 'secret' }
  for (const [provider, message, members] of [
    [emailWebhook, email(), ['to', 'cc', 'bcc']],
    [chatWebhook, chatMessage, ['channel', 'phoneNumber', 'subscriberId']],
    [pushWebhook, pushMessage, ['target', 'subscriberId']],
  ] as const) {
    for (const member of members) {
      const asked = await vendorAnswering(t, { status: 200 })
      const given = { ...message, passthrough: { body: { [member]: ['eve'] } } }
      const outcome = await sendWith(asked, provider, given, account)
      assert.deepEqual([kindOf(outcome), asked.asked], ['refused: bad-content', []], `${provider.id} ${member}`)
      assert.ok('detail' in outcome && outcome.detail?.includes(`"${member}"`))
    }
  }
})
