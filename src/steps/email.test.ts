// The e-mail step: whom it goes to, what a trigger may override, and what it may not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sceneNow, stepInput, stepWith } from '../../test/support/render-scene.ts'
import type { Decision } from '../domain/delivery/decision.ts'
import type { EmailMessage } from '../domain/messages/outbound-message.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { email } from './email.ts'

const at = sceneNow.toISOString()
const template: StepTemplate = {
  type: 'email',
  subject: 'Order {{id}}',
  senderName: 'Shop',
  contentType: 'customHtml',
  content: '<p>Hello {{id}}</p>',
  layoutId: null,
}

type Scene = NonNullable<Parameters<typeof stepInput>[1]>
const decide = (scene: Scene = {}, more: Partial<StepTemplate> = {}) =>
  email.decide(stepInput({ ...template, ...more }, { payload: { id: 7 }, ...scene }))

type EmailEnvelope = Omit<EmailMessage, 'id'>

const emailEnvelope = (decision: Decision): EmailEnvelope | undefined =>
  decision.kind === 'send' ? (decision.messages[0]?.envelope as EmailEnvelope | undefined) : undefined

function envelopeOf(overrides: unknown, scene: Scene = {}): EmailEnvelope {
  const decision = decide({ ...scene, overrides: { email: overrides } })
  assert.equal(decision.kind, 'send', JSON.stringify(decision))
  const envelope = emailEnvelope(decision)
  assert.ok(envelope)
  return envelope
}

function failureOf(overrides: unknown): { field: string; message: string } {
  const decision = decide({ overrides: { email: overrides } })
  assert.ok(decision.kind === 'fail' && !decision.stops, JSON.stringify(decision))
  assert.deepEqual(
    decision.details.map(({ code }) => code),
    ['contentFailed'],
  )
  return JSON.parse(decision.details[0]?.raw ?? '')
}

test('the message goes to the subscriber’s address with all that a provider needs', () => {
  assert.deepEqual(decide(), {
    kind: 'send',
    messages: [
      {
        target: '',
        channel: 'email',
        content: '<p>Hello 7</p>',
        subject: 'Order 7',
        email: 'ann@example.com',
        envelope: {
          senderName: 'Shop',
          to: ['ann@example.com'],
          cc: [],
          bcc: [],
          subject: 'Order 7',
          html: '<p>Hello 7</p>',
          text: 'Hello 7',
          headers: {},
          attachments: [],
          tags: ['shop', 'order'],
          metadata: { transactionId: 'transaction-1', workflow: 'orders', subscriberId: 'ann' },
        },
      },
    ],
    details: [{ code: 'messageCreated', at }],
  })
})

test('without an address there is a message that says so, and nothing to send', () => {
  for (const address of [null, '']) {
    assert.deepEqual(decide({ email: address }), {
      kind: 'unreachable',
      message: { target: '', channel: 'email', content: '<p>Hello 7</p>', subject: 'Order 7' },
      error: { errorId: 'mail_unexpected_error', errorText: 'Subscriber does not have an email address' },
      details: [
        { code: 'messageCreated', at },
        { code: 'noEmail', at },
      ],
    })
  }
})

test('a trigger may name another recipient, also for a subscriber without address', () => {
  const decision = decide({ email: null, overrides: { email: { toRecipient: ' bob@example.com ' } } })
  assert.ok(decision.kind === 'send')
  assert.equal(decision.messages[0]?.email, 'bob@example.com')
  assert.deepEqual(emailEnvelope(decision)?.to, ['bob@example.com'])
})

test('further recipients are added, each address once', () => {
  const { to, cc, bcc } = envelopeOf({
    to: ['bob@example.com', 'ANN@example.com', 'bob@example.com'],
    cc: ['cy@example.com', 'Bob@example.com'],
    bcc: 'dee@example.com',
  })
  assert.deepEqual(
    { to, cc, bcc },
    {
      to: ['ann@example.com', 'bob@example.com'],
      cc: ['cy@example.com'],
      bcc: ['dee@example.com'],
    },
  )
})

test('sender, subject, bodies and the rest are taken as given, not as templates', () => {
  const envelope = envelopeOf({
    from: 'news@example.com',
    senderName: '{{id}} & Co',
    replyTo: 'reply@example.com',
    subject: 'Sale {{id}} & more',
    html: '<style>b{color:red}</style><b>{{id}}</b>',
    headers: { 'X-Campaign': 'a: b', 'List-Unsubscribe': '<https://x.example/u>' },
    ipPoolName: 'fast',
    customData: { a: [1] },
    unknown: 'ignored',
  })
  const { from, senderName, replyTo, subject, html, text, headers, ipPoolName, customData } = envelope
  assert.deepEqual(
    { from, senderName, replyTo, subject, text, headers, ipPoolName, customData },
    {
      from: 'news@example.com',
      senderName: '{{id}} & Co',
      replyTo: 'reply@example.com',
      subject: 'Sale {{id}} & more',
      text: '{{id}}',
      headers: { 'X-Campaign': 'a: b', 'List-Unsubscribe': '<https://x.example/u>' },
      ipPoolName: 'fast',
      customData: { a: [1] },
    },
  )
  assert.match(html, /<b style="color: red;">\{\{id\}\}<\/b>/)
  assert.equal(envelopeOf({ text: 'Only\ntext' }).text, 'Only\ntext')
  assert.equal(envelopeOf({ text: 'Only\ntext' }).html, '<p>Hello 7</p>')
})

