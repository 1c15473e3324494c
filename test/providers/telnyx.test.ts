// Telnyx: whose public key verifies a webhook, against the test vectors of RFC 8032.
import assert from 'node:assert/strict'
import { createPrivateKey, sign } from 'node:crypto'
import { test } from 'node:test'
import { isBelieved } from '../../src/providers/inbound/inbound.ts'
import { ofPublicKey, telnyxReceipts } from '../../src/providers/sms/telnyx-receipts.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { inboundCallOf } from '../support/provider-contract.ts'

/** RFC 8032, 7.1, test 1. */
const secret = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex')
const publicKey = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex')
const key = publicKey.toString('base64')

const privateKey = createPrivateKey({
  key: { kty: 'OKP', crv: 'Ed25519', d: secret.toString('base64url'), x: publicKey.toString('base64url') },
  format: 'jwk',
})
const body = '{"data":{"event_type":"message.sent"}}'
const signature = sign(null, Buffer.from(`1704161045|${body}`), privateKey).toString('base64')
const headers = { 'telnyx-timestamp': '1704161045', 'telnyx-signature-ed25519': signature }
const world = createFakeWorld('2024-01-02T02:05:00Z')

const believed = (given: string | undefined, account: object = {}, text = body) =>
  isBelieved(telnyxReceipts, inboundCallOf({ headers, body: text }), { key: given, account, world })

test('the integration’s key verifies, or the one of the credentials, and no other', async () => {
  assert.equal(await believed(key), true)
  assert.equal(await believed(undefined, { secretKey: key }), true)
  assert.equal(await believed(undefined), false)
  assert.equal(await believed(Buffer.alloc(32, 7).toString('base64')), false)
  assert.equal(await believed('not a key'), false)
  assert.equal(await believed(key, {}, `${body} `), false)
})

test('a public key is 32 bytes in base64', () => {
  assert.equal(ofPublicKey(key), undefined)
  for (const value of ['', 'abc', `${key}${key}`, Buffer.alloc(31).toString('base64')]) {
    assert.notEqual(ofPublicKey(value), undefined, value)
  }
})
