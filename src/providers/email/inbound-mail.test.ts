// Pieces of a mail: addresses and headers are found however they are written, and nothing else is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressesIn, headersIn, idsIn, senderIn } from './inbound-mail.ts'

test('addresses are found in any header, each once', () => {
  assert.deepEqual(addressesIn('"Doe, Zoë" <zoe@example.org>, yan@example.org', 'ZOE <zoe@example.org>', ''), [
    'zoe@example.org',
    'yan@example.org',
  ])
  assert.deepEqual(addressesIn('undisclosed-recipients:;', 'no address'), [])
})

test('a name that looks like an address is not the sender', () => {
  assert.equal(senderIn('"boss@acme.test" <eve@example.org>'), 'eve@example.org')
  assert.equal(senderIn('', 'zoe@example.org'), 'zoe@example.org')
  assert.equal(senderIn('no address'), '')
})

test('folded headers are one line, and the uppermost of a name counts', () => {
  const headers = headersIn('Received: last\r\nMessage-ID:\r\n <m1@example.org>\r\nReceived: first\r\nno header\r\n')
  assert.deepEqual(headers, { Received: 'last', 'Message-ID': '<m1@example.org>' })
  assert.deepEqual(idsIn(headers), { messageId: 'm1@example.org' })
})

test('a megabyte without a line break takes no time', () => {
  const long = `${'a'.repeat(1_000_000)}@`
  assert.deepEqual([addressesIn(long), Object.keys(headersIn(long))], [[], []])
})
