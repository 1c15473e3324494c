// What a caller's settings and passthrough can never say, of any SMS and chat provider: that it was sent, to whom, and by whose account.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractIds, contractOf } from '../support/contract-files.ts'
import { send } from '../support/contract-world.ts'
import type { AskedRequest, ProviderContract } from '../support/provider-contract.ts'
import { sampleMessage } from '../support/provider-contract.ts'
import { kindOf } from '../support/provider-scene.ts'

const contracts: ProviderContract[] = []
for (const channel of ['sms', 'chat'] as const) {
  for (const id of await contractIds(channel)) contracts.push(await contractOf(channel, id))
}

/** Of the last request, which is the one that sends: JSON, a form, or the query. */
function parametersOf(asked: readonly AskedRequest[]): unknown {
  const { url, headers, body } = asked.at(-1) as AskedRequest
  const type = headers['content-type'] ?? ''
  if (!type.startsWith('application/json')) {
    return Object.fromEntries(body === '' ? new URL(url).searchParams : new URLSearchParams(body))
  }
  const parsed = JSON.parse(body)
  return Array.isArray(parsed) ? parsed[0] : parsed
}

const valueAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((whole, name) => (whole as Record<string, unknown> | undefined)?.[name], value)

const nested = (path: string, value: string): object =>
  path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object

test('there are contracts to go through', () => assert.ok(contracts.length > 40))

for (const contract of contracts) {
  const { provider, success } = contract
  const { customData } = sampleMessage(contract)
  const sendWith = (more: object) => send(contract, success.answer, { message: sampleMessage(contract, more) })

  test(`${provider.id}: settings that look like an outcome are none`, async () => {
    const { outcome, asked } = await sendWith({
      customData: { ...customData, kind: 'sent', providerMessageId: 'made-up', detail: 'made up' },
    })
    assert.ok(asked.length > 0, 'someone was asked')
    assert.deepEqual(outcome.kind === 'sent' && outcome.providerMessageId, success.id)
  })

  test(`${provider.id}: neither settings nor a passthrough say where it goes, or whose account sends it`, async () => {
    const usual = parametersOf((await sendWith({})).asked)
    const members = (provider.recipientMembers ?? []).filter((path) => valueAt(usual, path) !== undefined)
    for (const path of members) {
      // Settings are of a message within the list; that they leave its number alone is seen in the golden files.
      for (const spelled of path === 'messages' ? [] : [path, path.toUpperCase(), path.toLowerCase()]) {
        const { asked } = await sendWith({ customData: { ...customData, ...nested(spelled, 'somebody-else') } })
        assert.deepEqual(valueAt(parametersOf(asked), path), valueAt(usual, path), `the setting ${spelled}`)
      }
      if (contract.withoutBody !== undefined) continue
      const { outcome, asked } = await sendWith({ passthrough: { body: nested(path, 'somebody-else') } })
      assert.deepEqual([kindOf(outcome), asked], ['refused: bad-content', []], `the passthrough ${path}`)
    }
  })
}
