// Sinch: an account whose callbacks are not signed proves them by the key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBelieved } from '../../src/providers/inbound/inbound.ts'
import { sinch } from '../../src/providers/sms/sinch.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { inboundCallOf } from '../support/provider-contract.ts'

test('a call without a signature is believed with the key, and not without it', async () => {
  assert.ok(sinch.receipts)
  const world = createFakeWorld()
  const body = '{"type":"recipient_delivery_report_sms","batch_id":"b","status":"Delivered"}'
  const believed = (query: string, headers = {}, key: string | undefined = 'shared-key') =>
    isBelieved(sinch.receipts ?? {}, inboundCallOf({ query, headers, body }), { key, account: {}, world })
  assert.equal(await believed('?token=shared-key'), true)
  assert.equal(await believed(''), false)
  assert.equal(await believed('?token=another-key'), false)
  assert.equal(await believed('?token=', {}, ''), false)
  // A signature that is there must be good, whatever else the call carries.
  assert.equal(await believed('?token=shared-key', { 'x-sinch-webhook-signature': 'rubbish' }), false)
})
