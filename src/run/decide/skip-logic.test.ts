// What a step's skip rule comes to: it runs, is skipped with what was compared, or fails where the rule is too much.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobFacts } from './job-facts.ts'
import { skipRefusal } from './skip-logic.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
const refused = (skip: unknown, payload: object) =>
  skipRefusal({ step: { skip }, scope: { payload } } as unknown as JobFacts, now)

const list = { var: 'payload.list' }
const accumulator = { var: 'accumulator' }
const members = (length: number): object => ({ list: Array.from({ length }, (_, index) => index) })

test('a step runs where no rule holds, and is skipped where one does', () => {
  const skip = { '==': [{ var: 'payload.plan' }, 'free'] }
  assert.equal(refused(undefined, {}), undefined)
  assert.equal(refused(skip, { plan: 'gold' }), undefined)
  const decision = refused(skip, { plan: 'free' })
  assert.equal(decision?.kind, 'skip')
  assert.equal(decision?.details[0]?.code, 'conditionsFailed')
})

test('a rule that makes too much of its payload fails its step, and says so', () => {
  const endless: readonly [unknown, object][] = [
    [{ missing: [{ reduce: [list, [accumulator, accumulator], 1] }] }, members(18)],
    [{ '==': [{ reduce: [list, [accumulator], 1] }, 1] }, members(40_000)],
    [{ containsAny: [list, list] }, members(5_000)],
  ]
  for (const [skip, payload] of endless) {
    const decision = refused(skip, payload)
    assert.equal(decision?.kind, 'fail', JSON.stringify(skip))
    assert.equal(decision?.details[0]?.code, 'conditionsBroken')
    assert.match(decision?.details[0]?.raw ?? '', /"field":"skip".*too large/)
  }
})

test('a path that is no text is missing, and fails nothing', () => {
  const skip = { '!': { var: [{ var: 'payload.path' }] } }
  assert.equal(refused(skip, { path: { toString: 1 } })?.kind, 'skip')
})
