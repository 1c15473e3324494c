// BulkSMS reports a repeat by a number: the same on every retry, another for every message, and one that it can count
// to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bulkSms } from '../../src/providers/sms/bulk-sms.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { smsMessage } from '../support/provider-scene.ts'

async function deduplicationId(message: object): Promise<string> {
  const world = createFakeWorld()
  let asked = ''
  world.fetch = async ({ url }) => {
    asked = url
    return { status: 201, headers: new Headers(), body: '[]' }
  }
  await bulkSms.send?.(world, { ...smsMessage, ...message }, { apiToken: 'id:top-secret-0001' } as never)
  return new URL(asked).searchParams.get('deduplication-id') ?? ''
}

test('the number belongs to the message, whatever it says', async () => {
  const first = await deduplicationId({})
  assert.equal(await deduplicationId({ content: 'another rendering' }), first)
  assert.notEqual(await deduplicationId({ id: '0197f3a0-0000-7000-8000-000000000009' }), first)
})

test('it is a whole number of 63 bits', async () => {
  for (let index = 0; index < 50; index += 1) {
    const number = await deduplicationId({ id: `message-${index}` })
    assert.match(number, /^\d+$/)
    assert.ok(BigInt(number) < 2n ** 63n)
  }
})

test('there is no batch: its number would be of all of them, and a repeat of some would be sent again', () => {
  assert.equal(bulkSms.idempotent, true)
  assert.equal(bulkSms.batching, undefined)
})
