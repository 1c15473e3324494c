// The message as one provider is given it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Envelope } from '../domain/messages/message.ts'
import { messageFor } from './message-for.ts'

const sms: Envelope = {
  to: '+49',
  content: 'Hello',
  metadata: {},
  customData: { a: { x: 1, y: 1 }, list: [1] },
  forProviders: {
    twilio: {
      message: { from: 'Acme' },
      customData: { a: { y: 2 }, list: [2, 3] },
      passthrough: { headers: { 'X-A': '1' } },
    },
  },
}
const message = (envelope: Envelope, providerId: string) =>
  messageFor({ id: 'm', envelope, providerId, payload: { order: 7 } })

test('a provider that is named gets what was said of it, merged over what is said of all', () => {
  assert.deepEqual(message(sms, 'twilio'), {
    id: 'm',
    to: '+49',
    from: 'Acme',
    content: 'Hello',
    metadata: {},
    customData: { a: { x: 1, y: 2 }, list: [2, 3] },
    passthrough: { headers: { 'X-A': '1' } },
  })
})

test('any other gets the message without it', () => {
  const { forProviders: _, ...plain } = sms
  assert.deepEqual(message(sms, 'nexmo'), { id: 'm', ...plain })
})

test('a push message carries the payload of its event, and no other does', () => {
  const push: Envelope = { target: 't', title: '', content: 'Hello', subscriberId: 'ann', metadata: {} }
  assert.deepEqual(message(push, 'fcm'), { id: 'm', ...push, payload: { order: 7 } })
  assert.equal('payload' in message(sms, 'nexmo'), false)
})

test('what is said of a provider goes over what an e-mail says, and nothing of the e-mail is left behind', () => {
  const email: Envelope = {
    ...{ to: ['a@example.com'], cc: [], bcc: [], subject: 'Hello', html: '<p>Hello</p>', text: 'Hello', headers: {} },
    ...{ attachments: [], tags: ['t'], metadata: {}, from: 'from@example.com', replyTo: 'reply@example.com' },
    ...{ customData: { a: 1, b: 1 }, ipPoolName: 'pool' },
    forProviders: {
      postmark: { message: { subject: 'Other', from: 'own@example.com' }, customData: { b: 2 }, passthrough: {} },
    },
  }
  const { forProviders: _, ...plain } = email
  assert.deepEqual(message(email, 'ses'), { id: 'm', ...plain })
  const own = { subject: 'Other', from: 'own@example.com', customData: { a: 1, b: 2 }, passthrough: {} }
  assert.deepEqual(message(email, 'postmark'), { id: 'm', ...plain, ...own })
})
