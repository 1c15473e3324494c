// The operators of JsonLogic that take values and return one: the standard ones, and those on texts, ranges and
// timestamps.
import { canonicalJson } from '../canonical-json.ts'
import { timestampOfText } from '../time/iso-timestamp.ts'
import { booleanOf, dateOf, numberOf, textOf } from './condition-values.ts'

type Values = readonly unknown[]

export interface Operator {
  /** How many operands it takes. */
  readonly least: number
  readonly most: number
  /** A comparison: what it compared appears in the detail. */
  readonly compares: boolean
  /** Looks for one of its two operands in the other, so that each may be gone through many times. */
  readonly looksThrough: boolean
  apply(values: Values, now: Date): unknown
}

/** A rule that would make more than this of a payload is broken rather than slow. */
const textLengthMax = 64 * 1024
const operandsMax = 100

export class LogicTooLarge extends Error {
  constructor() {
    super('The conditions produce too large a result')
    this.name = 'LogicTooLarge'
  }
}

export const isMissing = (value: unknown): value is null | undefined => value === null || value === undefined

/** As in the standard: an empty list is false, and so is what JavaScript considers false. */
export const isTrue = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value))

/**
 * Numbers, booleans and timestamps are equal however they are written; texts and everything else must match exactly.
 */
const equals = (one: unknown, other: unknown): boolean => equalTo(one)(other)

/** For one value that is compared with many: it is read only once in each way. */
function equalTo(one: unknown): (other: unknown) => boolean {
  const [json, truth, number, timestamp] = [canonicalJson, booleanOf, numberOf, writtenTimestamp].map((read) =>
    once(() => read(one)),
  ) as [Reading, Reading, Reading, Reading]
  return (other) => {
    if (isMissing(one) || isMissing(other)) return isMissing(one) && isMissing(other)
    const types = [typeof one, typeof other]
    if (types.includes('object')) return sameDefined(json(), canonicalJson(other))
    if (types.includes('boolean')) return sameDefined(truth(), booleanOf(other))
    if (types.includes('number')) return sameDefined(number(), numberOf(other))
    return one === other || sameDefined(timestamp(), writtenTimestamp(other))
  }
}

type Reading = () => string | number | undefined

function once(read: Reading): Reading {
  let cached: { readonly value: ReturnType<Reading> } | undefined
  return () => {
    cached ??= { value: read() }
    return cached.value
  }
}

const sameDefined = (one: unknown, other: unknown): boolean => one !== undefined && one === other

function identical(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && typeof other === 'object' && equals(one, other))
}

const writtenTimestamp = (value: unknown): number | undefined =>
  typeof value === 'string' ? timestampOfText(value.trim())?.at.getTime() : undefined

/** Below, at or above zero; undefined for what cannot be put in an order, which a missing value never can. */
function order(one: unknown, other: unknown): number | undefined {
  for (const read of [numberOf, dateOf]) {
    const [first, second] = [read(one), read(other)]
    if (first !== undefined && second !== undefined) return first - second
  }
  if (typeof one !== 'string' || typeof other !== 'string') return undefined
  return one === other ? 0 : one < other ? -1 : 1
}

/** Each value and the next are in the requested order: with three of them, whether one lies between two. */
function ascends(values: Values, judge: (order: number) => boolean): boolean {
  return values.slice(1).every((value, index) => {
    const found = order(values[index], value)
    return found !== undefined && judge(found)
  })
}

function between([value, first, last]: Values): boolean {
  const [from, to] = Array.isArray(first) ? (first as Values) : [first, last]
  return ascends([from, value, to], (found) => found <= 0)
}

/** A list holds a member, a text a part of itself. */
function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(whole)) return whole.some(equalTo(part))
  const text = textOf(part)
  return typeof whole === 'string' && text !== undefined && whole.includes(text)
}

const containsAny = (whole: unknown, parts: unknown): boolean =>
  (Array.isArray(parts) ? parts : [parts]).some((part) => contains(whole, part))

/** A member of a list, or a part of a text. */
const isIn = (value: unknown, whole: unknown): boolean => contains(whole, value)

function startsWith(value: unknown, part: unknown): boolean {
  const [text, start] = [textOf(value), textOf(part)]
  return text !== undefined && start !== undefined && text.startsWith(start)
}

function endsWith(value: unknown, part: unknown): boolean {
  const [text, end] = [textOf(value), textOf(part)]
  return text !== undefined && end !== undefined && text.endsWith(end)
}

