// SendGrid: the request that sends, and what its answers mean.
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import type { EmailMessage } from '../../src/domain/messages/outbound-message.ts'
import { sendgrid } from '../../src/providers/email/sendgrid.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { openNetwork, startVendor } from '../support/integration-scene.ts'
import { bodyOf, email, emailMessage } from '../support/outbound-scene.ts'

const account = { apiKey: 'SG.top-secret', from: 'hello@example.com', senderName: 'Acme' }

interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: object
}
const accepted: Answer = { status: 202, headers: { 'x-message-id': '14c5d75ce93' } }

async function send(
  t: TestContext,
  change: Partial<EmailMessage> = {},
  answer = accepted,
  credentials: object = account,
) {
  const seen: { body: Record<string, unknown>; headers: IncomingHttpHeaders }[] = []
  const asked: string[] = []
  const address = await startVendor(t, async (request, response) => {
    seen.push({ body: JSON.parse(await bodyOf(request)), headers: request.headers })
    response.writeHead(answer.status, answer.headers).end(answer.body === undefined ? '' : JSON.stringify(answer.body))
  })
  const world = createFakeWorld()
  openNetwork(world, { address, asked })
  const outcome = (await sendgrid.send?.(world, email(change), credentials)) as Outcome
  return { outcome, asked, body: seen[0]?.body, headers: seen[0]?.headers }
}

test('a plain message is the least SendGrid takes', async (t) => {
  const { outcome, asked, body, headers } = await send(t)
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: '14c5d75ce93' })
  assert.deepEqual(asked, ['POST https://api.sendgrid.com/v3/mail/send'])
  assert.equal(headers?.authorization, 'Bearer SG.top-secret')
  assert.equal(headers?.['content-type'], 'application/json')
  assert.deepEqual(body, {
    personalizations: [{ to: [{ email: 'zoe@example.org' }] }],
    from: { email: 'hello@example.com', name: 'Acme' },
    subject: 'Invoice 7',
    content: [
      { type: 'text/plain', value: 'Hi' },
      { type: 'text/html', value: '<p>Hi</p>' },
    ],
    custom_args: { message_id: emailMessage.id },
  })
})

test('a full message has each address once, and every member where SendGrid looks for it', async (t) => {
  const { body } = await send(
    t,
    {
      from: 'billing@example.com',
      senderName: 'Größe',
      to: ['zoe@example.org', 'yan@example.org'],
      cc: ['amy@example.org', 'zoe@example.org'],
      bcc: ['ben@example.org', 'AMY@example.org'],
      replyTo: 'help@example.com',
      text: '',
      headers: { 'X-Kind': 'invoice' },
      attachments: [
        { name: 'terms.pdf', mime: 'application/pdf', content: 'JVBERi0xLjQK' },
        { name: 'logo.png', mime: 'image/png', content: 'AAAA', cid: 'logo', disposition: 'inline' },
      ],
      ipPoolName: 'transactional',
      tags: ['a', 'b', 'a'],
      metadata: { workflowId: 'w1', message_id: 'forged' },
    },
    accepted,
    { ...account, ipPoolName: 'other' },
  )
  assert.deepEqual(body, {
    personalizations: [
      {
        to: [{ email: 'zoe@example.org' }, { email: 'yan@example.org' }],
        cc: [{ email: 'amy@example.org' }],
        bcc: [{ email: 'ben@example.org' }],
      },
    ],
    from: { email: 'billing@example.com', name: 'Größe' },
    reply_to: { email: 'help@example.com' },
    subject: 'Invoice 7',
    content: [{ type: 'text/html', value: '<p>Hi</p>' }],
    attachments: [
      { content: 'JVBERi0xLjQK', type: 'application/pdf', filename: 'terms.pdf', disposition: 'attachment' },
      { content: 'AAAA', type: 'image/png', filename: 'logo.png', disposition: 'inline', content_id: 'logo' },
    ],
    headers: { 'X-Kind': 'invoice' },
    custom_args: { workflowId: 'w1', message_id: emailMessage.id },
    categories: ['a', 'b'],
    ip_pool_name: 'transactional',
  })
})

test('no more than ten categories are given, and the account’s pool where the message names none', async (t) => {
  const tags = Array.from({ length: 12 }, (_item, index) => `tag-${index}`)
  const { body } = await send(t, { tags }, accepted, { ...account, ipPoolName: 'own' })
  assert.deepEqual(body?.['categories'], tags.slice(0, 10))
  assert.equal(body?.['ip_pool_name'], 'own')
})

test('custom data adds settings, and cannot change who gets what from whom', async (t) => {
  const customData = {
    asm: { group_id: 7 },
    personalizations: [{ to: [{ email: 'eve@example.org' }] }],
    from: { email: 'eve@example.org' },
    subject: 'other',
  }
  const { body } = await send(t, { customData })
  assert.deepEqual(body?.['asm'], { group_id: 7 })
  assert.deepEqual(body?.['personalizations'], [{ to: [{ email: 'zoe@example.org' }] }])
  assert.deepEqual([body?.['from'], body?.['subject']], [{ email: 'hello@example.com', name: 'Acme' }, 'Invoice 7'])
})

