// Whether conditions hold, case by case.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldFilterPart, StepFilter } from './condition.ts'
import { filterOperators, filterTypes } from './condition.ts'
import type { EvaluatedCondition } from './condition-evaluation.ts'
import { evaluateFilters } from './condition-evaluation.ts'

type Type = StepFilter['type']
type Operator = FieldFilterPart['operator']

const asIs = (text: string): string => text
const part = (change: Partial<FieldFilterPart> = {}): FieldFilterPart => ({
  field: 'value',
  value: 'a',
  operator: 'EQUAL',
  on: 'payload',
  ...change,
})
const group = (children: readonly FieldFilterPart[], change: Partial<StepFilter> = {}): StepFilter => ({
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children,
  ...change,
})
const passes = (filters: readonly StepFilter[], payload: Record<string, unknown> = { value: 'a' }): boolean =>
  evaluateFilters(filters, { payload, subscriber: {} }, asIs).passed

function holds(type: Type, actual: unknown, operator: Operator, value: string): boolean {
  return passes([group([part({ operator, value })], { type })], actual === undefined ? {} : { value: actual })
}

/** Each case: what the payload has, the operator, the condition's value. */
type Case = readonly [actual: unknown, operator: Operator, value: string]
function judged(type: Type, expected: boolean, cases: readonly Case[]): void {
  for (const [actual, operator, value] of cases)
    assert.equal(
      holds(type, actual, operator, value),
      expected,
      `${type}: ${JSON.stringify(actual)} ${operator} ${value}`,
    )
}

const good = part()
const bad = part({ value: 'b' })

test('no filters pass, and so does a group without children, negated or not', () => {
  assert.deepEqual(evaluateFilters([], { payload: {}, subscriber: {} }, asIs), { passed: true, conditions: [] })
  assert.equal(passes([group([])]), true)
  assert.equal(passes([group([], { isNegated: true })]), true)
  assert.equal(passes([group([bad]), group([])]), true)
})

test('children are joined by AND or OR', () => {
  assert.equal(passes([group([good, good])]), true)
  assert.equal(passes([group([good, bad])]), false)
  assert.equal(passes([group([bad, good], { value: 'OR' })]), true)
  assert.equal(passes([group([bad, bad], { value: 'OR' })]), false)
  assert.equal(passes([group([bad], { value: 'OR' })]), false)
})

test('groups are joined by OR', () => {
  assert.equal(passes([group([bad]), group([good])]), true)
  assert.equal(passes([group([bad]), group([bad])]), false)
})

test('a negated group passes when its children do not', () => {
  assert.equal(passes([group([good], { isNegated: true })]), false)
  assert.equal(passes([group([bad], { isNegated: true })]), true)
  assert.equal(passes([group([good, bad], { isNegated: true })]), true)
  assert.equal(passes([group([good, bad], { isNegated: true, value: 'OR' })]), false)
  assert.equal(passes([group([good], { isNegated: true }), group([good])]), true)
})

test('each condition is told with both values as text, up to the group that passes', () => {
  const filters = [
    group([
      part({ field: 'order.items.0.price', operator: 'LARGER', value: '5' }),
      part({ on: 'subscriber', field: 'data.plan', value: '{{plan}}' }),
      part({ field: 'gone', operator: 'NOT_EQUAL' }),
    ]),
    group([good]),
    group([bad]),
  ]
  const subject = {
    payload: { value: 'a', order: { items: [{ price: 4 }] }, gone: null },
    subscriber: { data: { plan: 'pro' } },
  }
  assert.deepEqual(
    evaluateFilters(filters, subject, (text) => text.replace('{{plan}}', 'pro')),
    {
      passed: true,
      conditions: [
        {
          filter: 'Payload',
          field: 'order.items.0.price',
          expected: '5',
          actual: '4',
          operator: 'LARGER',
          passed: false,
        },
        { filter: 'Subscriber', field: 'data.plan', expected: 'pro', actual: 'pro', operator: 'EQUAL', passed: true },
        { filter: 'Payload', field: 'gone', expected: 'a', actual: 'null', operator: 'NOT_EQUAL', passed: true },
        { filter: 'Payload', field: 'value', expected: 'a', actual: 'a', operator: 'EQUAL', passed: true },
      ] satisfies EvaluatedCondition[],
    },
  )
})

test('what is told of a value is bounded and whole text; missing values are named', () => {
  const told = (actual: unknown, value = 'x'): [string, string] => {
    const { conditions } = evaluateFilters(
      [group([part({ value })])],
      { payload: { value: actual }, subscriber: {} },
      asIs,
    )
    return [conditions[0]?.actual ?? '', conditions[0]?.expected ?? '']
  }
  assert.equal(told(undefined)[0], 'undefined')
  assert.equal(told({ b: 1, a: [true] })[0], '{"a":[true],"b":1}')
  assert.equal(told('')[0], '')
  for (const text of told('x'.repeat(100_000), 'y'.repeat(100_000))) assert.equal(text.length, 256)
  const [cut = ''] = told('😀'.repeat(200))
  assert.ok(cut.isWellFormed() && cut.endsWith('…'), cut)
})

