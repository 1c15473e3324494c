// When a node is taken for dead.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../test/support/random.ts'
import type { Sighting, Sightings } from './judge.ts'
import { connectedMsMin, judge, unchangedMsMin } from './judge.ts'

const node = (sign: number | string, isCertain = false, key = 'node'): Sighting => ({
  key,
  sign: String(sign),
  isCertain,
})
const none: Sightings = new Map()

/** Looks one after another, each a millisecond long; whom the last of them found dead. */
function afterLooks(connectedAtMs: number, looks: readonly (readonly [atMs: number, ...sightings: Sighting[]])[]) {
  let seen = none
  let dead: ReadonlySet<string> = new Set()
  for (const [atMs, ...sightings] of looks) {
    const judged = judge(seen, { startedAtMs: atMs, endedAtMs: atMs + 1, connectedAtMs, sightings })
    seen = judged.seen
    dead = judged.dead
  }
  return [...dead]
}

/** Long ago. */
const connected = -1_000_000

test('a sign that did not change between two looks 10 s apart is a death', () => {
  assert.deepEqual(afterLooks(connected, [[0, node(7)]]), [], 'one look is not enough')
  assert.deepEqual(
    afterLooks(connected, [
      [0, node(7)],
      [unchangedMsMin + 1, node(7)],
    ]),
    ['node'],
  )
})

test('the time counts from the end of the first look to the start of the second', () => {
  const looks = (secondAtMs: number) =>
    afterLooks(connected, [
      [0, node(7)],
      [secondAtMs, node(7)],
    ])
  assert.deepEqual(looks(unchangedMsMin), [])
  assert.deepEqual(looks(unchangedMsMin + 1), ['node'])
})

test('looks in between that see the same do not start the time again', () => {
  const every5s = [0, 5_001, 10_002].map((atMs) => [atMs, node(7)] as const)
  assert.deepEqual(afterLooks(connected, every5s), ['node'])
})

test('a sign that changes, in whichever direction, is a life', () => {
  for (const signs of [
    [7, 8, 8],
    [7, 6, 6],
    [7, 8, 7],
  ]) {
    const looks = signs.map((sign, place) => [place * 9_000, node(sign)] as const)
    assert.deepEqual(afterLooks(connected, looks), [], signs.join(' '))
  }
})

test('a node that was not seen for a while is seen for the first time again', () => {
  assert.deepEqual(afterLooks(connected, [[0, node(7)], [9_000], [18_000, node(7)]]), [])
})

test('no one is judged within 20 s of a connect, and what was seen before it does not count', () => {
  const seen: Sightings = new Map([['node', { sign: '7', sinceMs: 900_000 }]])
  const connectedAtMs = 1_000_000
  const lookAt = (startedAtMs: number, before: Sightings) =>
    judge(before, { startedAtMs, endedAtMs: startedAtMs + 1, connectedAtMs, sightings: [node(7)] })
  const first = lookAt(connectedAtMs + 1, seen)
  assert.deepEqual([...first.dead], [])
  assert.equal(first.seen.get('node')?.sinceMs, connectedAtMs + 2)
  const early = lookAt(connectedAtMs + connectedMsMin - 1, first.seen)
  assert.deepEqual([...early.dead], [], 'unchanged for long enough, and too early all the same')
  assert.deepEqual([...lookAt(connectedAtMs + connectedMsMin, early.seen).dead], ['node'])
  const late = lookAt(connectedAtMs + connectedMsMin, seen)
  assert.deepEqual([...late.dead], [], 'long enough connected, but seen once only')
})

test('a certain death needs no second look and no time', () => {
  assert.deepEqual(afterLooks(0, [[1, node(7, true), node(7, false, 'other')]]), ['node'])
})

test('each node is judged by its own signs', () => {
  const looks = [0, 5_001, 10_002].map((atMs) => [atMs, node(7, false, 'silent'), node(atMs, false, 'living')] as const)
  assert.deepEqual(afterLooks(connected, looks), ['silent'])
})

/** In virtual time: beats and looks at random times, each look taking a while, reconnects now and then. */
test('a node that beats at least every 10 s is never taken for dead, one that stopped is within 20 s', (t) => {
  const seed = 130_413
  t.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  for (let round = 0; round < 200; round += 1) {
    const stopsAtMs = 60_000 + random.integer(100_000)
    let seen = none
    let [nextBeatAtMs, beat, connectedAtMs] = [0, 0, 0]
    let diedAtMs: number | undefined
    for (let startedAtMs = 0; startedAtMs < 300_000 && diedAtMs === undefined; startedAtMs += 5_000) {
      const readAtMs = startedAtMs + random.integer(200)
      for (; nextBeatAtMs <= Math.min(readAtMs, stopsAtMs); nextBeatAtMs += 1 + random.integer(unchangedMsMin - 1))
        beat += 1
      if (startedAtMs < stopsAtMs - connectedMsMin && random.integer(10) === 0) connectedAtMs = startedAtMs
      const endedAtMs = readAtMs + random.integer(200)
      const judged = judge(seen, { startedAtMs, endedAtMs, connectedAtMs, sightings: [node(beat)] })
      seen = judged.seen
      if (judged.dead.size > 0) diedAtMs = startedAtMs
    }
    assert.ok(diedAtMs !== undefined && diedAtMs >= stopsAtMs, `round ${round}: ${diedAtMs} of ${stopsAtMs}`)
    // 10 s, the look that follows, and what the first look took.
    assert.ok(diedAtMs - stopsAtMs <= unchangedMsMin + 2 * 5_000, `round ${round}: ${diedAtMs - stopsAtMs} ms`)
  }
})
