// The filters of templates that are our own, or replace one of LiquidJS that a hostile template could abuse.

import { toValue } from 'liquidjs'
import { BoundedMap } from '../domain/bounded-map.ts'
import { isLocale, isTimezone } from '../domain/people/subscriber.ts'
import type { Budget } from './limits.ts'
import { formatted, localeOf, stepsOf, strftime, timestampOf, zoneOf } from './timestamps.ts'
import { escapeHtml, jsonOf, memberOf, memberWeight, numberOf, pathOf, print, SafeText, valueAt } from './values.ts'

/** What a filter is called on: the budget under the name by which LiquidJS' own filters know it. */
export interface FilterThis {
  readonly context: { readonly environments: object; readonly memoryLimit: Budget }
}

export type FilterHandler = (this: FilterThis, value: unknown, ...args: unknown[]) => unknown

export const budgetOf = (filter: FilterThis): Budget => filter.context.memoryLimit

const text = (filter: FilterThis, value: unknown): string => print(value, budgetOf(filter))

const subscriberOf = (filter: FilterThis): unknown =>
  memberOf(filter.context.environments, 'subscriber', budgetOf(filter))
const subscriberLocale = (filter: FilterThis): string =>
  localeOf(memberOf(subscriberOf(filter), 'locale', budgetOf(filter)))

function list(value: unknown): readonly unknown[] {
  const plain: unknown = toValue(value)
  if (plain === undefined || plain === null) return []
  return Array.isArray(plain) ? plain : [plain]
}

/** A list counts by its length. */
function number(filter: FilterThis, value: unknown): number {
  const plain: unknown = toValue(value)
  return Array.isArray(plain) ? plain.length : numberOf(plain, budgetOf(filter)) || 0
}

/** The cost of reading a field for a filter, of comparing it with the others, and of starting a group with it. */
const keyedWeight = 8
const pathWeight = 2
const distinctWeight = 8
const groupedWeight = 24

/** The items of a list with the value at a path in each. */
function keyed(filter: FilterThis, value: unknown, path: unknown): { item: unknown; key: unknown }[] {
  const items = list(value)
  const budget = budgetOf(filter)
  const keys = pathOf(path, budget)
  budget.use((keyedWeight + pathWeight * keys.length) * items.length)
  return items.map((item) => {
    const key: unknown = toValue(valueAt(item, keys, budget))
    if (typeof key === 'string') budget.read(key.length)
    return { item, key }
  })
}

/** Missing last, numbers before texts, the rest as they came. */
function compare(left: unknown, right: unknown): number {
  const leftRank = rank(left)
  const rightRank = rank(right)
  if (leftRank !== rightRank) return leftRank - rightRank
  if (leftRank > 1) return 0
  if (left === right) return 0
  return (left as number) < (right as number) ? -1 : 1
}

function rank(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'boolean') return 0
  if (typeof value === 'string') return 1
  return value === undefined || value === null ? 3 : 2
}

function sorted(filter: FilterThis, value: unknown, path: unknown, order: unknown, natural: boolean): unknown[] {
  const direction = order === 'desc' ? -1 : 1
  const comparable = (key: unknown) => (natural && typeof key === 'string' ? key.toLowerCase() : key)
  const found = keyed(filter, value, path)
  payForOrder(budgetOf(filter), found)
  return found
    .map(({ item, key }) => ({ item, key: comparable(key) }))
    .sort((left, right) => direction * compare(left.key, right.key))
    .map(({ item }) => item)
}

/** Beside looking into each member: each is compared some times, and long texts may differ only at their ends. */
function payForOrder(budget: Budget, found: readonly { key: unknown }[]): void {
  const comparisons = Math.ceil(Math.log2(found.length + 1))
  budget.use(found.length * comparisons)
  for (const { key } of found) if (typeof key === 'string') budget.read(key.length * comparisons)
}

const sortBy: FilterHandler = function (value, path, order) {
  return sorted(this, value, path, order, false)
}