test('what the renderer throws goes to whoever asked', () => {
  const failing = (): string => {
    throw new Error('line 1')
  }
  assert.throws(() => evaluateFilters([group([good])], { payload: {}, subscriber: {} }, failing), /line 1/)
})

test('by the type of the actual value: numbers as numbers, words as words', () => {
  for (const type of ['STATEMENT', 'GROUP'] as const) {
    judged(type, true, [
      ['10', 'EQUAL', '10'],
      [10, 'EQUAL', ' 10.0 '],
      [true, 'EQUAL', 'TRUE'],
      [{ b: 1, a: 2 }, 'EQUAL', '{"a": 2, "b": 1}'],
      [['b', 'a'], 'EQUAL', 'a,b'],
      [[1, 2], 'EQUAL', '["2", "1"]'],
      [[], 'EQUAL', '[]'],
      [10, 'LARGER', '9'],
      ['10', 'SMALLER', '9'],
      ['2024-02-01', 'LARGER', '2024-01-31'],
      [true, 'LARGER', 'false'],
      [3, 'LARGER_EQUAL', '3'],
      [3, 'SMALLER_EQUAL', '3'],
      [-1.5, 'SMALLER', '1e0'],
    ])
    judged(type, false, [
      ['10', 'EQUAL', '10.0'],
      [10, 'EQUAL', 'ten'],
      [0, 'EQUAL', ''],
      [16, 'EQUAL', '0x10'],
      [false, 'EQUAL', 'no'],
      [{ a: 2 }, 'EQUAL', '[object Object]'],
      [['a'], 'EQUAL', 'a,b'],
      [['a', 'b'], 'EQUAL', 'a'],
      [['a', null], 'EQUAL', 'a'],
      [10, 'LARGER', 'nine'],
      [3, 'LARGER', '3'],
      [3, 'SMALLER', '3'],
      [{ a: 1 }, 'LARGER', '0'],
      [[5], 'LARGER', '4'],
    ])
  }
})

test('a number type reads both sides as numbers', () => {
  judged('NUMBER', true, [
    ['10', 'LARGER', '9'],
    ['10', 'EQUAL', '10.0'],
    ['1e3', 'BETWEEN', '1000,1000'],
    ['007', 'IN', '6, 7'],
    [['1', 2], 'ALL_IN', '[1, "2"]'],
  ])
  judged('NUMBER', false, [
    ['ten', 'EQUAL', 'ten'],
    ['', 'EQUAL', '0'],
    [true, 'EQUAL', '1'],
    [null, 'SMALLER', '1'],
    ['Infinity', 'LARGER', '1'],
    ['9'.repeat(400), 'LARGER', '1'],
  ])
})

test('a date type compares moments, whatever the zone they are written in', () => {
  judged('DATE', true, [
    ['2024-01-01T12:00:00Z', 'EQUAL', '2024-01-01T13:00:00+01:00'],
    ['2024-01-01T12:00:00+02:00', 'SMALLER', '2024-01-01T11:00:00Z'],
    ['2024-01-01', 'EQUAL', '2024-01-01T00:00:00.000Z'],
    [Date.UTC(2024, 0, 1), 'EQUAL', '2024-01-01'],
    ['2024-02-29', 'BETWEEN', '2024-02-29, 2024-03-01'],
    ['2024-01-01', 'NOT_EQUAL', '2024-01-02'],
  ])
  judged('DATE', false, [
    ['2023-02-29', 'EQUAL', '2023-02-29'],
    ['soon', 'LARGER', '2024-01-01'],
    ['2024-01-01', 'LARGER', 'soon'],
  ])
})

test('a boolean type reads words and the numbers 1 and 0', () => {
  judged('BOOLEAN', true, [
    ['true', 'EQUAL', 'true'],
    ['True', 'EQUAL', '1'],
    [0, 'EQUAL', 'false'],
    [true, 'NOT_EQUAL', 'false'],
    [[true, 'false'], 'ALL_IN', 'true, 0'],
  ])
  judged('BOOLEAN', false, [
    ['yes', 'EQUAL', 'yes'],
    [2, 'EQUAL', 'true'],
    [null, 'EQUAL', 'false'],
    ['', 'EQUAL', 'false'],
  ])
})

test('a text type compares everything as text', () => {
  judged('TEXT', true, [
    [10, 'EQUAL', '10'],
    [10, 'SMALLER', '9'],
    [true, 'EQUAL', 'true'],
    [['a'], 'EQUAL', '["a"]'],
    ['b', 'BETWEEN', 'a,c'],
    ['', 'EQUAL', ''],
  ])
  judged('TEXT', false, [
    [10, 'EQUAL', '10.0'],
    ['a', 'EQUAL', 'A'],
    [null, 'EQUAL', 'null'],
  ])
})

