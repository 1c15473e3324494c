// A few at once, in the order in which they came, whatever becomes of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Problem } from '../../domain/problem.ts'
import { createFewAtOnce } from './few-at-once.ts'

test('no more than so many run, each of them does, and one that fails gives its place on', async () => {
  const few = createFewAtOnce(2)
  const begun: number[] = []
  let running = 0
  const work = (at: number) => async (): Promise<number> => {
    begun.push(at)
    running += 1
    assert.ok(running <= 2, `${running} at once`)
    await nextTurn()
    running -= 1
    if (at % 3 === 0) throw new Error(`failed ${at}`)
    return at
  }
  const numbers = Array.from({ length: 20 }, (_, at) => at)
  const results = await Promise.allSettled(numbers.map((at) => few(work(at))))
  assert.deepEqual(begun, numbers)
  assert.deepEqual(
    results.map(({ status }) => status),
    numbers.map((at) => (at % 3 === 0 ? 'rejected' : 'fulfilled')),
  )
  assert.equal(await few(work(1)), 1)
})

test('beyond those that may wait it is 503, with when to try again, until there is room', async () => {
  const few = createFewAtOnce(1, 2)
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const kept = [1, 2, 3].map((at) =>
    few(async () => {
      await held
      return at
    }),
  )
  await assert.rejects(
    few(async () => assert.fail('it ran')),
    (error: unknown) => {
      assert.ok(error instanceof Problem)
      assert.deepEqual([error.status, error.headers], [503, { 'retry-after': '1' }])
      assert.match(error.message, /try again/)
      return true
    },
  )
  letGo()
  assert.deepEqual(await Promise.all(kept), [1, 2, 3])
  assert.equal(await few(async () => 4), 4)
})
