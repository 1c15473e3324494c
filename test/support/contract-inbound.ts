// The half of a contract that is about calls from outside: receipts and answers to e-mails.
import assert from 'node:assert/strict'
import type { Credentials } from '../../src/domain/delivery/integration.ts'
import { isBelieved, mailIn, receiptsIn } from '../../src/providers/inbound/inbound.ts'
import type { InboundCall, Proof } from '../../src/providers/inbound/receipt.ts'
import { strangeAnswers } from './contract-answers.ts'
import { answerOf, askedOf } from './contract-world.ts'
import { createFakeWorld } from './fake-world.ts'
import type { AskedRequest, ContractAnswer, ProviderContract } from './provider-contract.ts'
import { inboundCallOf } from './provider-contract.ts'

function proofOf(
  contract: ProviderContract,
  {
    key,
    now,
    fetches,
  }: {
    key?: string | undefined
    now?: string | undefined
    fetches?: ((asked: AskedRequest) => ContractAnswer) | undefined
  },
): Proof<Credentials> {
  const world = createFakeWorld(now)
  world.fetch = async (request) => {
    assert.ok(fetches, 'verifying this vendor needs no call')
    return answerOf(fetches(await askedOf(request)))
  }
  return { key, account: contract.account, world }
}

/** The call as it is, where the vendor signs; else with the key, in each of the ways it may come. */
function believable(call: InboundCall, isSigned: boolean, key: string | undefined): InboundCall[] {
  if (isSigned) return [call]
  const withHeader = (authorization: string): InboundCall => ({ ...call, headers: { ...call.headers, authorization } })
  const query = new URLSearchParams(call.query)
  query.set('token', key ?? '')
  const basic = (words: string): string => `Basic ${Buffer.from(words).toString('base64')}`
  return [withHeader(`Bearer ${key}`), withHeader(basic(`posthorn:${key}`)), { ...call, query }]
}

export async function readsReceipts(contract: ProviderContract): Promise<void> {
  const { provider, receipts } = contract
  const reader = provider.receipts
  assert.ok(reader && receipts)
  const isSigned = reader.verify !== undefined
  const proof = proofOf(contract, receipts)
  for (const { name, call: given, expected } of receipts.cases) {
    const call = inboundCallOf(given)
    for (const one of believable(call, isSigned, receipts.key))
      assert.equal(await isBelieved(reader, one, proof), true, name)
    const read = receiptsIn(provider, call).map(({ row, ...rest }) => {
      assert.notEqual(row, undefined, `${name}: the report itself is kept`)
      return rest
    })
    assert.deepEqual(read, expected, name)
    await disbelieves(reader, call, proof, isSigned, name)
  }
  for (const { name, call } of receipts.unbelievable ?? []) {
    assert.equal(await isBelieved(reader, inboundCallOf(call), proof), false, name)
  }
  for (const { name, call, answer } of receipts.greetings ?? []) {
    assert.equal(await reader.greet?.(inboundCallOf(call), proof), answer, name)
  }
  for (const body of Object.values(strangeAnswers)) assert.deepEqual(receiptsIn(provider, inboundCallOf({ body })), [])
}

/** Tampered, unsigned, signed with another key, or played again a day later. */
async function disbelieves(
  reader: NonNullable<ProviderContract['provider']['receipts']>,
  call: InboundCall,
  proof: Proof<Credentials>,
  isSigned: boolean,
  name: string,
): Promise<void> {
  const { authorization: _none, ...bare } = call.headers
  const query = new URLSearchParams(call.query)
  query.delete('token')
  if (!isSigned) {
    assert.equal(await isBelieved(reader, { ...call, headers: bare, query }, proof), false, `${name}: without the key`)
    const wrong = { ...call, headers: { ...bare, authorization: 'Bearer another-key' }, query }
    assert.equal(await isBelieved(reader, wrong, proof), false, `${name}: with another key`)
    assert.equal(
      await isBelieved(reader, { ...call, headers: bare, query }, { ...proof, key: '' }),
      false,
      `${name}: no key at all`,
    )
    return
  }
  const text = call.body.toString('utf8')
  const tampered =
    text.length > 0
      ? Buffer.from(text.replace(/[0-9a-z](?=[^0-9a-z]*$)/i, (one) => (one === '7' ? '8' : '7')))
      : call.body
  const url = text.length > 0 ? call.url : `${call.url}&x=1`
  const tamperedQuery = text.length > 0 ? call.query : new URLSearchParams([...call.query, ['x', '1']])
  assert.equal(
    await isBelieved(reader, { ...call, body: tampered, url, query: tamperedQuery }, proof),
    false,
    `${name}: tampered`,
  )
  assert.equal(
    await isBelieved(
      reader,
      {
        ...call,
        headers: {},
        body: Buffer.from('{}'),
        query: new URLSearchParams(),
        url: call.url.split('?')[0] ?? '',
      },
      proof,
    ),
    false,
    `${name}: unsigned`,
  )
}

export async function readsReplies(contract: ProviderContract): Promise<void> {
  const { provider, replies } = contract
  const reader = provider.replies
  assert.ok(reader && replies)
  const isSigned = reader.verify !== undefined
  const proof = proofOf(contract, replies)
  for (const { name, call: given, expected } of replies.cases) {
    const call = inboundCallOf(given)
    for (const one of believable(call, isSigned, replies.key))
      assert.equal(await isBelieved(reader, one, proof), true, name)
    assert.deepEqual(await mailIn(provider, call), expected, name)
    assert.equal(
      await isBelieved(reader, { ...call, headers: {}, query: new URLSearchParams(), body: Buffer.from('{}') }, proof),
      false,
      `${name}: unsigned`,
    )
  }
  for (const body of Object.values(strangeAnswers))
    assert.equal(await mailIn(provider, inboundCallOf({ body })), undefined)
}
