// Plivo: its status callbacks, and whether they are Plivo's, against a known signature.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBelieved, receiptsIn } from '../../src/providers/inbound.ts'
import type { InboundCall } from '../../src/providers/receipt.ts'
import { plivo } from '../../src/providers/sms/plivo.ts'
import { strangeAnswers } from '../support/contract-answers.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { inboundCallOf } from '../support/provider-contract.ts'

const token = 'fake-auth-token'
const headers = {
  'x-plivo-signature-v2': 'aEgOK6pgKqNVs3wqUKp8wMK/PGzhOME/ZO6YxH1BMhc=',
  'x-plivo-signature-v2-nonce': '05429567804466091622',
}
const url = 'https://hooks.example.test/sms/plivo/'
const call: InboundCall = {
  method: 'POST',
  url,
  query: new URLSearchParams(),
  headers,
  body: Buffer.from('Status=sent'),
}

async function believed(given: InboundCall, { key, account = { token } }: { key?: string; account?: object } = {}) {
  const { receipts } = plivo
  assert.ok(receipts)
  return isBelieved(receipts, given, { key, account, world: createFakeWorld() })
}

test('the signature is of the address without its query, and a nonce', async () => {
  assert.equal(await believed(call), true)
  assert.equal(await believed({ ...call, url: `${url}?i=1` }), true)
  assert.equal(await believed({ ...call, url: `${url}other` }), false)
  assert.equal(await believed({ ...call, url: url.replace('https', 'http') }), false)
  assert.equal(await believed({ ...call, headers: { ...headers, 'x-plivo-signature-v2-nonce': '1' } }), false)
  assert.equal(await believed({ ...call, headers: { 'x-plivo-signature-v2': headers['x-plivo-signature-v2'] } }), false)
  assert.equal(await believed({ ...call, headers: {} }), false)
  assert.equal(await believed(call, { account: { token: 'another-token' } }), false)
})

test('a subaccount’s calls are signed by the main account too, whose token the integration may hold', async () => {
  const { 'x-plivo-signature-v2': signature, ...nonce } = headers
  const byBoth = { ...call, headers: { ...nonce, 'x-plivo-signature-v2': 'x', 'x-plivo-signature-ma-v2': signature } }
  assert.equal(await believed(byBoth, { key: token, account: { token: 'of-the-subaccount' } }), true)
  assert.equal(await believed(byBoth, { key: 'wrong', account: { token: 'of-the-subaccount' } }), false)
  assert.equal(await believed({ ...call, headers: { ...nonce, 'x-plivo-signature-v2': `x, ${signature}` } }), true)
})

const told = { providerMessageId: 'db3ce55a', address: '14155550101' }
const statuses: [string, object][] = [
  ['queued', { status: 'queued', ...told }],
  ['sent', { status: 'sent', ...told }],
  ['delivered', { status: 'delivered', ...told }],
  ['read', { status: 'delivered', ...told }],
  ['undelivered', { status: 'failed', ...told, words: 'undelivered (450)' }],
  ['failed', { status: 'failed', ...told, words: 'failed (450)' }],
  ['rejected', { status: 'failed', ...told, words: 'rejected (450)' }],
]
for (const [status, expected] of statuses) {
  test(`${status} by a form and by a query`, () => {
    const form = new URLSearchParams({ MessageUUID: 'db3ce55a', Status: status, To: '14155550101', ErrorCode: '450' })
    for (const one of [{ body: `${form}` }, { method: 'GET', query: `?${form}&token=key-in-the-address` }]) {
      const [receipt] = receiptsIn(plivo, inboundCallOf(one))
      assert.ok(receipt)
      const { row, ...rest } = receipt
      assert.deepEqual(rest, expected)
      assert.deepEqual(row, Object.fromEntries(form))
    }
  })
}

test('a part of a long text is reported under the id of the whole', () => {
  const form = { MessageUUID: 'part-2', ParentMessageUUID: 'whole', Status: 'delivered' }
  const [receipt] = receiptsIn(plivo, inboundCallOf({ body: new URLSearchParams(form).toString() }))
  assert.equal(receipt?.providerMessageId, 'whole')
})

test('what is no report is none', () => {
  for (const body of [...Object.values(strangeAnswers), 'MessageUUID=1&Status=pondering', 'Status=sent']) {
    assert.deepEqual(receiptsIn(plivo, inboundCallOf({ body })), [])
  }
})
