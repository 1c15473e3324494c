// Postmark and Mailjet: which messages may share a request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailjet } from '../../src/providers/email/mailjet.ts'
import { postmark } from '../../src/providers/email/postmark.ts'
import { email } from '../support/outbound-scene.ts'

const file = { name: 'a.txt', mime: 'text/plain', content: 'SGVsbG8=' }

test('small messages share a request; large ones, files and additions go alone', () => {
  const key = (change: object) => postmark.batching?.key(email(change) as never, {})
  assert.equal(key({}), '')
  for (const change of [{ html: 'x'.repeat(20_000) }, { attachments: [file] }, { passthrough: {} }]) {
    assert.equal(key(change), undefined)
  }
  assert.equal(postmark.batching?.max, 500)
})

test('Mailjet’s sandbox is for a whole request', () => {
  const key = (change: object) => mailjet.batching?.key(email(change) as never, {})
  assert.equal(key({ customData: { TemplateLanguage: true } }), '')
  assert.equal(key({ customData: { SandboxMode: true } }), undefined)
})
