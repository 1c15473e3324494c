// The words of the vendor in large answers: found in turns, and the same as in small ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchWork } from '../../test/support/turn-cpu.ts'
import { inVendorWords, vendorWordsInTurns } from './vendor.ts'

const long = 'x'.repeat(200_000)
const item = {
  providerId: 'posthorn-email',
  origin: 'external',
  payload: { providerId: 'posthorn-email' },
  data: { providerId: 'posthorn-email', long },
  steps: [{ providerId: 'posthorn-sms', data: [{ providerId: 'posthorn-sms' }], long }],
  none: null,
}

test('they are found wherever a small answer has them, and nowhere else', async () => {
  for (const body of [item, [item, item], { data: [item], hasMore: false }, long, null, 5]) {
    assert.deepEqual(await vendorWordsInTurns(body), inVendorWords(body))
  }
})

test('no turn is long', async () => {
  const rows = Array.from({ length: 500_000 }, (_, at) => ({ at, providerId: 'posthorn-email' }))
  const { result, share } = await watchWork(() => vendorWordsInTurns({ data: rows }))
  assert.equal((result as { data: unknown[] }).data.length, rows.length)
  assert.ok(share < 1, `${share} of what a turn may take`)
})