test('a sender may carry a name', () => {
  for (const from of ['Acme News <news@example.com>', '"Acme News" <news@example.com>']) {
    const envelope = envelopeOf({ from })
    assert.deepEqual([envelope.from, envelope.senderName], ['news@example.com', 'Acme News'])
  }
  assert.equal(envelopeOf({ from: 'Acme <news@example.com>', senderName: 'Other' }).senderName, 'Other')
})

test('a step may have a sender and an address for answers of its own, and a trigger has the last word', () => {
  const own = { from: { email: '{{ id }}@shop.example', name: 'Shop\n{{ id }}' }, replyTo: 'help@shop.example' }
  const { senderName: _, ...unnamed } = template
  const decision = email.decide(stepInput({ ...unnamed, ...own }, { payload: { id: 7 } }))
  const { from, senderName, replyTo } = emailEnvelope(decision) ?? assert.fail()
  assert.deepEqual([from, senderName, replyTo], ['7@shop.example', 'Shop 7', 'help@shop.example'])
  const overrides = { email: { from: 'Ann <a@b.example>', replyTo: 'c@d.example' } }
  const other = emailEnvelope(email.decide(stepInput({ ...unnamed, ...own }, { payload: { id: 7 }, overrides })))
  assert.deepEqual([other?.from, other?.senderName, other?.replyTo], ['a@b.example', 'Ann', 'c@d.example'])
  const wrong = decide({ payload: { id: 'no one' } }, own)
  assert.ok(wrong.kind === 'fail')
  assert.equal(JSON.parse(wrong.details[0]?.raw ?? '').field, 'template.from.email')
})

test('a trigger may put its own recipients in place of the subscriber', () => {
  const { to } = envelopeOf({ replaceToRecipient: true, to: ['bob@example.com', 'cy@example.com'] }, { email: null })
  assert.deepEqual(to, ['bob@example.com', 'cy@example.com'])
  assert.deepEqual(envelopeOf({ replaceToRecipient: true }).to, ['ann@example.com'])
  assert.equal(failureOf({ replaceToRecipient: 'yes' }).field, 'overrides.email.replaceToRecipient')
})

test('what a trigger says of one provider is kept for when that one sends, checked as the rest is', () => {
  const account = { _id: 'i', identifier: 'main', providerId: 'sendgrid', channel: 'email', credentials: {} } as const
  const decided = (sendgrid: object) =>
    decide({ integrations: [account], overrides: { email: { headers: { 'X-A': '1' } }, sendgrid } })
  const decision = decided({ subject: 'Other', headers: { 'X-B': '2' }, templateId: 't' })
  assert.ok(decision.kind === 'send')
  assert.equal(decision.messages[0]?.subject, 'Order 7')
  assert.deepEqual(decision.messages[0]?.envelope?.forProviders, {
    sendgrid: {
      message: { subject: 'Other', headers: { 'X-A': '1', 'X-B': '2' } },
      customData: { templateId: 't' },
    },
  })
  const injected = decided({ subject: 'a\r\nBcc: eve@evil.example' })
  assert.ok(injected.kind === 'fail')
  assert.equal(JSON.parse(injected.details[0]?.raw ?? '').field, 'overrides.sendgrid.subject')
})

test('an override for one event leaves the template of the next as it is', () => {
  const input = stepInput(template, { payload: { id: 7 }, overrides: { email: { subject: 'Other' } } })
  const first = email.decide(input)
  const next = email.decide({ ...input, event: { ...input.event, overrides: {} } })
  assert.deepEqual(
    [first, next].map((decision) => decision.kind === 'send' && decision.messages[0]?.subject),
    ['Other', 'Order 7'],
  )
})

test('a trigger may leave out the layout', () => {
  const html = (overrides: Record<string, unknown>) => {
    const decision = decide({ overrides }, { layoutId: 'default' })
    return emailEnvelope(decision)?.html
  }
  assert.match(html({}) ?? '', /^<!DOCTYPE html>/)
  for (const overrides of [
    { channels: { email: { layoutId: null } } },
    { steps: { 'step-1': { layoutId: null } }, channels: { email: { layoutId: 'x' } } },
    { layoutIdentifier: null },
  ])
    assert.equal(html(overrides), '<p>Hello 7</p>')
  assert.match(
    html({ steps: { 'uuid-1': { layoutId: 'x' } }, channels: { email: { layoutId: null } } }) ?? '',
    /^<!DOCTYPE/,
  )
})

