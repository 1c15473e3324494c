// Comparisons as in LiquidJS, without its generators. Each is a step, and is charged for what it reads.
import { Drop, Tokenizer, toValue, toValueSync } from 'liquidjs'
import type { Budget } from '../limits.ts'
import { weightOf } from '../values.ts'

export type Operator = (left: unknown, right: unknown, budget: Budget) => unknown

/** `nil`, `empty` and `blank`: values that compare themselves. */
interface Comparable {
  equals(other: unknown): unknown
  gt(other: unknown): unknown
  geq(other: unknown): unknown
  lt(other: unknown): unknown
  leq(other: unknown): unknown
}

const isComparable = (value: unknown): value is Comparable => value instanceof Drop && 'equals' in value

type Class = abstract new (...args: never) => object
/** LiquidJS does not export it; `blank` is one of these too. */
const Empty = (new Tokenizer('empty').readValue() as unknown as { content: { constructor: Class } }).content.constructor

/** Members of lists are compared one by one: 0.1 µs each. */
const comparisonWeight = 10

export function isTrue(value: unknown): boolean {
  const plain: unknown = toValue(value)
  return plain !== false && plain !== undefined && plain !== null
}

function equals(left: unknown, right: unknown, budget: Budget): boolean {
  if (isComparable(left)) return comparesEqual(left, right, budget)
  if (isComparable(right)) return comparesEqual(right, left, budget)
  const one: unknown = toValue(left)
  const other: unknown = toValue(right)
  if (!Array.isArray(one)) return one === other
  if (!Array.isArray(other) || one.length !== other.length) return false
  return one.every((member, index) => equals(member, other[index], budget))
}

function comparesEqual(comparable: Comparable, other: unknown, budget: Budget): boolean {
  const isObject = typeof other === 'object' && other !== null && !Array.isArray(other) && !(other instanceof Drop)
  if (comparable instanceof Empty && isObject) return budget.keysOf(other).length === 0
  return toValueSync(comparable.equals(other) as Generator<unknown, boolean>) as boolean
}

type Order = 'gt' | 'geq' | 'lt' | 'leq'

const ordered =
  (own: Order, mirrored: Order, compare: (left: number, right: number) => boolean): Operator =>
  (left, right) => {
    if (isComparable(left)) return left[own](right)
    if (isComparable(right)) return right[mirrored](left)
    return compare(toValue(left) as number, toValue(right) as number)
  }

const contains: Operator = (left, right, budget) => {
  const whole: unknown = toValue(left)
  if (Array.isArray(whole)) return whole.some((member) => equals(member, right, budget))
  return typeof whole === 'string' && whole.indexOf(toValue(right) as string) > -1
}

const plainOperators: Readonly<Record<string, Operator>> = {
  '==': equals,
  '!=': (left, right, budget) => !equals(left, right, budget),
  '>': ordered('gt', 'lt', (left, right) => left > right),
  '<': ordered('lt', 'gt', (left, right) => left < right),
  '>=': ordered('geq', 'leq', (left, right) => left >= right),
  '<=': ordered('leq', 'geq', (left, right) => left <= right),
  contains,
  and: (left, right) => isTrue(left) && isTrue(right),
  or: (left, right) => isTrue(left) || isTrue(right),
}

function charged(name: string, operator: Operator): Operator {
  return (left, right, budget) => {
    budget.check()
    const whole: unknown = toValue(left)
    const part: unknown = toValue(right)
    if (Array.isArray(whole)) budget.use(comparisonWeight * weightOf(whole))
    // A list that is compared with a number, or looked for in a text, is written out.
    if (Array.isArray(part)) budget.use(comparisonWeight * weightOf(part))
    // Texts are compared to their ends, read as numbers, or looked at for anything but blanks.
    if (typeof whole === 'string') budget.read(whole.length)
    if (typeof part === 'string') budget.read(part.length)
    if (name === 'contains' && typeof whole === 'string') {
      if (typeof part === 'string' || Array.isArray(part)) budget.search(whole, String(part))
    }
    return operator(left, right, budget)
  }
}

/** Those between two values; `not` stands before one. */
export const operators: Readonly<Record<string, Operator>> = Object.fromEntries(
  Object.entries(plainOperators).map(([name, operator]) => [name, charged(name, operator)]),
)
