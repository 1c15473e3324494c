// Shares of the calls that an account takes at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ShareHolder } from './call-share.ts'
import { shareMs, shareOut, turnMs } from './call-share.ts'

const asks = (node: string, max: number, inUse = 0, wants = true) => ({ node, max, inUse, wants })

test('a node alone has all of it, and nothing is left of it when it wants no more', () => {
  const { allowed, holders } = shareOut([], asks('a', 5), 0)
  assert.equal(allowed, 5)
  assert.deepEqual(holders, [{ node: 'a', slots: 5, untilMs: shareMs }])
  assert.deepEqual(shareOut(holders, asks('a', 5, 0, false), 100), { allowed: 0, holders: [] })
})

test('what another has under way is not given twice: it comes as its calls end, though it always has some', () => {
  const alone = shareOut([], asks('a', 5), 0)
  const second = shareOut(alone.holders, asks('b', 5), 100)
  assert.equal(second.allowed, 0)
  const first = shareOut(second.holders, asks('a', 5, 5), 200)
  assert.equal(first.allowed, 3, 'none may begin until two have ended')
  assert.equal(shareOut(first.holders, asks('b', 5), 300).allowed, 0)
  const later = shareOut(first.holders, asks('a', 5, 3), 400)
  assert.equal(later.allowed, 3)
  assert.equal(shareOut(later.holders, asks('b', 5), 500).allowed, 2)
})

test('calls under way count until they have ended, also of a node that wants no more', () => {
  const { holders } = shareOut([], asks('a', 2), 0)
  const leaving = shareOut(holders, asks('a', 2, 1, false), 100)
  assert.equal(leaving.allowed, 0)
  assert.equal(shareOut(leaving.holders, asks('b', 2), 200).allowed, 1)
})

test('a dead node’s share is free once it is not renewed', () => {
  const { holders } = shareOut([], asks('a', 1), 0)
  assert.equal(shareOut(holders, asks('b', 1), shareMs - 1).allowed, 0)
  assert.equal(shareOut(holders, asks('b', 1), shareMs).allowed, 1)
})

test('one call for two nodes goes round, so that neither waits for good', () => {
  let holders: readonly ShareHolder[] = []
  const had = new Map<string, number>()
  for (let nowMs = 0; nowMs < 10 * turnMs; nowMs += 500) {
    for (const node of ['a', 'b']) {
      const result = shareOut(holders, asks(node, 1), nowMs)
      holders = result.holders
      if (result.allowed === 1) had.set(node, (had.get(node) ?? 0) + 1)
    }
    assert.ok(holders.reduce((sum, one) => sum + one.slots, 0) <= 1)
  }
  assert.ok((had.get('a') ?? 0) >= 10 && (had.get('b') ?? 0) >= 10, JSON.stringify([...had]))
})

/** A small generator, so that a failure can be run again. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

test('whatever nodes ask, and whoever dies, the shares never add up to more than the account takes', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const pick = random(seed)
    const max = 1 + pick(8)
    const nodes = ['a', 'b', 'c', 'd', 'e'].slice(0, 1 + pick(5))
    let holders: readonly ShareHolder[] = []
    let nowMs = 0
    for (let step = 0; step < 100; step += 1) {
      nowMs += pick(700)
      const node = nodes[pick(nodes.length)] ?? 'a'
      const held = holders.find((one) => one.node === node && one.untilMs > nowMs)?.slots ?? 0
      const inUse = pick(held + 1)
      const result = shareOut(holders, asks(node, max, inUse, pick(5) > 0), nowMs)
      holders = result.holders
      const living = holders.filter((one) => one.untilMs > nowMs)
      const sum = living.reduce((total, one) => total + one.slots, 0)
      assert.ok(sum <= max, `seed ${seed}: ${sum} of ${max}`)
      assert.ok(Math.max(result.allowed, inUse) <= max)
    }
  }
})
