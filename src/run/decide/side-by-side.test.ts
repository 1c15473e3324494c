// Pieces of work side by side: how many at once, and what becomes of those that come too late.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Failed, sideBySide } from './side-by-side.ts'

test('as many run at once as there are threads, and all of them in the end', async () => {
  let running = 0
  let most = 0
  const results = await sideBySide([1, 2, 3, 4, 5, 6, 7], { atOnce: 3, msMax: 10_000 }, async (item) => {
    running += 1
    most = Math.max(most, running)
    await setImmediate()
    running -= 1
    return item * 2
  })
  assert.equal(most, 3)
  assert.deepEqual(
    [...results].sort(([one], [other]) => one - other),
    [1, 2, 3, 4, 5, 6, 7].map((item) => [item, item * 2]),
  )
})

test('when the time is up nothing more begins, and what came late does not count', async () => {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const results = await sideBySide([1, 2, 3, 4], { atOnce: 2, msMax: 5 }, async (item) => {
    begun.push(item)
    if (item > 1) await new Promise<void>((resolve) => void ends.push(resolve))
    return item
  })
  assert.deepEqual([...results.keys()], [1])
  assert.deepEqual(begun, [1, 2, 3])
  for (const end of ends) end()
  await setImmediate()
  assert.deepEqual([[...results.keys()], begun], [[1], [1, 2, 3]])
})

test('one that fails fails alone', async () => {
  const results = await sideBySide([1, 2, 3], { atOnce: 2, msMax: 1_000 }, async (item) => {
    if (item === 2) throw new Error('a bug')
    return item
  })
  const failed = results.get(2)
  assert.ok(failed instanceof Failed)
  assert.match(String(failed.error), /a bug/)
  assert.deepEqual([results.get(1), results.get(3)], [1, 3])
})
