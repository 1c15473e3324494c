// The operators of conditions: whether an actual value and an expected text satisfy an operator, by the filter's type.
import { canonicalJson } from '../canonical-json.ts'
import type { FieldFilterPart, StepFilter } from './condition.ts'
import { booleanOf, dateOf, jsonOf, numberOf, textOf } from './condition-values.ts'
import { searchFor } from './text-search.ts'

export interface Comparison {
  readonly type: StepFilter['type']
  readonly actual: unknown
  readonly expected: string
}

/** A missing field fails every operator but the negative ones, each of which is exactly the contrary of its positive one. */
export function holds(operator: FieldFilterPart['operator'], comparison: Comparison): boolean {
  switch (operator) {
    case 'EQUAL':
      return equals(comparison)
    case 'NOT_EQUAL':
      return !equals(comparison)
    case 'LARGER':
      return compares(comparison, (actual, expected) => actual > expected)
    case 'LARGER_EQUAL':
      return compares(comparison, (actual, expected) => actual >= expected)
    case 'SMALLER':
      return compares(comparison, (actual, expected) => actual < expected)
    case 'SMALLER_EQUAL':
      return compares(comparison, (actual, expected) => actual <= expected)
    case 'BETWEEN':
      return between(comparison)
    case 'NOT_BETWEEN':
      return !between(comparison)
    case 'LIKE':
      return like(comparison)
    case 'NOT_LIKE':
      return !like(comparison)
    case 'IN':
      return isIn(comparison)
    case 'NOT_IN':
      return !isIn(comparison)
    case 'ANY_IN':
      return holdsListed(comparison, (listed, held) => listed.some(held))
    case 'ALL_IN':
      return holdsListed(comparison, (listed, held) => listed.length > 0 && listed.every(held))
  }
}

const isListType = (type: StepFilter['type']): boolean => type === 'LIST' || type === 'MULTI_LIST'
const isScalarType = (type: StepFilter['type']): type is ScalarType =>
  type === 'NUMBER' || type === 'DATE' || type === 'BOOLEAN' || type === 'TEXT'

/** Lists are equal if they have the same items, in any order. */
function equals({ type, actual, expected }: Comparison): boolean {
  if (!isListType(type) && (isScalarType(type) || !Array.isArray(actual))) {
    const key = keyOf(type, actual)
    return key !== undefined && keysOf(type, expected).includes(key)
  }
  const members = actualMembers(type, actual)
  if (members === undefined) return false
  const listed = listOf(expected).map((member) => keysOf(type, member))
  const held = new Set(members.map((member) => keyOf(type, member)))
  const wanted = new Set<string | undefined>(listed.flat())
  return [...held].every((key) => wanted.has(key)) && listed.every((keys) => keys.some((key) => held.has(key)))
}

/** An array has to hold the value; anything else has to be one of the values listed. For the list types both are lists. */
function isIn(comparison: Comparison): boolean {
  const { type, actual, expected } = comparison
  if (isListType(type) || !Array.isArray(actual)) return holdsListed(comparison, (listed, held) => listed.some(held))
  const held = keysHeld(type, actual)
  return keysOf(type, expected).some((key) => held.has(key))
}

/** Asks which of the listed values the actual one holds; one that is no list holds itself. */
function holdsListed(
  { type, actual, expected }: Comparison,
  judge: (listed: readonly unknown[], held: (member: unknown) => boolean) => boolean,
): boolean {
  const members = actualMembers(type, actual)
  if (members === undefined) return false
  const held = keysHeld(type, members)
  return judge(listOf(expected), (member) => keysOf(type, member).some((key) => held.has(key)))
}

function compares(
  { type, actual, expected }: Comparison,
  judge: (actual: number | string, expected: number | string) => boolean,
): boolean {
  const scalarType = isScalarType(type) ? type : scalarTypeOf(actual)
  if (scalarType === undefined) return false
  const [one, other] = [scalarOf(scalarType, actual), scalarOf(scalarType, expected)]
  return one !== undefined && other !== undefined && judge(one, other)
}

