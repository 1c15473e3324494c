// Dates in templates: reading what a payload holds, and showing it in a zone and a language.
import { BoundedMap } from '../domain/bounded-map.ts'
import { isLocale, isTimezone } from '../domain/people/subscriber.ts'

/** A timestamp as a calendar and clock in a zone show it. */
export interface RenderedDate {
  /** The local date and time, stored as if it were UTC. */
  readonly wall: Date
  readonly offsetMinutes: number
  readonly zone: string
  readonly locale: string
}

/** A longer text is not a date, and parsers are slow with such. */
const dateLengthMax = 64
/** Above this a number counts milliseconds: as seconds it would be after the year 5000. */
const secondsMax = 1e11
const minuteMs = 60_000

const withoutZone = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?$/
const endsWithZone = /(?:[Zz]|GMT|UTC|[+-]\d\d:?\d\d|\))$/

/**
 * The time in a value. A date or time without a zone is already local time and is shown as it is: moving the first of
 * May to another zone would make it the thirtieth of April.
 */
export function timestampOf(
  value: unknown,
  { now, zone, locale }: { now: () => Date; zone: string | number; locale: string },
): RenderedDate | undefined {
  if (typeof value === 'string') {
    const text = value.trim()
    if (text === 'now' || text === 'today') return shown(now(), zone, locale)
    if (/^\d{1,15}$/.test(text)) return shown(ofNumber(Number(text)), zone, locale)
    if (text.length > dateLengthMax) return undefined
    const bare = withoutZone.exec(text)
    if (bare !== null) return asItStands(`${bare[1]}T${bare[2] ?? '00:00'}Z`, locale)
    return endsWithZone.test(text) ? shown(new Date(text), zone, locale) : asItStands(`${text} UTC`, locale)
  }
  if (typeof value === 'number') return shown(ofNumber(value), zone, locale)
  return value instanceof Date ? shown(value, zone, locale) : undefined
}

const ofNumber = (number: number): Date => new Date(Math.abs(number) < secondsMax ? number * 1000 : number)

function asItStands(text: string, locale: string): RenderedDate | undefined {
  const wall = new Date(text)
  return Number.isNaN(wall.getTime()) ? undefined : { wall, offsetMinutes: 0, zone: 'UTC', locale }
}

function shown(at: Date, zone: string | number, locale: string): RenderedDate | undefined {
  if (Number.isNaN(at.getTime())) return undefined
  if (zone === 'UTC') return { wall: at, offsetMinutes: 0, zone, locale }
  const wall = typeof zone === 'number' ? new Date(at.getTime() - zone * minuteMs) : wallIn(zone, at)
  if (Number.isNaN(wall.getTime())) return undefined
  const offsetMinutes = Math.round((wall.getTime() - at.getTime()) / minuteMs)
  return { wall, offsetMinutes, zone: typeof zone === 'number' ? '' : zone, locale }
}

function wallIn(zone: string, at: Date): Date {
  const parts: Record<string, number> = {}
  for (const { type, value } of formatter('en-US', { ...clockParts, timeZone: zone }).formatToParts(at)) {
    parts[type] = Number(value)
  }
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, at.getMilliseconds()))
}

const clockParts: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
  hourCycle: 'h23',
}

// Making a formatter costs 50 µs, using it 3.
const formattersMax = 500
const formatters = new BoundedMap<string, Intl.DateTimeFormat>(formattersMax)

