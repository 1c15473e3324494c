// Copies of messages: nothing of them is left behind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EmailMessage } from './outbound-message.ts'
import { emailCopy } from './outbound-message.ts'

const whole: Required<EmailMessage> = {
  id: 'before',
  from: 'from@example.com',
  senderName: 'Sender',
  to: ['to@example.com'],
  cc: ['cc@example.com'],
  bcc: ['bcc@example.com'],
  replyTo: 'reply@example.com',
  subject: 'Subject',
  html: '<p>Hello</p>',
  text: 'Hello',
  headers: { 'X-One': '1' },
  attachments: [{ name: 'a.txt', mime: 'text/plain', content: 'YQ==' }],
  ipPoolName: 'pool',
  tags: ['tag'],
  metadata: { transactionId: 't' },
  customData: { a: 1 },
  passthrough: { body: { b: 2 } },
}

test('the copy of an e-mail has all that it has, and the id that it is given', () => {
  assert.deepEqual(emailCopy('after', whole), { ...whole, id: 'after' })
})

test('what an e-mail does not have, its copy has not either', () => {
  const { from: _from, senderName: _name, replyTo: _reply, ipPoolName: _pool, customData: _data, ...rest } = whole
  const { passthrough: _passthrough, ...plain } = rest
  assert.deepEqual(Object.keys(emailCopy('after', plain)).sort(), Object.keys(plain).sort())
})
