// How long a row that throws is tried again, and when it is given up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterFault } from './fault-policy.ts'

const start = new Date('2026-03-01T12:00:00.000Z')
const after = (ms: number): Date => new Date(start.getTime() + ms)

test('a row that throws at every turn is buried by its fifth fault, more than an hour after the first', () => {
  let atMs = 0
  let faults = 0
  for (;;) {
    const fate = afterFault({ faults, faultedSince: faults === 0 ? null : start }, after(atMs))
    if (fate.kind === 'bury') break
    faults += 1
    atMs += fate.waitMs
  }
  assert.equal(faults + 1, 5)
  assert.ok(atMs >= 3_600_000, `${atMs}`)
})

test('many faults within the hour do not bury it', () => {
  const fate = afterFault({ faults: 30, faultedSince: start }, after(3_599_999))
  assert.deepEqual(fate, { kind: 'retry', waitMs: 2_700_000 })
})

test('four faults over a long time do not bury it', () => {
  assert.equal(afterFault({ faults: 3, faultedSince: start }, after(86_400_000)).kind, 'retry')
})
