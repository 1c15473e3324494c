// Plivo: its status callbacks, and whether they are Plivo's, against a known signature.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBelieved, receiptsIn } from '../../src/providers/inbound/inbound.ts'
import type { InboundCall } from '../../src/providers/inbound/receipt.ts'
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

const v3Body = Buffer.from('To=14155550101&Status=delivered&MessageUUID=db3ce55a')
const v3Headers = (signature: string) => ({
  'x-plivo-signature-v3': signature,
  'x-plivo-signature-v3-nonce': '9081726354',
})

test('version 3 signs the report as well, so that the signature is good for no other', async () => {
  // Made with openssl.
  const alone = 'Ak2Hwjqrw46IS27AlkHuZtj7ok0F26++GrUYXmN9rlE='
  const withQuery = 'Q7HoVsS7xAUHyRUZ+eIwfKG4g4Q1ObVlAWdeCBY08ok='
  const signed = { ...call, body: v3Body, headers: v3Headers(alone) }
  assert.equal(await believed(signed), true)
  const inQuery = { ...signed, url: `${url}?i=2&a=1`, headers: v3Headers(withQuery) }
  assert.equal(await believed(inQuery), true)
  assert.equal(await believed({ ...inQuery, url: `${url}?i=3&a=1` }), false)
  assert.equal(await believed({ ...signed, body: Buffer.from('Status=failed') }), false)
  assert.equal(await believed(signed, { account: { token: 'another-token' } }), false)
  const proof = { key: undefined, account: { accountSid: 'a', token }, world: createFakeWorld() }
  assert.equal(plivo.receipts?.signedWord?.(signed, proof as never), undefined)
})

test('a call that version 2 signed is good for the report that it came with', () => {
  const wordOf = (given: InboundCall) =>
    plivo.receipts?.signedWord?.(given, { key: undefined, account: { token }, world: createFakeWorld() } as never)
  const first = wordOf(call)
  assert.equal(first?.token, headers['x-plivo-signature-v2-nonce'])
  assert.deepEqual(wordOf({ ...call }), first)
  assert.notDeepEqual(wordOf({ ...call, body: Buffer.from('Status=delivered') }), first)
  assert.notDeepEqual(wordOf({ ...call, query: new URLSearchParams('Status=delivered') }), first)
})

test('a call that both versions signed is not good for another report once version 3 is taken away', async () => {
  const both = { ...headers, ...v3Headers('Ak2Hwjqrw46IS27AlkHuZtj7ok0F26++GrUYXmN9rlE=') }
  const proof = { key: undefined, account: { token }, world: createFakeWorld() } as never
  const wordOf = (given: InboundCall) => plivo.receipts?.signedWord?.(given, proof)
  const reported = { ...call, body: v3Body, headers: both }
  assert.equal(await believed(reported), true)
  const forged = { ...call, headers, body: Buffer.from('Status=failed') }
  assert.equal(wordOf(reported)?.token, wordOf(forged)?.token)
  assert.notEqual(wordOf(reported)?.content, wordOf(forged)?.content)
})

test('a subaccount’s calls are signed by the main account too, whose token the integration may hold', async () => {
  const { 'x-plivo-signature-v2': signature, ...nonce } = headers
  const byBoth = { ...call, headers: { ...nonce, 'x-plivo-signature-v2': 'x', 'x-plivo-signature-ma-v2': signature } }
  assert.equal(await believed(byBoth, { key: token, account: { token: 'of-the-subaccount' } }), true)
  assert.equal(await believed(byBoth, { key: 'wrong', account: { token: 'of-the-subaccount' } }), false)
  assert.equal(await believed({ ...call, headers: { ...nonce, 'x-plivo-signature-v2': `x, ${signature}` } }), true)
})

const reported = { providerMessageId: 'db3ce55a', address: '14155550101' }
const statuses: [string, object][] = [
  ['queued', { status: 'queued', ...reported }],
  ['sent', { status: 'sent', ...reported }],
  ['delivered', { status: 'delivered', ...reported }],
  ['read', { status: 'delivered', ...reported }],
  ['undelivered', { status: 'failed', ...reported, words: 'undelivered (450)' }],
  ['failed', { status: 'failed', ...reported, words: 'failed (450)' }],
  ['rejected', { status: 'failed', ...reported, words: 'rejected (450)' }],
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
