// The address of answers: what it names, and that it cannot be made up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readReplyAddress, writeReplyAddress } from './reply-address.ts'

const secret = Buffer.from('the secret of an environment')
const messageId = '0197f3a0-0000-7000-8000-000000000001'
const address = writeReplyAddress(messageId, 'parse.example.com', secret)

test('an address names its message, whatever the case it comes back in and whoever else got the mail', () => {
  assert.equal(readReplyAddress([address], [secret]), messageId)
  assert.equal(readReplyAddress(['someone@example.com', ` ${address.toUpperCase()}`], [secret]), messageId)
})

test('it fits before an @', () => {
  assert.ok((address.split('@')[0] ?? '').length <= 64, address)
})

test('an address that was altered, made with another secret or is none names no one', () => {
  const altered = address.replace(/^(reply\+\w{5})\w/, '$1f')
  assert.notEqual(altered, address)
  for (const wrong of [altered, 'reply+@example.com', 'reply+zz@example.com', '', 'reply@example.com']) {
    assert.equal(readReplyAddress([wrong], [secret]), undefined, wrong)
  }
  assert.equal(readReplyAddress([address], [Buffer.from('another secret')]), undefined)
})
