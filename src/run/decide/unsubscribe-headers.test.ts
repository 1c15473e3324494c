// The one-click headers of e-mails of which single providers are given another one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageFor } from '../../deliver/message-for.ts'
import type { SendDecision } from '../../domain/delivery/decision.ts'
import type { Envelope } from '../../domain/messages/message.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import type { JobFacts } from './job-facts.ts'
import type { UnsubscribeLinks } from './unsubscribe-headers.ts'
import { withUnsubscribeHeaders } from './unsubscribe-headers.ts'

const url = 'https://posthorn.example.com/v1/unsubscribe/x'
const links: UnsubscribeLinks = {
  of: () => ({ inTemplates: { url }, storedUrl: url, stored: (value) => value }),
}
const facts = { subscriber: { id: 's' }, version: {} } as unknown as JobFacts
const link = { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }

/** By provider: the headers with which it is given an e-mail of which `sendgrid` is given another one. */
function headersOf(all: object, own: object): { sendgrid: object; others: object } {
  const envelope = {
    ...{ to: ['ann@example.org'], cc: [], bcc: [], subject: 'News', html: '', text: 'News' },
    ...{ headers: {}, attachments: [], tags: [], metadata: {} },
    ...all,
    forProviders: { sendgrid: { message: own } },
  } as Envelope
  const draft = { target: '', channel: 'email', content: 'News', envelope } as const
  const decision: SendDecision = { kind: 'send', messages: [draft], details: [] }
  const made = withUnsubscribeHeaders(links, facts, decision).messages[0]?.envelope as Envelope
  const given = (providerId: string): object =>
    (messageFor({ id: 'm', envelope: made, providerId, payload: {} }) as EmailMessage).headers
  return { sendgrid: given('sendgrid'), others: given('nodemailer') }
}

test('copies that one provider sends take the headers from what it is given, and from no one else', () => {
  assert.deepEqual(headersOf({}, { cc: ['ben@example.org'] }), { sendgrid: {}, others: link })
  assert.deepEqual(headersOf({}, { to: ['ann@example.org', 'ben@example.org'] }), { sendgrid: {}, others: link })
})

test('one person at one provider, where all others write to several, gets them', () => {
  assert.deepEqual(headersOf({ cc: ['ben@example.org'] }, { cc: [] }), { sendgrid: link, others: {} })
})

test('headers that are named for one provider come with them', () => {
  const own = { 'X-Team': 'ops' }
  assert.deepEqual(headersOf({}, { headers: own }), { sendgrid: { ...own, ...link }, others: link })
})

test('the caller’s own header for one provider stands, there alone', () => {
  const own = { 'list-unsubscribe': '<mailto:stop@example.com>' }
  assert.deepEqual(headersOf({}, { headers: own }), { sendgrid: own, others: link })
})

test('what else is said of one provider changes nothing of them', () => {
  assert.deepEqual(headersOf({}, { subject: 'Other', bcc: ['archive@example.org'] }), { sendgrid: link, others: link })
})
