// Twilio: whether a call from outside is Twilio's, against a known signature.
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { isBelieved } from '../../src/providers/inbound/inbound.ts'
import type { InboundCall } from '../../src/providers/inbound/receipt.ts'
import { twilioReceipts } from '../../src/providers/sms/twilio-receipts.ts'
import { createFakeWorld } from '../support/fake-world.ts'

const world = createFakeWorld()
const token = 'fake-auth-token'
const believed = (call: InboundCall, key?: string, account = { token }) =>
  isBelieved(twilioReceipts, call, { key, account: account as never, world })

const call: InboundCall = {
  method: 'POST',
  url: 'https://hooks.example.test/sms/twilio?i=1',
  query: new URLSearchParams('i=1'),
  headers: { 'x-twilio-signature': 'cF4gPCczNm64Kwh6u9z6noO7T0s=' },
  body: Buffer.from('To=%2B14155550101&MessageStatus=delivered&MessageSid=SM0123'),
}

test('the signature is of the whole address and the sorted parameters', async () => {
  assert.equal(await believed(call), true)
  assert.equal(await believed({ ...call, url: call.url.replace('i=1', 'i=2') }), false)
  assert.equal(await believed({ ...call, body: Buffer.from(`${call.body}&x=1`) }), false)
  assert.equal(await believed(call, undefined, { token: 'another-token' }), false)
  assert.equal(await believed({ ...call, headers: {} }), false)
})

test('the integration’s own key stands for an auth token that was changed', async () => {
  assert.equal(await believed(call, token, { token: 'changed-since' }), true)
  assert.equal(await believed(call, 'wrong', { token: 'changed-since' }), false)
})

test('a body that is no form is signed by its digest in the address', async () => {
  const body = Buffer.from('{"MessageSid":"SM1"}')
  const query = `bodySHA256=${createHash('sha256').update(body).digest('hex')}`
  const url = `https://hooks.example.test/sms/twilio?${query}`
  const headers = { 'x-twilio-signature': createHmac('sha1', token).update(url).digest('base64') }
  const json: InboundCall = { method: 'POST', url, query: new URLSearchParams(query), headers, body }
  assert.equal(await believed(json), true)
  assert.equal(await believed({ ...json, body: Buffer.from('{"MessageSid":"SM2"}') }), false)
})
