// The filters of LiquidJS that are kept: each gets only what it can read at a known cost, which is charged before it starts.
import { toValue } from 'liquidjs'
import type { FilterHandler } from './filters.ts'
import { budgetOf } from './filters.ts'
import type { Budget } from './limits.ts'
import { numberOf, print } from './values.ts'

/** The type that a value or an argument is passed as. */
type Kind = 'list' | 'number' | 'text'

interface Reading {
  readonly value: Kind
  readonly args: Kind
  /** Units of work for each character or list member of the value, beside those that LiquidJS charges. */
  readonly weight?: number
}

const arithmetic: Reading = { value: 'number', args: 'number' }
const listed: Reading = { value: 'list', args: 'list', weight: 1 }

/** All others work on texts, and take texts. */
const readings: Readonly<Record<string, Reading>> = {
  ...Object.fromEntries(
    'abs at_least at_most ceil divided_by floor minus plus modulo times round to_integer'
      .split(' ')
      .map((name) => [name, arithmetic]),
  ),
  ...Object.fromEntries(
    'first last reverse compact concat push unshift pop shift default raw'.split(' ').map((name) => [name, listed]),
  ),
  first: { value: 'list', args: 'list' },
  last: { value: 'list', args: 'list' },
  default: { value: 'list', args: 'list' },
  raw: { value: 'list', args: 'list' },
  // Puts all in random order.
  sample: { value: 'list', args: 'number', weight: 20 },
  slice: { value: 'list', args: 'number' },
  join: { value: 'list', args: 'text', weight: 4 },
  array_to_sentence_string: { value: 'list', args: 'text', weight: 4 },
  slugify: { value: 'text', args: 'text', weight: 2 },
  truncatewords: { value: 'text', args: 'text', weight: 1 },
  number_of_words: { value: 'text', args: 'text', weight: 1 },
}

const ofText: Reading = { value: 'text', args: 'text' }
/** `truncate: 20, '…'`: a number, then a text. */
const numberFirst = new Set(['truncate', 'truncatewords'])
/** The first argument is looked for in the value. */
const searching = new Set([
  'split',
  'remove',
  'remove_first',
  'remove_last',
  'replace',
  'replace_first',
  'replace_last',
])

/** The same filter, without a list where it would expand one, and with nothing that costs more than was charged. */
export function foreignFilter(name: string, handler: FilterHandler): FilterHandler {
  const { value: kind, args: argKind, weight = 0 } = Object.hasOwn(readings, name) ? (readings[name] ?? ofText) : ofText
  return function (given, ...args) {
    const budget = budgetOf(this)
    const value = handedOver(kind, given, budget)
    const handed = args.map((arg, index) =>
      handedOver(index === 0 && numberFirst.has(name) ? 'number' : argKind, arg, budget),
    )
    if (weight > 0) budget.use(weight * lengthOf(value))
    if (searching.has(name)) budget.search(print(value, budget), print(handed[0], budget))
    return handler.call(this, value, ...handed)
  }
}

function handedOver(kind: Kind, given: unknown, budget: Budget): unknown {
  const plain: unknown = toValue(given)
  if (kind === 'number') return typeof plain === 'string' || Array.isArray(plain) ? numberOf(plain, budget) : given
  return kind === 'text' && Array.isArray(plain) ? print(plain, budget) : given
}

function lengthOf(given: unknown): number {
  const value: unknown = toValue(given)
  return typeof value === 'string' || Array.isArray(value) ? value.length : 0
}
