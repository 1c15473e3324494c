// The steps of a draft: one that comes back, and those of a newer record.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { underKeysOf, withStepBack } from '../../dashboard/src/pages/workflows/step-keys.ts'

const step = (key: string, _id?: string) => ({ key, ...(_id === undefined ? {} : { _id }) })
const keysOf = (steps: readonly { key: string }[]): string[] => steps.map(({ key }) => key)

test('a removed step comes back where it was, once', () => {
  assert.deepEqual(keysOf(withStepBack([step('a'), step('c')], step('b'), 1)), ['a', 'b', 'c'])
  assert.deepEqual(keysOf(withStepBack([step('a'), step('b')], step('b'), 0)), ['a', 'b'])
  // It was made here and saved: what a discard brings back goes by the id of the service.
  assert.deepEqual(keysOf(withStepBack([step('id-1', 'id-1')], step('new-1', 'id-1'), 0)), ['id-1'])
  // Two that were never saved have no id, and are two.
  assert.deepEqual(keysOf(withStepBack([step('new-2')], step('new-1'), 0)), ['new-1', 'new-2'])
})

test('a newer record keeps the keys that steps are edited under', () => {
  const now = [step('new-1', 'id-1'), step('id-2', 'id-2')]
  assert.deepEqual(keysOf(underKeysOf(now, [step('id-3', 'id-3'), step('id-1', 'id-1')])), ['id-3', 'new-1'])
})
