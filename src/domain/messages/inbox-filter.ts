// Which notifications of an inbox are meant: the filter that lists, counts and bulk marks share, as callers write it.
import type { Severity } from '../workflows/workflow.ts'
import { severities } from '../workflows/workflow.ts'

type Scalar = string | number | boolean | null

/** All of the groups must hold, each by any of its values. */
type Groups<Value> = readonly (readonly Value[])[]

export interface DataCondition {
  /** One or two names. */
  readonly path: readonly string[]
  readonly groups: Groups<Scalar>
}

export interface InboxFilter {
  readonly tags?: Groups<string>
  readonly read?: boolean
  readonly archived?: boolean
  readonly snoozed?: boolean
  readonly seen?: boolean
  readonly severities?: readonly Severity[]
  readonly data?: readonly DataCondition[]
  /** Milliseconds since 1970, inclusive. */
  readonly createdGte?: number
  readonly createdLte?: number
}

const groupsMax = 30
const valuesPerGroupMax = 100
const valuesMax = 200
const textLengthMax = 256
const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const flags = ['read', 'archived', 'snoozed', 'seen'] as const
const timestamps = ['createdGte', 'createdLte'] as const
/** The latest time that a JavaScript date can represent. */
const timestampMax = 8.64e15

/** What is wrong with a filter, in a sentence. */
export class FilterMistake extends Error {}

/** Throws a FilterMistake; members it does not know are ignored. */
export function readInboxFilter(given: unknown): InboxFilter {
  if (!isObject(given)) throw new FilterMistake('A filter must be an object')
  const filter: { -readonly [Name in keyof InboxFilter]: InboxFilter[Name] } = {}
  for (const name of flags) {
    const value = given[name]
    if (value == null) continue
    if (typeof value !== 'boolean') throw new FilterMistake(`${name} must be true or false`)
    filter[name] = value
  }
  for (const name of timestamps) {
    const value = given[name]
    if (value == null) continue
    if (typeof value !== 'number' || !(Math.abs(value) <= timestampMax)) {
      throw new FilterMistake(`${name} must be a number of milliseconds since 1970`)
    }
    filter[name] = value
  }
  if (given['tags'] != null) filter.tags = groupsOf('tags', given['tags'], asTag)
  if (given['severity'] != null) filter.severities = severitiesOf(given['severity'])
  if (given['data'] != null) filter.data = dataOf(given['data'])
  if (filter.read === false && filter.archived === true) {
    throw new FilterMistake('Filtering for unread and archived notifications is not supported.')
  }
  return filter
}

function severitiesOf(given: unknown): Severity[] {
  return [given].flat().map((one) => {
    const known = severities.find((severity) => severity === one)
    if (known === undefined) throw new FilterMistake(`severity must be one of ${severities.join(', ')}`)
    return known
  })
}

function asTag(value: unknown): string {
  if (typeof value !== 'string' || value.length > textLengthMax) {
    throw new FilterMistake(`tags must be strings of at most ${textLengthMax} characters`)
  }
  return value
}

function asScalar(value: unknown): Scalar {
  const isScalar = value === null || ['string', 'number', 'boolean'].includes(typeof value)
  if (!isScalar || (typeof value === 'string' && value.length > textLengthMax)) {
    throw new FilterMistake(
      `data must contain strings of at most ${textLengthMax} characters, numbers, true, false or null`,
    )
  }
  return value as Scalar
}

/** `["a", "b"]`, `{or: [...]}` or `{and: [{or: [...]}, ...]}`. Empty groups match everything. */
function groupsOf<Value>(name: string, given: unknown, as: (value: unknown) => Value): Groups<Value> {
  const all = isObject(given) && 'and' in given ? given['and'] : [given]
  if (!Array.isArray(all)) throw new FilterMistake(`${name}.and must be a list`)
  if (all.length > groupsMax) throw new FilterMistake(`${name} must have at most ${groupsMax} groups`)
  const groups = all.map((group) => {
    // Some clients can say no more than `{}`.
    const values = isObject(group) ? (group['or'] ?? (Object.keys(group).length === 0 ? [] : undefined)) : group
    if (!Array.isArray(values)) throw new FilterMistake(`${name} must be a list, {or: [...]} or {and: [{or: [...]}]}`)
    if (values.length > valuesPerGroupMax) {
      throw new FilterMistake(`${name} must have at most ${valuesPerGroupMax} values in a group`)
    }
    return values.map(as)
  })
  if (groups.flat().length > valuesMax) throw new FilterMistake(`${name} must have at most ${valuesMax} values`)
  return groups.filter((group) => group.length > 0)
}

function dataOf(given: unknown): DataCondition[] {
  if (!isObject(given)) throw new FilterMistake('data must be an object')
  const conditions = Object.entries(given).flatMap(([name, value]): DataCondition[] => {
    checkName(name)
    if (!isObject(value) || 'or' in value || 'and' in value) return [{ path: [name], groups: valuesOf(value) }]
    return Object.entries(value).map(([inner, nested]) => {
      checkName(inner)
      return { path: [name, inner], groups: valuesOf(nested) }
    })
  })
  const count = conditions.reduce((sum, { groups }) => sum + groups.flat().length, 0)
  if (count > valuesMax) throw new FilterMistake(`data must have at most ${valuesMax} values`)
  return conditions.filter(({ groups }) => groups.length > 0)
}

const valuesOf = (value: unknown): Groups<Scalar> =>
  typeof value === 'object' && value !== null ? groupsOf('data', value, asScalar) : [[asScalar(value)]]

function checkName(name: string): void {
  if (name === '' || /^[$.]/.test(name) || forbiddenNames.has(name) || name.length > textLengthMax) {
    throw new FilterMistake('data has a name that cannot be filtered by')
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
