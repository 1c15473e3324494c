// A shared budget of bytes: never overdrawn, in order, and no one waits forever.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createByteBudget } from './byte-budget.ts'

/** A sleep that ends when the test says so. */
function clock() {
  const sleepers: (() => void)[] = []
  return {
    sleep: () => new Promise<void>((resolve) => void sleepers.push(resolve)),
    ring: () => {
      for (const wake of sleepers.splice(0)) wake()
    },
  }
}

const settledNow = async (promise: Promise<unknown>): Promise<boolean> => {
  let settled = false
  void promise.then(() => {
    settled = true
  })
  await new Promise(setImmediate)
  return settled
}

test('whoever fits continues at once, whoever does not waits for what others give back', async () => {
  const budget = createByteBudget(clock(), { bytesMax: 10, waitMs: 1 })
  const first = await budget.take(6)
  const second = budget.take(6)
  assert.equal(await settledNow(second), false)
  first?.()
  assert.equal(await settledNow(second), true)
})

test('a small one does not pass a large one that came before it', async () => {
  const budget = createByteBudget(clock(), { bytesMax: 10, waitMs: 1 })
  const first = await budget.take(6)
  const large = budget.take(8)
  const small = budget.take(1)
  assert.equal(await settledNow(small), false)
  first?.()
  assert.deepEqual([await settledNow(large), await settledNow(small)], [true, true])
})

test('one larger than the whole budget goes alone', async () => {
  const budget = createByteBudget(clock(), { bytesMax: 10, waitMs: 1 })
  const giveBack = await budget.take(100)
  assert.equal(await settledNow(budget.take(1)), false)
  giveBack?.()
})

test('whoever waited too long is reported, and holds up no one', async () => {
  const time = clock()
  const budget = createByteBudget(time, { bytesMax: 10, waitMs: 1 })
  const giveBack = await budget.take(6)
  const large = budget.take(8)
  const small = budget.take(2)
  time.ring()
  assert.equal(await large, undefined)
  assert.ok(await small, 'it fits, now that the large one is gone')
  assert.ok(await budget.take(2))
  giveBack?.()
  assert.ok(await budget.take(6))
})

test('one owner has its share, in order, and is no reason for others to wait', async () => {
  const budget = createByteBudget(clock(), { bytesMax: 10, bytesPerOwnerMax: 6, waitMs: 1 })
  const first = await budget.take(4, 'a')
  const second = budget.take(4, 'a')
  const third = budget.take(1, 'a')
  assert.deepEqual([await settledNow(second), await settledNow(third)], [false, false])
  const other = await budget.take(6, 'b')
  assert.equal(budget.heldBytes(), 10)
  first?.()
  first?.()
  assert.deepEqual([await settledNow(second), await settledNow(third)], [true, false], 'given back once')
  other?.()
  assert.equal(await settledNow(third), true)
  assert.equal(budget.heldBytes(), 5)
})

test('one that is larger than its owner’s share counts whole, and is the only one of its owner', async () => {
  const budget = createByteBudget(clock(), { bytesMax: 10, bytesPerOwnerMax: 6, waitMs: 1 })
  const large = await budget.take(8, 'a')
  assert.equal(budget.heldBytes(), 8)
  const more = budget.take(1, 'a')
  assert.equal(await settledNow(more), false)
  assert.ok(await budget.take(2, 'b'))
  large?.()
  assert.equal(await settledNow(more), true)
})