function formatter(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale} ${Object.entries(options).join()}`
  const known = formatters.get(key)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat(locale, options)
  formatters.set(key, made)
  return made
}

const named = ({ wall, locale }: RenderedDate, options: Intl.DateTimeFormatOptions): string =>
  formatter(locale, { ...options, timeZone: 'UTC' }).format(wall)

const two = (value: number): string => String(value).padStart(2, '0')
const hourOfTwelve = (wall: Date): number => wall.getUTCHours() % 12 || 12
const halfOfDay = (wall: Date): string => (wall.getUTCHours() < 12 ? 'AM' : 'PM')

function dayOfYear(wall: Date): number {
  return Math.floor((wall.getTime() - Date.UTC(wall.getUTCFullYear(), 0, 1)) / 86_400_000) + 1
}

function offsetText({ offsetMinutes }: RenderedDate, colon: string): string {
  const size = Math.abs(offsetMinutes)
  return `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${colon}${two(size % 60)}`
}

function zoneName(timestamp: RenderedDate): string {
  if (timestamp.zone === '') return offsetText(timestamp, ':')
  const at = new Date(timestamp.wall.getTime() - timestamp.offsetMinutes * minuteMs)
  const parts = formatter(timestamp.locale, { timeZone: timestamp.zone, timeZoneName: 'short' }).formatToParts(at)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timestamp.zone
}

function ordinalSuffix(day: number): string {
  if (day >= 11 && day <= 13) return 'th'
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th'
}

const weekOfYear = (wall: Date, firstDay: number): number =>
  Math.floor((dayOfYear(wall) + 6 - ((wall.getUTCDay() - firstDay + 7) % 7)) / 7)

interface Code {
  readonly of: (timestamp: RenderedDate) => string | number
  readonly width?: number
  readonly padWith?: ' '
}

/** The codes of strftime, as in Liquid. */
const codes: Readonly<Record<string, Code>> = {
  a: { of: (timestamp) => named(timestamp, { weekday: 'short' }) },
  A: { of: (timestamp) => named(timestamp, { weekday: 'long' }) },
  b: { of: (timestamp) => named(timestamp, { month: 'short' }) },
  h: { of: (timestamp) => named(timestamp, { month: 'short' }) },
  B: { of: (timestamp) => named(timestamp, { month: 'long' }) },
  c: { of: (timestamp) => named(timestamp, { dateStyle: 'medium', timeStyle: 'short' }) },
  C: { of: ({ wall }) => Math.floor(wall.getUTCFullYear() / 100), width: 2 },
  d: { of: ({ wall }) => wall.getUTCDate(), width: 2 },
  e: { of: ({ wall }) => wall.getUTCDate(), width: 2, padWith: ' ' },
  D: {
    of: ({ wall }) => `${two(wall.getUTCMonth() + 1)}/${two(wall.getUTCDate())}/${two(wall.getUTCFullYear() % 100)}`,
  },
  F: { of: ({ wall }) => wall.toISOString().slice(0, 10) },
  H: { of: ({ wall }) => wall.getUTCHours(), width: 2 },
  I: { of: ({ wall }) => hourOfTwelve(wall), width: 2 },
  j: { of: ({ wall }) => dayOfYear(wall), width: 3 },
  k: { of: ({ wall }) => wall.getUTCHours(), width: 2, padWith: ' ' },
  l: { of: ({ wall }) => hourOfTwelve(wall), width: 2, padWith: ' ' },
  L: { of: ({ wall }) => wall.getUTCMilliseconds(), width: 3 },
  m: { of: ({ wall }) => wall.getUTCMonth() + 1, width: 2 },
  M: { of: ({ wall }) => wall.getUTCMinutes(), width: 2 },
  N: { of: ({ wall }) => String(wall.getUTCMilliseconds()).padStart(3, '0').padEnd(9, '0') },
  p: { of: ({ wall }) => halfOfDay(wall) },
  P: { of: ({ wall }) => halfOfDay(wall).toLowerCase() },
  q: { of: ({ wall }) => ordinalSuffix(wall.getUTCDate()) },
  R: { of: ({ wall }) => wall.toISOString().slice(11, 16) },
  s: { of: ({ wall, offsetMinutes }) => Math.floor((wall.getTime() - offsetMinutes * minuteMs) / 1000) },
  S: { of: ({ wall }) => wall.getUTCSeconds(), width: 2 },
  T: { of: ({ wall }) => wall.toISOString().slice(11, 19) },
  u: { of: ({ wall }) => wall.getUTCDay() || 7 },
  U: { of: ({ wall }) => weekOfYear(wall, 0), width: 2 },
  w: { of: ({ wall }) => wall.getUTCDay() },
  W: { of: ({ wall }) => weekOfYear(wall, 1), width: 2 },
  x: { of: (timestamp) => named(timestamp, { dateStyle: 'medium' }) },
  X: { of: (timestamp) => named(timestamp, { timeStyle: 'short' }) },
  y: { of: ({ wall }) => wall.getUTCFullYear() % 100, width: 2 },
  Y: { of: ({ wall }) => wall.getUTCFullYear(), width: 4 },
  Z: { of: zoneName },
  t: { of: () => '\t' },
  n: { of: () => '\n' },
  '%': { of: () => '%' },
}

/** `%d. %B %Y, %H:%M`; flags `-` (no padding), `_` (blanks), `0`, `^` (capitals), `:` (in `%:z`). */
export function strftime(timestamp: RenderedDate, format: string): string {
  return format.replace(/%([-_0^:]{0,3})([a-zA-Z%])/g, (whole, flags: string, letter: string) => {
    if (letter === 'z') return offsetText(timestamp, flags.includes(':') ? ':' : '')
    const code = Object.hasOwn(codes, letter) ? codes[letter] : undefined
    if (code === undefined) return whole
    const padWith = flags.includes('_') ? ' ' : flags.includes('0') ? '0' : (code.padWith ?? '0')
    const text = String(code.of(timestamp)).padStart(flags.includes('-') ? 0 : (code.width ?? 0), padWith)
    return flags.includes('^') ? text.toUpperCase() : text
  })
}

const styles = ['short', 'medium', 'long', 'full'] as const
const withOrdinal = (value: number): string => `${value}${ordinalSuffix(value)}`

/** The letters of patterns such as `d MMMM yyyy, HH:mm`. */
const letters: Readonly<Record<string, (timestamp: RenderedDate) => string>> = {
  y: ({ wall }) => String(wall.getUTCFullYear()),
  yy: ({ wall }) => two(wall.getUTCFullYear() % 100),
  yyyy: ({ wall }) => String(wall.getUTCFullYear()).padStart(4, '0'),
  M: ({ wall }) => String(wall.getUTCMonth() + 1),
  MM: ({ wall }) => two(wall.getUTCMonth() + 1),
  MMM: (timestamp) => named(timestamp, { month: 'short' }),
  MMMM: (timestamp) => named(timestamp, { month: 'long' }),
  d: ({ wall }) => String(wall.getUTCDate()),
  do: ({ wall }) => withOrdinal(wall.getUTCDate()),
  dd: ({ wall }) => two(wall.getUTCDate()),
  E: (timestamp) => named(timestamp, { weekday: 'short' }),
  EE: (timestamp) => named(timestamp, { weekday: 'short' }),
  EEE: (timestamp) => named(timestamp, { weekday: 'short' }),
  EEEE: (timestamp) => named(timestamp, { weekday: 'long' }),
  H: ({ wall }) => String(wall.getUTCHours()),
  HH: ({ wall }) => two(wall.getUTCHours()),
  h: ({ wall }) => String(hourOfTwelve(wall)),
  hh: ({ wall }) => two(hourOfTwelve(wall)),
  m: ({ wall }) => String(wall.getUTCMinutes()),
  mm: ({ wall }) => two(wall.getUTCMinutes()),
  s: ({ wall }) => String(wall.getUTCSeconds()),
  ss: ({ wall }) => two(wall.getUTCSeconds()),
  SSS: ({ wall }) => String(wall.getUTCMilliseconds()).padStart(3, '0'),
  a: ({ wall }) => halfOfDay(wall),
  aa: ({ wall }) => halfOfDay(wall),
  aaa: ({ wall }) => halfOfDay(wall).toLowerCase(),
  xxx: (timestamp) => offsetText(timestamp, ':'),
  z: zoneName,
}

/** A pattern of letters; text in single quotes stays as it is. With a `%` in it, the format is strftime's. */
export function formatted(timestamp: RenderedDate, pattern: string): string {
  if (pattern.includes('%')) return strftime(timestamp, pattern)
  return pattern.replace(/''|'([^']*)'|do|([A-Za-z])\2*/g, (whole, quoted: string | undefined, letter?: string) => {
    if (whole === "''") return "'"
    if (quoted !== undefined) return quoted
    const style = styles[whole.length - 1]
    if (letter === 'P' && style !== undefined) return named(timestamp, { dateStyle: style })
    if (letter === 'p' && style !== undefined) return named(timestamp, { timeStyle: style })
    return (Object.hasOwn(letters, whole) ? letters[whole]?.(timestamp) : undefined) ?? whole
  })
}

/** The steps charged for converting a timestamp to local time, and for one of its parts in words: 15 and 4 to 12 µs. */
const wallSteps = 8
const wordSteps = 6
const wordCodes = new Set('aAbhBcxXZ')
const wordLetters = /^(?:MMM|E|P|p|z)/

/** How many steps it takes to show a timestamp in a format of either kind. */
export function stepsOf(format: string): number {
  let steps = wallSteps
  if (format.includes('%')) {
    for (const [code] of format.matchAll(/%[-_0^:]{0,3}[a-zA-Z]/g)) {
      steps += wordCodes.has(code.at(-1) as string) ? wordSteps : 1
    }
    return steps
  }
  for (const [letters] of format.matchAll(/([A-Za-z])\1*/g)) steps += wordLetters.test(letters) ? wordSteps : 1
  return steps
}

const localesMax = 1_000
const locales = new BoundedMap<string, string>(localesMax)

/** The language tag as Intl expects it; English if it is invalid. */
export function localeOf(value: unknown): string {
  if (typeof value !== 'string') return 'en'
  const known = locales.get(value)
  if (known !== undefined) return known
  if (!isLocale(value)) return 'en'
  const locale = value.replaceAll('_', '-')
  locales.set(value, locale)
  return locale
}

export const zoneOf = (value: unknown): string => (typeof value === 'string' && isTimezone(value) ? value : 'UTC')
