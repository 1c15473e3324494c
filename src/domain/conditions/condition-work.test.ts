// What conditions cost: callers choose how long the lists and texts of a payload are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsOf } from '../../../test/support/turn-cpu.ts'
import type { FieldFilterPart, StepFilter } from './condition.ts'
import { evaluateFilters } from './condition-evaluation.ts'
import { ConditionsTooLarge } from './condition-work.ts'

const count = 60_000
const names = Array.from({ length: count }, (_, index) => `member ${index}`)
const payload = {
  names,
  csv: names.join(),
  objects: names.map((name, index) => ({ name, at: [index] })),
  long: 'a'.repeat(400_000),
  deep: JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)),
}
/** It looks like `long` at every place. */
const alike = `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}`

function asked(
  type: StepFilter['type'],
  field: string,
  operator: FieldFilterPart['operator'],
  value: string,
  times = 1,
) {
  const children = Array.from({ length: times }, (): FieldFilterPart => ({ on: 'payload', field, operator, value }))
  let answer: boolean | 'too large' = 'too large'
  const turns = turnsOf(() => {
    try {
      const filter: StepFilter = { isNegated: false, type, value: 'AND', children }
      answer = evaluateFilters([filter], { payload }, (text) => text).passed
    } catch (error) {
      assert.ok(error instanceof ConditionsTooLarge)
    }
  })
  // The longest of these took 16 s.
  assert.ok(turns < 9, `${turns} turns`)
  return answer
}

test('a comparison of long lists ends before it begins', () => {
  assert.equal(asked('STATEMENT', 'names', 'ANY_IN', payload.csv), 'too large')
  assert.equal(asked('STATEMENT', 'names', 'ALL_IN', payload.csv), 'too large')
  assert.equal(asked('LIST', 'csv', 'EQUAL', JSON.stringify(names)), 'too large')
  assert.equal(asked('STATEMENT', 'objects', 'EQUAL', 'x'), 'too large')
  assert.equal(asked('STATEMENT', 'objects', 'LIKE', 'x'), 'too large')
  assert.equal(asked('STATEMENT', 'deep', 'LIKE', 'x'), 'too large')
})

test('a text is looked for in the time it takes to read both', () => {
  assert.equal(asked('STATEMENT', 'long', 'LIKE', alike), false)
  assert.equal(asked('STATEMENT', 'long', 'NOT_LIKE', alike), true)
  assert.equal(asked('STATEMENT', 'long', 'LIKE', 'a'.repeat(399_999)), true)
})

test('the conditions of one job share what they may cost', () => {
  assert.equal(asked('STATEMENT', 'long', 'LIKE', 'b', 5), false)
  assert.equal(asked('STATEMENT', 'long', 'LIKE', 'b', 500), 'too large')
})

test('many members that look like what is looked for cost no more than reading them', () => {
  const members = Array.from({ length: 300 }, () => 'a'.repeat(1_600))
  const part = `${'a'.repeat(300)}b${'a'.repeat(300)}`
  const children = Array.from(
    { length: 6 },
    (): FieldFilterPart => ({ on: 'payload', field: 'members', operator: 'NOT_LIKE', value: part }),
  )
  const filter: StepFilter = { isNegated: false, type: 'STATEMENT', value: 'AND', children }
  const turns = turnsOf(() => {
    assert.equal(evaluateFilters([filter], { payload: { members } }, (text) => text).passed, true)
  })
  // Five before.
  assert.ok(turns < 2, `${turns} turns`)
})

test('the step, its variants and the integrations of a job share one budget, and asking again costs nothing', () => {
  const subject = { payload }
  const filtersOf = (): StepFilter[] => [
    {
      isNegated: false,
      type: 'STATEMENT',
      value: 'AND',
      children: [{ on: 'payload', field: 'long', operator: 'NOT_LIKE', value: 'b' }],
    },
  ]
  const passes = (filters: StepFilter[]): boolean => evaluateFilters(filters, subject, (text) => text).passed
  const first = filtersOf()
  for (let again = 0; again < 50; again += 1) assert.equal(passes(first), true)
  for (let more = 0; more < 6; more += 1) assert.equal(passes(filtersOf()), true)
  assert.throws(() => {
    for (let more = 0; more < 3; more += 1) passes(filtersOf())
  }, ConditionsTooLarge)
  assert.equal(passes(first), true)
})