test('a passthrough is merged into the request, and cannot take the key’s place', async (t) => {
  const { body, headers } = await send(t, {
    customData: { mail_settings: { sandbox_mode: { enable: true }, footer: { enable: false } } },
    passthrough: { body: { mail_settings: { footer: { enable: true } } }, headers: { 'X-Trace': '1' } },
  })
  assert.deepEqual(body?.['mail_settings'], { sandbox_mode: { enable: true }, footer: { enable: true } })
  assert.equal(headers?.['x-trace'], '1')
  const forged = await send(t, { passthrough: { headers: { authorization: 'Bearer mine' } } })
  assert.deepEqual([forged.outcome.kind, forged.asked.length], ['refused', 0])
})

test('neither custom data nor a passthrough sends a copy to someone else', async (t) => {
  const copy = { bcc: { enable: true, email: 'eve@example.org' } }
  const { body } = await send(t, { customData: { mail_settings: { ...copy, footer: { enable: true } } } })
  assert.deepEqual(body?.['mail_settings'], { footer: { enable: true } })
  for (const given of [{ personalizations: [{ to: [{ email: 'eve@example.org' }] }] }, { mail_settings: copy }]) {
    const { outcome, asked } = await send(t, { passthrough: { body: given } })
    assert.deepEqual([outcome.kind === 'refused' && outcome.reason, asked], ['bad-content', []])
  }
})

test('the region decides the host', async (t) => {
  const { asked } = await send(t, {}, accepted, { ...account, region: 'eu' })
  assert.deepEqual(asked, ['POST https://api.eu.sendgrid.com/v3/mail/send'])
})

test('without an id of SendGrid’s, ours stands for it', async (t) => {
  const { outcome } = await send(t, {}, { status: 202 })
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: emailMessage.id })
})

test('in the sandbox a 200 is the success, and nowhere else', async (t) => {
  const sandbox = { mail_settings: { sandbox_mode: { enable: true } } }
  for (const change of [{ customData: sandbox }, { passthrough: { body: sandbox } }]) {
    assert.equal((await send(t, change, { status: 200 })).outcome.kind, 'sent')
  }
  assert.equal((await send(t, {}, { status: 200 })).outcome.kind, 'unsure')
})

test('complaints are reported with their fields, and report whose fault it is', async (t) => {
  const complaint = (field: string | null) => ({
    status: 400,
    body: {
      errors: [
        { message: 'Does not fit.', field, help: null },
        { message: 'Nor does this.', field: null },
      ],
    },
  })
  const reasons = [
    ['personalizations.0.to.0.email', 'bad-recipient'],
    ['subject', 'bad-content'],
    ['content.0.value', 'bad-content'],
    ['from.email', 'bad-content'],
    ['ip_pool_name', 'other'],
  ] as const
  for (const [field, reason] of reasons) {
    const { outcome } = await send(t, {}, complaint(field))
    const detail = `SendGrid answered 400: Does not fit. (${field}); Nor does this.`
    assert.deepEqual(outcome, { kind: 'refused', reason, detail })
  }
})

test('a key that is refused is misconfigured and not repeated in words', async (t) => {
  for (const status of [401, 403]) {
    const body = { errors: [{ message: 'The key SG.top-secret may not do this' }] }
    const { outcome } = await send(t, {}, { status, body })
    assert.deepEqual(outcome, {
      kind: 'misconfigured',
      detail: `SendGrid answered ${status}: The key [redacted] may not do this`,
    })
  }
})

test('too many requests wait for the time SendGrid names', async (t) => {
  const nowSeconds = Math.floor(createFakeWorld().now().getTime() / 1000)
  const { outcome } = await send(t, {}, { status: 429, headers: { 'x-ratelimit-reset': String(nowSeconds + 30) } })
  assert.equal(outcome.kind, 'busy')
  assert.ok(outcome.kind === 'busy' && (outcome.retryAfterMs ?? 0) > 29_000 && (outcome.retryAfterMs ?? 0) <= 30_000)
  const plain = await send(t, {}, { status: 429, headers: { 'retry-after': '3', 'x-ratelimit-reset': '1' } })
  assert.equal(plain.outcome.kind === 'busy' && plain.outcome.retryAfterMs, 3_000)
})

test('trouble at SendGrid is repeated, what is too large is not, and 504 leaves us unsure', async (t) => {
  const kindOf = async (status: number) => (await send(t, {}, { status })).outcome.kind
  assert.deepEqual(
    [await kindOf(500), await kindOf(503), await kindOf(413), await kindOf(504), await kindOf(200)],
    ['busy', 'busy', 'refused', 'unsure', 'unsure'],
  )
})

test('a message that could forge a header, or says nothing, is not sent', async (t) => {
  for (const change of [{ subject: 'a\r\nb' }, { headers: { Bcc: 'x@y.z' } }, { text: '', html: '' }, { to: [] }]) {
    const { outcome, asked } = await send(t, change)
    assert.deepEqual([outcome.kind, asked.length], ['refused', 0])
  }
})
