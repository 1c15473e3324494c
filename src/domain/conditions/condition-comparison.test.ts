// The operators of conditions, case by case: each of them for each type.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterOperators, filterTypes } from './condition.ts'
import type { Comparison } from './condition-comparison.ts'
import { holds as operatorHolds } from './condition-comparison.ts'

type Type = Comparison['type']
type Operator = (typeof filterOperators)[number]

const holds = (type: Type, actual: unknown, operator: Operator, expected: string): boolean =>
  operatorHolds(operator, { type, actual, expected })

/** Each case: what is there, the operator, the condition's value. */
type Case = readonly [actual: unknown, operator: Operator, value: string]
function judged(type: Type, expected: boolean, cases: readonly Case[]): void {
  for (const [actual, operator, value] of cases)
    assert.equal(
      holds(type, actual, operator, value),
      expected,
      `${type}: ${JSON.stringify(actual)} ${operator} ${value}`,
    )
}

/** One that holds and one that does not, for every operator; the negative ones are the contrary of these. */
type Row = readonly [holds: readonly [unknown, string], holdsNot: readonly [unknown, string]]
const orders = {
  LARGER: (low: unknown, high: unknown): Row => [
    [high, String(low)],
    [low, String(high)],
  ],
  LARGER_EQUAL: (low: unknown, high: unknown): Row => [
    [high, String(high)],
    [low, String(high)],
  ],
  SMALLER: (low: unknown, high: unknown): Row => [
    [low, String(high)],
    [high, String(high)],
  ],
  SMALLER_EQUAL: (low: unknown, high: unknown): Row => [
    [low, String(low)],
    [high, String(low)],
  ],
  EQUAL: (low: unknown, high: unknown): Row => [
    [low, String(low)],
    [low, String(high)],
  ],
  BETWEEN: (low: unknown, high: unknown): Row => [
    [low, `${low}, ${high}`],
    [high, `${low},${low}`],
  ],
  IN: (low: unknown, high: unknown): Row => [
    [low, `${high},${low}`],
    [low, `${high}`],
  ],
  ANY_IN: (low: unknown, high: unknown): Row => [
    [[low], `${high},${low}`],
    [[low], `${high}`],
  ],
  ALL_IN: (low: unknown, high: unknown): Row => [
    [[low, high], `${high},${low}`],
    [[low], `${high},${low}`],
  ],
  LIKE: (low: unknown, high: unknown): Row => [
    [low, String(low).slice(0, 3)],
    [low, String(high)],
  ],
} as const

/** A lower and a higher value of each type, as a payload may hold them. */
const pairs: Readonly<Record<Type, readonly (readonly [unknown, unknown])[]>> = {
  NUMBER: [
    [9, 10],
    ['9', '10'],
    [-1.5, '2e1'],
  ],
  DATE: [
    ['2024-01-31', '2024-02-01'],
    ['2024-01-01T00:30:00+01:00', '2024-01-01T00:00:00Z'],
  ],
  BOOLEAN: [
    [false, true],
    ['false', 'true'],
  ],
  TEXT: [
    ['apple', 'pear'],
    [10, 9],
  ],
  STATEMENT: [
    ['apple', 'pear'],
    [9, 10],
    [false, true],
  ],
  GROUP: [
    ['10', '9'],
    [9, 10],
  ],
  LIST: [
    ['apple', 'pear'],
    [9, 10],
  ],
  MULTI_LIST: [
    ['apple', 'pear'],
    [9, 10],
  ],
}

test('every operator holds and does not hold for every type, and the negative ones are the contrary', () => {
  let judgedCases = 0
  for (const type of filterTypes)
    for (const [low, high] of pairs[type])
      for (const [operator, rowOf] of Object.entries(orders)) {
        const [[actual, value], [otherActual, otherValue]] = rowOf(low, high)
        judged(type, true, [[actual, operator as Operator, value]])
        judged(type, false, [[otherActual, operator as Operator, otherValue]])
        judgedCases += 2
        const contrary = filterOperators.find((one) => one === `NOT_${operator}`)
        if (contrary === undefined) continue
        judged(type, false, [[actual, contrary, value]])
        judged(type, true, [[otherActual, contrary, otherValue]])
      }
  assert.equal(judgedCases, 2 * 10 * 18)
})

test('a member of a list that is missing has no text, not even the empty one', () => {
  for (const type of filterTypes) {
    judged(type, false, [
      [[null], 'LIKE', ''],
      [[], 'LIKE', ''],
    ])
    judged(type, true, [
      [[null], 'NOT_LIKE', ''],
      [[null, 'a'], 'LIKE', ''],
    ])
  }
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

test('a date type compares timestamps, whatever the zone they are written in', () => {
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