test('no override can begin a header of its own', () => {
  const injected = 'a\r\nBcc: eve@evil.example'
  const attempts: Record<string, unknown> = {
    'overrides.email.subject': { subject: injected },
    'overrides.email.senderName': { senderName: injected },
    'overrides.email.from': { from: `Ann\r\nBcc: x <ann@example.com>` },
    'overrides.email.toRecipient': { toRecipient: 'ann@example.com\r\nBcc: eve@evil.example' },
    'overrides.email.to[0]': { to: ['ann@example.com, eve@evil.example'] },
    'overrides.email.cc[1]': { cc: ['ann@example.com', 'a@b.example\nBcc: eve@evil.example'] },
    'overrides.email.bcc': { bcc: '<eve@evil.example>' },
    'overrides.email.replyTo': { replyTo: 'a@b.example\u2028x@y.example' },
    'overrides.email.headers.X-A': { headers: { 'X-A': injected } },
    'overrides.email.headers.X-A\r\nBcc': { headers: { 'X-A\r\nBcc': 'eve@evil.example' } },
    'overrides.email.headers.X A': { headers: { 'X A': 'b' } },
    'overrides.email.headers.Bcc': { headers: { Bcc: 'eve@evil.example' } },
    'overrides.email.headers.fRoM': { headers: { fRoM: 'eve@evil.example' } },
    'overrides.email.headers.Content-Type': { headers: { 'Content-Type': 'text/plain' } },
    'overrides.email.ipPoolName': { ipPoolName: injected },
  }
  for (const [field, overrides] of Object.entries(attempts)) assert.equal(failureOf(overrides).field, field)
})

test('an ill-formed override fails the step and is named', () => {
  const wrong: Record<string, unknown> = {
    'overrides.email': 'x',
    'overrides.email.to[1]': { to: ['bob@example.com', 5] },
    'overrides.email.cc': { cc: { a: 1 } },
    'overrides.email.toRecipient': { toRecipient: 'bob' },
    'overrides.email.subject': { subject: 5 },
    'overrides.email.html': { html: ['x'] },
    'overrides.email.headers': { headers: ['x'] },
    'overrides.email.headers.X-N': { headers: { 'X-N': 5 } },
    'overrides.email.headers.X-Long': { headers: { 'X-Long': 'a'.repeat(999) } },
    'overrides.email.customData': { customData: 'x' },
  }
  for (const [field, overrides] of Object.entries(wrong)) assert.equal(failureOf(overrides).field, field)
  assert.equal(failureOf({ html: '<b>'.repeat(1_001) }).field, 'overrides.email.html')
  const many = Array.from({ length: 30 }, (_, index) => `a${index}@example.com`)
  assert.match(failureOf({ to: many, cc: many }).message, /more than 50 addresses/)
})

test('overrides that say nothing change nothing', () => {
  const plain = decide()
  for (const overrides of [{ email: null }, { email: {} }, { email: { to: [], subject: null } }, { sms: { to: 5 } }])
    assert.deepEqual(decide({ overrides }), plain)
})

test('what a payload puts into subject and sender cannot begin a header', () => {
  const decision = decide({ payload: { id: '7\r\nBcc: eve@evil.example' } }, { senderName: '{{id}}' })
  const envelope = emailEnvelope(decision)
  assert.equal(envelope?.subject, 'Order 7 Bcc: eve@evil.example')
  assert.equal(envelope?.senderName, '7 Bcc: eve@evil.example')
})

test('a step needs a subject and content in its form', () => {
  const paths = (more: Partial<StepTemplate>) =>
    email.mistakes(stepWith({ ...template, ...more })).map(({ path }) => path)
  const block = (more: object) => ({ type: 'text', content: 'x', ...more }) as never
  assert.deepEqual(paths({}), [])
  assert.deepEqual(paths({ contentType: 'editor', content: [block({ url: 'x', styles: { textAlign: 'left' } })] }), [])
  assert.deepEqual(paths({ from: { email: 'a@b.example' }, replyTo: '{{ x }}' }), [])
  assert.deepEqual(paths({ from: { email: 'invalid' }, replyTo: 'x y@z' }), ['template.from.email', 'template.replyTo'])
  assert.deepEqual(paths({ subject: ' ', content: '' }), ['template.subject', 'template.content'])
  assert.deepEqual(paths({ content: [] }), ['template.content'])
  assert.deepEqual(paths({ contentType: 'editor' }), ['template.content'])
  assert.deepEqual(paths({ contentType: 'customHtml', content: [block({})] }), ['template.content'])
  assert.deepEqual(
    paths({
      contentType: 'editor',
      content: [block({ type: 'image' }), block({ content: 5, url: 5 }), block({ styles: { textAlign: 'middle' } })],
    }),
    [
      'template.content[0].type',
      'template.content[1].content',
      'template.content[1].url',
      'template.content[2].styles.textAlign',
    ],
  )
})