/** Two listed bounds, both of which belong to the range. */
function between({ type, actual, expected }: Comparison): boolean {
  const range = rangeOf(expected)
  return (
    range !== undefined &&
    compares({ type, actual, expected: range.from }, (value, bound) => value >= bound) &&
    compares({ type, actual, expected: range.to }, (value, bound) => value <= bound)
  )
}

function rangeOf(text: string): { from: string; to: string } | undefined {
  const [from, to, ...more] = listOf(text).map(textOf)
  return from === undefined || to === undefined || more.length > 0 ? undefined : { from, to }
}

/** Whether anything can lie between what the text lists. */
export const isRange = (text: string): boolean => rangeOf(text) !== undefined

/**
 * Texts are compared, whatever the type; for a list, each item's. A missing value has no text, not even the empty one.
 */
function like({ actual, expected }: Comparison): boolean {
  const members: readonly unknown[] = Array.isArray(actual) ? actual : [actual]
  const holdsExpected = searchFor(expected)
  return members.some((member) => {
    const text = textOf(member)
    return text !== undefined && holdsExpected(text)
  })
}

/** Undefined for what is missing. The list types read a text as a list. */
function actualMembers(type: StepFilter['type'], actual: unknown): readonly unknown[] | undefined {
  if (actual === undefined || actual === null) return undefined
  if (Array.isArray(actual)) return actual
  return isListType(type) && typeof actual === 'string' ? listOf(actual) : [actual]
}

/** `["a", "b"]`, or `a, b`. */
function listOf(text: string): readonly unknown[] {
  const json = text.trimStart().startsWith('[') ? jsonOf(text) : undefined
  if (Array.isArray(json)) return json
  return text
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '')
}

function keysHeld(type: StepFilter['type'], members: readonly unknown[]): Set<string> {
  const keys = members.map((member) => keyOf(type, member))
  return new Set(keys.filter((key) => key !== undefined))
}

/** Two values are equal when they share a key: a set of keys compares long lists in one pass. */
function keyOf(type: StepFilter['type'], actual: unknown): string | undefined {
  const scalarType = isScalarType(type) ? type : scalarTypeOf(actual)
  if (scalarType !== undefined) return scalarKey(scalarType, actual)
  if (typeof actual !== 'object' || actual === null) return undefined
  const json = canonicalJson(actual)
  return json === undefined ? undefined : `JSON ${json}`
}

/** An expected value has one key for each type the actual one may turn out to have. */
function keysOf(type: StepFilter['type'], expected: unknown): string[] {
  if (isScalarType(type)) return [scalarKey(type, expected)].filter((key) => key !== undefined)
  const value = typeof expected === 'string' && /^\s*[[{]/.test(expected) ? jsonOf(expected) : expected
  const keys = (['NUMBER', 'BOOLEAN', 'TEXT'] as const).map((scalarType) => scalarKey(scalarType, expected))
  if (typeof value === 'object' && value !== null) keys.push(keyOf(type, value))
  return keys.filter((key) => key !== undefined)
}

function scalarKey(type: ScalarType, value: unknown): string | undefined {
  const scalar = scalarOf(type, value)
  return scalar === undefined ? undefined : `${type} ${scalar}`
}

type ScalarType = 'NUMBER' | 'DATE' | 'BOOLEAN' | 'TEXT'

function scalarTypeOf(actual: unknown): ScalarType | undefined {
  if (typeof actual === 'string') return 'TEXT'
  if (typeof actual === 'boolean') return 'BOOLEAN'
  return typeof actual === 'number' ? 'NUMBER' : undefined
}

/** Undefined when the value cannot be read as that type. */
function scalarOf(type: ScalarType, value: unknown): number | string | undefined {
  if (type === 'TEXT') return textOf(value)
  if (type === 'NUMBER') return numberOf(value)
  return type === 'DATE' ? dateOf(value) : booleanOf(value)
}