function isEmpty(value: unknown): boolean {
  if (isMissing(value) || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

const unitMs = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000, weeks: 604_800_000 } as const
const unitMonths = { months: 1, years: 12 } as const
type AgoUnit = keyof typeof unitMs | keyof typeof unitMonths

export interface Ago {
  readonly amount: number
  readonly unit: AgoUnit
}

export const agoUnits: readonly string[] = [...Object.keys(unitMs), ...Object.keys(unitMonths)]

export function isAgo(value: unknown): value is Ago {
  const { amount, unit } = (value ?? {}) as { amount?: unknown; unit?: unknown }
  return typeof amount === 'number' && amount >= 0 && typeof unit === 'string' && agoUnits.includes(unit)
}

function timestampAgo({ amount, unit }: Ago, now: Date): number {
  if (unit in unitMs) return now.getTime() - amount * unitMs[unit as keyof typeof unitMs]
  const then = new Date(now)
  const day = now.getUTCDate()
  then.setUTCDate(1)
  then.setUTCMonth(then.getUTCMonth() - amount * unitMonths[unit as keyof typeof unitMonths])
  // The 31st of a shorter month is its last day.
  const lastDay = new Date(Date.UTC(then.getUTCFullYear(), then.getUTCMonth() + 1, 0)).getUTCDate()
  then.setUTCDate(Math.min(day, lastDay))
  return then.getTime()
}

/** False if the value is not a timestamp. */
const ago =
  (judge: (at: number, ago: number, now: number, before: number) => boolean) =>
  ([value, span]: Values, now: Date): boolean => {
    const at = dateOf(value)
    if (at === undefined || !isAgo(span)) return false
    const before = timestampAgo({ ...span, amount: span.amount + 1 }, now)
    return judge(at, timestampAgo(span, now), now.getTime(), before)
  }

const withinLast = ago((at, then, now) => at >= then && at <= now)

/** Null if one of them is not a number, or the result is not. */
function calculated(values: Values, calculate: (numbers: readonly number[]) => number): number | null {
  const numbers = values.map(numberOf)
  if (numbers.some((number) => number === undefined)) return null
  const result = calculate(numbers as number[])
  return Number.isFinite(result) ? result : null
}

const pair =
  (judge: (one: number, other: number) => number) =>
  ([one = 0, other = 0]: readonly number[]): number =>
    judge(one, other)

function joined(values: Values): string {
  const text = values.map((value) => textOf(value) ?? '').join('')
  if (text.length > textLengthMax) throw new LogicTooLarge()
  return text
}

function part([value, start, length]: Values): string {
  const text = textOf(value) ?? ''
  const from = numberOf(start) ?? 0
  const rest = text.slice(from)
  const count = numberOf(length)
  if (count === undefined) return rest
  return count < 0 ? rest.slice(0, count) : rest.slice(0, Math.trunc(count))
}

const compared = (least: number, most: number, apply: Operator['apply']): Operator => ({
  least,
  most,
  compares: true,
  looksThrough: false,
  apply,
})
const computed = (least: number, most: number, apply: Operator['apply']): Operator => ({
  least,
  most,
  compares: false,
  looksThrough: false,
  apply,
})
/** Of two values; the second of a pair is exactly the contrary of the first. */
const two = (judge: (one: unknown, other: unknown) => boolean): Operator =>
  compared(2, 2, ([one, other]) => judge(one, other))
const search = (judge: (one: unknown, other: unknown) => boolean): Operator => ({ ...two(judge), looksThrough: true })
const not = (operator: Operator): Operator => ({
  ...operator,
  apply: (values, now) => operator.apply(values, now) !== true,
})

const equal = two(equals)
const same = two(identical)
const within = compared(2, 3, between)
const holding = search(contains)
const holdingAny = search(containsAny)
const member = search(isIn)
const beginning = two(startsWith)
const ending = two(endsWith)
const empty = compared(1, 1, ([value]) => isEmpty(value))
const absent = compared(1, 1, ([value]) => isMissing(value))
const recent = compared(2, 2, withinLast)
const ordered = (judge: (order: number) => boolean): Operator => compared(2, 3, (values) => ascends(values, judge))

export const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['==', equal],
  ['=', equal],
  ['!=', not(equal)],
  ['===', same],
  ['!==', not(same)],
  ['<', ordered((found) => found < 0)],
  ['<=', ordered((found) => found <= 0)],
  ['>', ordered((found) => found > 0)],
  ['>=', ordered((found) => found >= 0)],
  ['in', member],
  ['notIn', not(member)],
  ['contains', holding],
  ['doesNotContain', not(holding)],
  ['containsAny', holdingAny],
  ['doesNotContainAny', not(holdingAny)],
  ['startsWith', beginning],
  ['beginsWith', beginning],
  ['doesNotBeginWith', not(beginning)],
  ['endsWith', ending],
  ['doesNotEndWith', not(ending)],
  ['null', absent],
  ['notNull', not(absent)],
  ['isEmpty', empty],
  ['isNonEmpty', not(empty)],
  ['between', within],
  ['notBetween', not(within)],
  [
    'moreThanXAgo',
    compared(
      2,
      2,
      ago((at, then) => at < then),
    ),
  ],
  [
    'lessThanXAgo',
    compared(
      2,
      2,
      ago((at, then) => at >= then),
    ),
  ],
  [
    'exactlyXAgo',
    compared(
      2,
      2,
      ago((at, then, _now, before) => at > before && at <= then),
    ),
  ],
  ['withinLast', recent],
  ['notWithinLast', not(recent)],
  ['+', computed(1, operandsMax, (values) => calculated(values, (all) => all.reduce((sum, one) => sum + one, 0)))],
  ['*', computed(1, operandsMax, (values) => calculated(values, (all) => all.reduce((sum, one) => sum * one, 1)))],
  [
    '-',
    computed(1, 2, (values) => calculated(values, values.length === 1 ? ([one = 0]) => -one : pair((a, b) => a - b))),
  ],
  [
    '/',
    computed(2, 2, (values) =>
      calculated(
        values,
        pair((a, b) => a / b),
      ),
    ),
  ],
  [
    '%',
    computed(2, 2, (values) =>
      calculated(
        values,
        pair((a, b) => a % b),
      ),
    ),
  ],
  ['min', computed(1, operandsMax, (values) => calculated(values, (all) => Math.min(...all)))],
  ['max', computed(1, operandsMax, (values) => calculated(values, (all) => Math.max(...all)))],
  ['cat', computed(1, operandsMax, joined)],
  ['substr', computed(2, 3, part)],
  ['merge', computed(0, operandsMax, (values) => values.flat())],
  ['!', computed(1, 1, ([value]) => !isTrue(value))],
  ['!!', computed(1, 1, ([value]) => isTrue(value))],
])

/** Those whose second operand is a span of time, written out. */
export const agoOperators: ReadonlySet<string> = new Set([
  'moreThanXAgo',
  'lessThanXAgo',
  'exactlyXAgo',
  'withinLast',
  'notWithinLast',
])
