// Vonage: receipts by each method of signing, and of an account that signs none.
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { isBelieved } from '../../src/providers/inbound/inbound.ts'
import { nexmoReceipts } from '../../src/providers/sms/nexmo-receipts.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { inboundCallOf } from '../support/provider-contract.ts'

const key = 'fake-sig-secret'
const text = '&messageId=0A1&nonce=n-1&status=delivered&timestamp=1704161045'
const world = createFakeWorld('2024-01-02T02:05:00Z')

const believed = (query: string, given: string | undefined = key) =>
  isBelieved(nexmoReceipts, inboundCallOf({ method: 'GET', query: `?${query}` }), { key: given, account: {}, world })

test('every method of the account is understood, in either case, and only with its secret', async () => {
  const methods = ['md5', 'sha1', 'sha256', 'sha512'].map((name) => createHmac(name, key).update(text).digest('hex'))
  for (const sig of [...methods, createHash('md5').update(`${text}${key}`).digest('hex')]) {
    assert.equal(await believed(`${text}&sig=${sig}`), true, sig)
    assert.equal(await believed(`${text}&sig=${sig.toUpperCase()}`), true, sig)
    assert.equal(await believed(`${text}&sig=${sig}`, 'another-secret'), false, sig)
    assert.equal(await believed(`${text.replace('delivered', 'failed')}&sig=${sig}`), false, sig)
  }
  assert.equal(await believed(`${text}&sig=${createHmac('sha1', '').update(text).digest('hex')}`, ''), false)
})

test('an account that does not sign carries the key in the address', async () => {
  assert.equal(await believed(`messageId=0A1&status=delivered&token=${key}`), true)
  assert.equal(await believed('messageId=0A1&status=delivered&token=wrong'), false)
  assert.equal(await believed('messageId=0A1&status=delivered'), false)
  // A wrong signature is not made good by anything else.
  assert.equal(await believed(`${text}&sig=${'0'.repeat(64)}&token=${key}`), false)
})
