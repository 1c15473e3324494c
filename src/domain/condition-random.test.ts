// Conditions against a second, plain reading of the same rules, over many random filters.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Random } from '../../test/support/random.ts'
import { createRandom } from '../../test/support/random.ts'
import type { FieldFilterPart, StepFilter } from './condition.ts'
import { filterJoins, filterOperators, filterSources, filterTypes } from './condition.ts'
import { evaluateFilters } from './condition-evaluation.ts'

type Scalar = number | string | undefined
const missing = (value: unknown): value is null | undefined => value === null || value === undefined

function asNumber(value: unknown): Scalar {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value)) ? Number(value) : undefined
}
function asBoolean(value: unknown): Scalar {
  if ([true, 1, '1', 'true', 'TRUE'].some((word) => word === value)) return 1
  return [false, 0, '0', 'false'].some((word) => word === value) ? 0 : undefined
}
function asDate(value: unknown): Scalar {
  if (typeof value !== 'string' || !value.includes('-') || value.startsWith('-')) return asNumber(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : at
}
/** Objects of these tests have one member at most, so that JSON is canonical. */
function asText(value: unknown): Scalar {
  if (missing(value)) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
const readers = { NUMBER: asNumber, BOOLEAN: asBoolean, DATE: asDate, TEXT: asText }
type ReaderName = keyof typeof readers

function readerFor(type: string, actual: unknown): ((value: unknown) => Scalar) | undefined {
  if (type in readers) return readers[type as ReaderName]
  if (typeof actual === 'number') return asNumber
  if (typeof actual === 'boolean') return asBoolean
  return typeof actual === 'string' ? asText : undefined
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

function same(type: string, actual: unknown, expected: unknown): boolean {
  const reader = readerFor(type, actual)
  if (reader !== undefined) return reader(actual) !== undefined && reader(actual) === reader(expected)
  return !missing(actual) && isDeepStrictEqual(actual, parsed(expected))
}

function list(text: string): unknown[] {
  const value = parsed(text)
  return Array.isArray(value)
    ? value
    : text
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one.length > 0)
}

function ordered(type: string, actual: unknown, expected: unknown): -1 | 0 | 1 | undefined {
  const reader = readerFor(type, actual)
  const [one, other] = [reader?.(actual), reader?.(expected)]
  if (one === undefined || other === undefined) return undefined
  return one === other ? 0 : one < other ? -1 : 1
}

function positive(type: string, actual: unknown, operator: string, text: string): boolean {
  if (missing(actual)) return false
  const isList = type === 'LIST' || type === 'MULTI_LIST'
  const members = Array.isArray(actual) ? actual : isList && typeof actual === 'string' ? list(actual) : [actual]
  const has = (expected: unknown): boolean => members.some((member) => same(type, member, expected))
  const order = ordered(type, actual, text)
  switch (operator) {
    case 'EQUAL': {
      if (!isList && (type in readers || !Array.isArray(actual))) return same(type, actual, text)
      return members.every((member) => list(text).some((one) => same(type, member, one))) && list(text).every(has)
    }
    case 'LARGER':
      return order === 1
    case 'SMALLER':
      return order === -1
    case 'LARGER_EQUAL':
      return order === 1 || order === 0
    case 'SMALLER_EQUAL':
      return order === -1 || order === 0
    case 'BETWEEN': {
      const bounds = list(text)
      if (bounds.length !== 2) return false
      const [low, high] = bounds.map((bound) => ordered(type, actual, missing(bound) ? bound : asText(bound)))
      return (low === 0 || low === 1) && (high === 0 || high === -1)
    }
    case 'LIKE':
      return (Array.isArray(actual) ? actual : [actual]).some((one) => String(asText(one) ?? '\u0001').includes(text))
    case 'IN':
      return Array.isArray(actual) && !isList ? has(text) : list(text).some(has)
    case 'ANY_IN':
      return list(text).some(has)
    default:
      return list(text).length > 0 && list(text).every(has)
  }
}

type Subject = Record<'payload' | 'subscriber', Record<string, unknown>>

function childPasses(type: string, child: FieldFilterPart, subject: Subject): boolean {
  const isNegative = child.operator.startsWith('NOT_')
  const operator = isNegative ? child.operator.slice('NOT_'.length) : child.operator
  const [first = '', second] = child.field.split('.')
  const top = subject[child.on][first]
  const actual = second === undefined ? top : (top as Record<string, unknown> | undefined)?.[second]
  return positive(type, actual, operator, child.value) !== isNegative
}

function plainly(filters: readonly StepFilter[], subject: Subject): boolean {
  if (filters.length === 0) return true
  return filters.some(({ children, isNegated, type, value }) => {
    if (children.length === 0) return true
    const passed = children.map((child) => childPasses(type, child, subject))
    const joined = value === 'AND' ? !passed.includes(false) : passed.includes(true)
    return isNegated ? !joined : joined
  })
}

const words = [
  'a',
  'b',
  'A',
  'ab',
  '1',
  '2',
  '10',
  '1.0',
  'true',
  'false',
  '0',
  '',
  '2024-01-01',
  '2024-02-29T12:00:00Z',
]
const scalars = [...words, 0, 1, 2, 10, 1.5, -1, true, false, null]
const moreWords = [
  '2024-01-01T01:00:00+01:00',
  'null',
  '{"a":1}',
  '[]',
  '[1, 2]',
  '["a", true]',
  'a,b',
  'a, 1,',
  '1,10',
  '-1',
]

function randomActual(random: Random): unknown {
  const kind = random.integer(10)
  if (kind === 0) return undefined
  if (kind === 1) return random.chance(0.5) ? { a: 1 } : {}
  if (kind > 4) return random.chance(0.8) ? random.oneOf(scalars) : random.oneOf(moreWords)
  return Array.from({ length: random.integer(4) }, () => (random.chance(0.1) ? { a: 1 } : random.oneOf(scalars)))
}

function randomValue(random: Random): string {
  if (random.chance(0.5)) return random.oneOf([...words, ...moreWords])
  const members = Array.from({ length: random.integer(4) }, () => random.oneOf(scalars))
  return random.chance(0.5) ? JSON.stringify(members) : members.join(random.chance(0.5) ? ',' : ' , ')
}

const randomFilter = (random: Random, wide: boolean): StepFilter => ({
  isNegated: random.chance(0.3),
  type: random.oneOf(filterTypes),
  value: random.oneOf(filterJoins),
  children: Array.from({ length: wide ? random.integer(4) : 1 }, () => ({
    field: random.oneOf(['x', 'y', 'inner.z']),
    value: randomValue(random),
    operator: random.oneOf(filterOperators),
    on: random.oneOf(filterSources),
  })),
})

test('two readings of the rules agree', () => {
  const random = createRandom(3)
  let passed = 0
  for (let round = 0; round < 8_000; round += 1) {
    const side = () => ({ x: randomActual(random), y: randomActual(random), inner: { z: randomActual(random) } })
    const subject = { payload: side(), subscriber: side() }
    // A single condition shows a difference that a wide filter may hide.
    const wide = random.chance(0.3)
    const filters = Array.from({ length: wide ? random.integer(4) : 1 }, () => randomFilter(random, wide))
    const evaluation = evaluateFilters(filters, subject, (text) => text)
    if (evaluation.passed) passed += 1
    const what = `${JSON.stringify(filters)} of ${JSON.stringify(subject)}: ${JSON.stringify(evaluation.conditions)}`
    assert.equal(evaluation.passed, plainly(filters, subject), what)
  }
  assert.ok(passed > 2_000 && passed < 6_000, `${passed} passed`)
})