const groupBy: FilterHandler = function (value, path) {
  const groups = new Map<unknown, unknown[]>()
  budgetOf(this).use(groupedWeight * list(value).length)
  for (const { item, key } of keyed(this, value, path)) {
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return [...groups].map(([key, items]) => ({ key, name: key, items }))
}

const uniqueBy: FilterHandler = function (value, path) {
  const seen = new Set<unknown>()
  budgetOf(this).use(distinctWeight * list(value).length)
  return keyed(this, value, path)
    .filter(({ key }) => !seen.has(key) && seen.add(key))
    .map(({ item }) => item)
}

/** Without an expected value: what is there and not false. */
function matching(filter: FilterThis, value: unknown, path: unknown, expected: unknown[]): boolean[] {
  const wanted: unknown = toValue(expected[0])
  return keyed(filter, value, path).map(({ key }) =>
    expected.length === 0 ? key !== undefined && key !== null && key !== false : key === wanted,
  )
}

const date: FilterHandler = function (value, format, zone) {
  const timestamp = timestampFor(this, value, zone)
  if (timestamp === undefined) return value
  return strftime(timestamp, paidFormat(this, format ?? '%A, %-d %B %Y, %H:%M %Z'))
}

/** The codes of a format take time, and formats may come from payloads: charged before anything is computed. */
function paidFormat(filter: FilterThis, format: unknown): string {
  const given = text(filter, format)
  budgetOf(filter).use(memberWeight * given.length)
  budgetOf(filter).steps(stepsOf(given))
  return given
}

const dateFormat: FilterHandler = function (value, pattern, zone) {
  const timestamp = timestampFor(this, value, zone)
  return timestamp === undefined
    ? value
    : formatted(timestamp, paidFormat(this, pattern === undefined ? 'PPP' : pattern))
}

function timestampFor(filter: FilterThis, given: unknown, zone: unknown) {
  const value: unknown = toValue(given)
  if (typeof zone === 'string' && zone !== '' && !isTimezone(zone)) {
    throw new Error(`unknown time zone "${zone.slice(0, 64)}": use one such as "Europe/Berlin"`)
  }
  if (typeof zone === 'string' && zone !== '') budgetOf(filter).format(zone)
  const subscriberZone = zoneOf(memberOf(subscriberOf(filter), 'timezone', budgetOf(filter)))
  return timestampOf(value, {
    now: budgetOf(filter).now,
    zone: typeof zone === 'number' || (typeof zone === 'string' && zone !== '') ? zone : subscriberZone,
    locale: subscriberLocale(filter),
  })
}

const decimalsMax = 20

/** `decimals`, then a language tag, or the separators of thousands and of decimals. */
function numberFormat(locale: string | undefined): FilterHandler {
  return function (value, decimals, separator, decimalSeparator) {
    const plain: unknown = toValue(value)
    const given = numberOf(plain, budgetOf(this))
    if (plain === null || plain === '' || typeof plain === 'object' || !Number.isFinite(given)) return value
    const places = decimals === undefined ? 2 : Math.min(Math.max(Math.trunc(number(this, decimals)), 0), decimalsMax)
    const language = typeof separator === 'string' && isLocale(separator) ? separator : undefined
    if (language !== undefined) budgetOf(this).format(`${language} ${places}`)
    if (separator === undefined || language !== undefined) {
      return inLanguage(
        given,
        places,
        localeOf(language ?? locale ?? memberOf(subscriberOf(this), 'locale', budgetOf(this))),
      )
    }
    const [whole = '', part] = Math.abs(given).toFixed(places).split('.')
    const thousands = text(this, separator)
    const grouped = whole.includes('e') ? whole : whole.replace(/\B(?=(?:\d{3})+$)/g, () => thousands)
    const sign = given < 0 ? '-' : ''
    return `${sign}${grouped}${part === undefined ? '' : `${text(this, decimalSeparator ?? '.')}${part}`}`
  }
}

const numberFormatsMax = 500
const numberFormats = new BoundedMap<string, Intl.NumberFormat>(numberFormatsMax)

function inLanguage(value: number, places: number, locale: string): string {
  const key = `${locale} ${places}`
  const known = numberFormats.get(key)
  if (known !== undefined) return known.format(value)
  const made = new Intl.NumberFormat(locale, { minimumFractionDigits: places, maximumFractionDigits: places })
  numberFormats.set(key, made)
  return made.format(value)
}

/** The word alone: `{{ n }} {{ n | pluralize: 'item', 'items' }}`. A list counts by its length. */
const pluralize: FilterHandler = function (value, one, many) {
  const singular = text(this, one ?? '')
  return number(this, value) === 1 ? singular : many === undefined ? `${singular}s` : text(this, many)
}

const titlecase: FilterHandler = function (value) {
  const words = text(this, value)
  budgetOf(this).use(words.length)
  return words.replace(/\S+/g, (word) => {
    const first = String.fromCodePoint(word.codePointAt(0) ?? 0)
    return first.toUpperCase() + word.slice(first.length).toLowerCase()
  })
}

/** The texts at a path; events are payloads here, so a leading `payload.` is removed if it leads nowhere. */
function names(filter: FilterThis, value: unknown, path: unknown): string[] {
  const keys = pathOf(path, budgetOf(filter))
  const items = list(value)
  budgetOf(filter).use((memberWeight + pathWeight * keys.length) * items.length)
  return items
    .map((item) => {
      const found = valueAt(item, keys, budgetOf(filter))
      const isAbsent = found === undefined && keys[0] === 'payload'
      return text(filter, isAbsent ? valueAt(item, keys.slice(1), budgetOf(filter)) : found)
    })
    .filter((name) => name !== '')
}

/** The separator is charged before it is repeated. */
function joined(filter: FilterThis, parts: readonly string[], between: string): string {
  budgetOf(filter).use(parts.length * between.length)
  return parts.join(between)
}

const others = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

/** `Ann, Bob and 3 others`. */
const digest: FilterHandler = function (value, most, path, separator) {
  const found = names(this, value, path)
  const shown = Math.max(1, most === undefined ? 2 : Math.trunc(number(this, most)))
  const between = separator === undefined ? ', ' : text(this, separator)
  if (found.length > shown) {
    return `${joined(this, found.slice(0, shown), between)} and ${others(found.length - shown, 'other')}`
  }
  const last = found.pop()
  if (last === undefined) return ''
  return found.length === 0 ? last : `${joined(this, found, between)} and ${last}`
}

/** `Ann, Bob, and 3 others`: a path, how many to name, the word for the rest, then the three connectors. */
const toSentence: FilterHandler = function (value, path, most, word, connector, twoConnector, lastConnector) {
  const found = names(this, value, path)
  const shown = Math.max(1, most === undefined ? 2 : Math.trunc(number(this, most)))
  const last = lastConnector === undefined ? ', and ' : text(this, lastConnector)
  const rest = found.length - shown
  const parts = rest > 0 ? [...found.slice(0, shown), others(rest, text(this, word ?? 'other'))] : found
  if (parts.length < 3) return parts.join(twoConnector === undefined ? ' and ' : text(this, twoConnector))
  const between = connector === undefined ? ', ' : text(this, connector)
  return `${joined(this, parts.slice(0, -1), between)}${last}${parts.at(-1)}`
}

const json: FilterHandler = function (value, indent) {
  return jsonOf(value, budgetOf(this), Math.min(Math.max(Math.trunc(number(this, indent)), 0), 4))
}

const stringCase = (change: (given: string) => string): FilterHandler =>
  function (value) {
    return change(text(this, value))
  }

/** Both spellings: Liquid's, and those of templates that people migrate. */
export const ourFilters: Readonly<Record<string, FilterHandler>> = {
  date,
  dateFormat,
  date_format: dateFormat,
  date_to_xmlschema(value) {
    return date.call(this, value, '%Y-%m-%dT%H:%M:%S%:z')
  },
  date_to_rfc822(value) {
    const timestamp = timestampFor(this, value, undefined)
    if (timestamp === undefined) return value
    return strftime({ ...timestamp, locale: 'en' }, paidFormat(this, '%a, %d %b %Y %H:%M:%S %z'))
  },
  date_to_string(value) {
    return date.call(this, value, '%d %b %Y')
  },
  date_to_long_string(value) {
    return date.call(this, value, '%d %B %Y')
  },
  numberFormat: numberFormat('en'),
  number_format: numberFormat(undefined),
  pluralize,
  titlecase,
  uppercase: stringCase((given) => given.toUpperCase()),
  lowercase: stringCase((given) => given.toLowerCase()),
  digest,
  toSentence,
  to_sentence: toSentence,
  json,
  jsonify: json,
  inspect: json,
  size(value) {
    const plain: unknown = toValue(value)
    return typeof plain === 'object' ? (memberOf(plain, 'size', budgetOf(this)) ?? 0) : text(this, plain).length
  },
  sort: sortBy,
  sortBy,
  sort_by: sortBy,
  sort_natural(value, path, order) {
    return sorted(this, value, path, order, true)
  },
  groupBy,
  group_by: groupBy,
  unique: uniqueBy,
  unique_by: uniqueBy,
  uniq: uniqueBy,
  map(value, path) {
    return keyed(this, value, path).map(({ key }) => key)
  },
  sum(value, path) {
    return keyed(this, value, path).reduce((total, { key }) => total + (numberOf(key, budgetOf(this)) || 0), 0)
  },
  where(value, path, ...expected) {
    const hits = matching(this, value, path, expected)
    return list(value).filter((_, index) => hits[index])
  },
  reject(value, path, ...expected) {
    const hits = matching(this, value, path, expected)
    return list(value).filter((_, index) => !hits[index])
  },
  find(value, path, ...expected) {
    return list(value)[matching(this, value, path, expected).indexOf(true)]
  },
  find_index(value, path, ...expected) {
    const index = matching(this, value, path, expected).indexOf(true)
    return index === -1 ? undefined : index
  },
  has(value, path, ...expected) {
    return matching(this, value, path, expected).includes(true)
  },
}

const escaped: FilterHandler = function (value) {
  return value instanceof SafeText ? value : new SafeText(escapeHtml(text(this, value)))
}

/** If output is escaped automatically, explicit escaping must not do so twice. */
export const htmlFilters: Readonly<Record<string, FilterHandler>> = {
  escape: escaped,
  xml_escape: escaped,
  escape_once(value) {
    const given = text(this, value)
    budgetOf(this).use(given.length)
    const plain = given.replace(/&(?:amp|lt|gt|#34|#39|quot);/g, (entity) => entities[entity] ?? entity)
    return new SafeText(escapeHtml(plain))
  },
  newline_to_br(value) {
    const safe = value instanceof SafeText ? value.text : escapeHtml(text(this, value))
    budgetOf(this).use(memberWeight * safe.length)
    return new SafeText(safe.replace(/\r?\n/g, '<br>\n'))
  },
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&#34;': '"',
  '&#39;': "'",
  '&quot;': '"',
}
