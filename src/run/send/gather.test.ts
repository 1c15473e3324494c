// What trickles in goes on in groups, and what comes alone goes on at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGather } from './gather.ts'

function scene() {
  let nowMs = 1_000_000
  const sleeps: { readonly ms: number; wake(): void }[] = []
  const world = {
    now: () => new Date(nowMs),
    sleep: (ms: number) => new Promise<void>((wake) => void sleeps.push({ ms, wake })),
  }
  const gather = createGather(world, 20)
  const advance = (ms: number): void => {
    nowMs += ms
  }
  return { gather, sleeps, advance }
}

test('the first goes at once; those that come soon after it go together, when the wait since then is over', async () => {
  const { gather, sleeps, advance } = scene()
  assert.equal(gather.pass(), undefined)
  advance(5)
  const waits = [gather.pass(), gather.pass()]
  advance(10)
  waits.push(gather.pass())
  assert.deepEqual(
    sleeps.map(({ ms }) => ms),
    [15],
  )
  advance(5)
  sleeps[0]?.wake()
  await Promise.all(waits)
  assert.equal(gather.pass(), undefined, 'at the same time')
  advance(1)
  assert.notEqual(gather.pass(), undefined, 'they went just now')
  advance(20)
  assert.equal(gather.pass(), undefined)
})

test('a clock that was set back makes nothing wait for longer', () => {
  const { gather, sleeps, advance } = scene()
  gather.pass()
  advance(-3_600_000)
  gather.pass()
  assert.equal(sleeps[0]?.ms, 20)
})
