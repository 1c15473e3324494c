// seven.io: the signature of its reports, against a known one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBelieved } from '../../src/providers/inbound/inbound.ts'
import { sevenSignature, sms77Receipts } from '../../src/providers/sms/sms77-receipts.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { inboundCallOf } from '../support/provider-contract.ts'
import { contract } from './contracts/sms/sms77.ts'

test('the signature of a time, a nonce, a method, an address and a digest is the known one', () => {
  const parts = [
    '1704161045',
    'fpPRhAd1s8GXacfR39mWqKPynmmXfJnc',
    'POST',
    'https://hooks.example.test/sms/seven',
    '67c9eb71e76dd84c130dc9563cd93e47',
  ] as const
  const known = '7ecbcc852db8fc065ea4b7abfad63728399592879bf65d3d8830a152db463e37'
  assert.equal(sevenSignature('fake-signing-key', parts), known)
  assert.notEqual(sevenSignature('another-key', parts), known)
})

test('the signing key of the credentials stands in for the integration’s own; without either nothing is believed', async () => {
  const world = createFakeWorld('2024-01-02T02:05:00Z')
  const call = inboundCallOf(contract.receipts?.cases[0]?.call ?? {})
  const believed = (key: string | undefined, account: object) =>
    isBelieved(sms77Receipts, call, { key, account, world })
  assert.equal(await believed(undefined, { secretKey: 'fake-signing-key' }), true)
  assert.equal(await believed('', { secretKey: 'fake-signing-key' }), true)
  assert.equal(await believed('another-key', { secretKey: 'fake-signing-key' }), false)
  assert.equal(await believed(undefined, {}), false)
})