test('the list types read both sides as lists', () => {
  for (const type of ['LIST', 'MULTI_LIST'] as const) {
    judged(type, true, [
      ['a, b', 'EQUAL', '["b", "a"]'],
      ['a,b', 'ALL_IN', 'b'],
      ['["a", "b"]', 'IN', 'x, b'],
      [['a', 'b'], 'IN', 'x, b'],
      [5, 'IN', '4,5'],
      ['a', 'EQUAL', 'a'],
      [5, 'LARGER', '4'],
    ])
    judged(type, false, [
      ['a,b', 'EQUAL', 'a'],
      [['a', 'b'], 'NOT_IN', 'x, b'],
      ['a,b', 'ALL_IN', 'a,c'],
      ['a,b', 'ANY_IN', 'c,d'],
    ])
  }
})

test('IN: an array holds the value, anything else is one of the listed', () => {
  judged('STATEMENT', true, [
    [['a', 'b'], 'IN', 'b'],
    [['a,b'], 'IN', 'a,b'],
    [[1, 2], 'IN', '2'],
    [[{ id: 1 }], 'IN', '{"id":1}'],
    ['b', 'IN', 'a, b'],
    [2, 'IN', '[1, 2]'],
    ['2', 'IN', '[1, 2]'],
    [false, 'IN', 'false'],
    ['c', 'NOT_IN', 'a, b'],
    [['a'], 'NOT_IN', 'b'],
  ])
  judged('STATEMENT', false, [
    [['a', 'b'], 'IN', 'a,b'],
    ['abc', 'IN', 'b'],
    ['a', 'IN', ''],
    ['', 'IN', 'a,,b'],
    [['a'], 'NOT_IN', 'a'],
  ])
})

test('ANY_IN and ALL_IN: the value holds some, or each, of the listed', () => {
  judged('STATEMENT', true, [
    [['a', 'b', 'c'], 'ALL_IN', 'a, c'],
    ['a', 'ALL_IN', 'a'],
    [['a', 'b'], 'ANY_IN', 'x, b'],
    ['b', 'ANY_IN', 'x, b'],
    [['a', 1, true], 'ALL_IN', '["a", "1", "true"]'],
  ])
  judged('STATEMENT', false, [
    [['a', 'b'], 'ALL_IN', 'a, x'],
    ['a', 'ALL_IN', 'a, b'],
    [['a'], 'ANY_IN', 'x, y'],
    [['a'], 'ALL_IN', ''],
    [[], 'ANY_IN', 'a'],
    [[null], 'ANY_IN', '[null]'],
  ])
})

test('BETWEEN: two bounds, both included', () => {
  judged('STATEMENT', true, [
    [1, 'BETWEEN', '1,3'],
    [3, 'BETWEEN', '[1, 3]'],
    [4, 'NOT_BETWEEN', '1,3'],
  ])
  judged('STATEMENT', false, [
    [0, 'BETWEEN', '1,3'],
    [2, 'BETWEEN', '3,1'],
    [2, 'BETWEEN', '1'],
    [2, 'BETWEEN', '1,2,3'],
    [2, 'BETWEEN', 'a,b'],
    [2, 'BETWEEN', '[null, 3]'],
    [2, 'NOT_BETWEEN', '1,3'],
  ])
})

test('LIKE: a part of the text, and upper and lower case differ', () => {
  for (const type of filterTypes) {
    judged(type, true, [
      ['Hello world', 'LIKE', 'o w'],
      [1234, 'LIKE', '23'],
      [['abc', 'def'], 'LIKE', 'ef'],
      ['abc', 'LIKE', ''],
      ['abc', 'NOT_LIKE', 'B'],
    ])
    judged(type, false, [
      ['Hello', 'LIKE', 'hello'],
      ['a%c', 'LIKE', 'a_c'],
      [null, 'LIKE', ''],
      ['abc', 'NOT_LIKE', 'b'],
    ])
  }
})

test('a missing field fails every operator but the negative ones', () => {
  for (const type of filterTypes)
    for (const operator of filterOperators)
      for (const actual of [undefined, null])
        for (const value of ['', 'null', 'undefined', '0', 'a,b'])
          assert.equal(
            holds(type, actual, operator, value),
            operator.startsWith('NOT_'),
            `${type} ${operator} ${value}`,
          )
})

test('no field reaches a prototype', () => {
  for (const field of ['constructor.name', '__proto__', 'toString', 'value.length'])
    assert.equal(passes([group([part({ field, operator: 'NOT_LIKE', value: '' })])]), true, field)
})

test('odd and large values are judged, quickly', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => `member ${index}`)
  assert.equal(holds('STATEMENT', many, 'ALL_IN', [...many].reverse().join()), true)
  assert.equal(holds('LIST', many.join(), 'EQUAL', JSON.stringify(many)), true)
  const deep = '['.repeat(10_000) + ']'.repeat(10_000)
  const odd = [deep, '[', '{', '[1,', '1'.repeat(10_000), `${' '.repeat(10_000)}x`, '\u0000', '{"toString":1}']
  const actuals = [{ toString: 1, toJSON: 2 }, JSON.parse(deep), Number.NaN, [[[]]], ...odd]
  for (const type of filterTypes)
    for (const operator of filterOperators)
      for (const [index, value] of odd.entries())
        assert.equal(typeof holds(type, actuals[index % actuals.length], operator, value), 'boolean')
  for (const actual of actuals) assert.equal(typeof holds('GROUP', actual, 'EQUAL', deep), 'boolean')
})
