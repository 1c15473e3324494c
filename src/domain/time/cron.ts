// Cron lines of five fields, read strictly, and when they come next by the clocks of a zone.
import { dayMs } from './duration.ts'
import { firstTimestampAt, wallTimeAt } from './zone.ts'

/** The values that each field allows, in ascending order. */
export interface Cron {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly monthDays: readonly number[]
  readonly months: readonly number[]
  /** Sunday is 0. */
  readonly weekDays: readonly number[]
}

interface Field {
  readonly called: string
  readonly min: number
  readonly max: number
  /** Names of the values from the lowest on. */
  readonly names?: readonly string[]
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const minute: Field = { called: 'minute', min: 0, max: 59 }
const hour: Field = { called: 'hour', min: 0, max: 23 }
const monthDay: Field = { called: 'day of the month', min: 1, max: 31 }
const month: Field = { called: 'month', min: 1, max: 12, names: monthNames }
/** Both 0 and 7 are Sunday. */
const weekDay: Field = { called: 'day of the week', min: 0, max: 7, names: dayNames }
const fields = [minute, hour, monthDay, month, weekDay]

/** Every minute of an hour listed one by one still fits. */
const cronLengthMax = 255

const wanted = 'must be five fields (minute, hour, day of the month, month, day of the week) such as 30 9 * * MON-FRI'

/** The parsed line, or a message about what to fix. */
export function cronOf(text: unknown): { readonly cron: Cron } | { readonly mistake: string } {
  if (typeof text !== 'string' || text.length > cronLengthMax) return { mistake: wanted }
  const given = text.trim().split(/[ \t]+/)
  if (given.length !== fields.length) return { mistake: wanted }
  const read = given.map((part, index) => valuesOf(part, fields[index] as Field))
  const mistake = read.find((one) => 'mistake' in one)
  if (mistake !== undefined && 'mistake' in mistake) return mistake
  const [minutes = [], hours = [], monthDays = [], months = [], days = []] = read.map((one) =>
    'values' in one ? one.values : [],
  )
  const weekDays = ascending(days.map((day) => day % 7))
  return { cron: { minutes, hours, monthDays, months, weekDays } }
}

type Values = { readonly values: readonly number[] } | { readonly mistake: string }

function valuesOf(part: string, field: Field): Values {
  const values: number[] = []
  for (const item of part.split(',')) {
    const read = itemOf(item, field)
    if (typeof read === 'string') return { mistake: `has ${JSON.stringify(item)} as the ${field.called}: ${read}` }
    values.push(...read)
  }
  return { values: ascending(values) }
}

/** A star, a value, or a range, the first and the last with a step if wanted. */
const itemForm = /^(?:(\*)|([0-9a-z]{1,3})(?:-([0-9a-z]{1,3}))?)(?:\/([0-9]{1,2}))?$/

function itemOf(item: string, field: Field): readonly number[] | string {
  const { min, max } = field
  const match = itemForm.exec(item.toLowerCase())
  if (match === null)
    return `it accepts ${allowedOf(field)}, *, ranges such as 1-5, steps such as */2, and lists of these`
  const [, star, low, high, stepText] = match
  // Programs disagree on what a value with a step means: one of them runs it once, others to the end of the range.
  if (low !== undefined && high === undefined && stepText !== undefined)
    return `a step needs a range: write ${low}-${max}/${stepText}`
  const from = star === undefined ? numberOf(low ?? '', field) : min
  // Of the two Sundays the one that the range can end with.
  const named = high === undefined ? from : numberOf(high, field)
  const until = star === undefined ? (field === weekDay && named === 0 && from !== 0 && high ? 7 : named) : max
  if (from === undefined || until === undefined) return `it accepts ${allowedOf(field)}`
  if (from > until) return `the range ends before it begins`
  const step = Number(stepText ?? 1)
  if (step < 1 || step > max - min) return `a step is a number from 1 to ${max - min}`
  const values: number[] = []
  for (let value = from; value <= until; value += step) values.push(value)
  // A star means every day once, Sunday with both its numbers or not.
  return star !== undefined && field === weekDay ? values.filter((value) => value < 7) : values
}

const allowedOf = ({ min, max, names }: Field): string =>
  `${min} to ${max}${names === undefined ? '' : `, ${names[0]?.toUpperCase()} to ${names.at(-1)?.toUpperCase()}`}`

function numberOf(text: string, { min, max, names }: Field): number | undefined {
  const place = names?.indexOf(text) ?? -1
  if (place >= 0) return min + place
  if (!/^[0-9]{1,2}$/.test(text)) return undefined
  const value = Number(text)
  return value >= min && value <= max ? value : undefined
}

const ascending = (values: readonly number[]): number[] => [...new Set(values)].sort((one, other) => one - other)

const isEveryMonthDay = ({ monthDays }: Cron): boolean => monthDays.length === 31
const isEveryWeekDay = ({ weekDays }: Cron): boolean => weekDays.length === 7

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether it comes at least once in every year, so never on 31 February and not only on the 29th. */
export function comesEveryYear(cron: Cron): boolean {
  if (!isEveryWeekDay(cron)) return true
  return cron.months.some((one) => cron.monthDays.some((day) => day <= (monthLengths[one - 1] ?? 0)))
}

/** 29 February occurs within eight years, even over a year such as 2100. */
const searchedDaysMax = 8 * 366 + 1

/**
 * The first time after `after` at which the line matches, by the clocks of the zone. A time that clocks skip occurs
 * when they jump past it; one that they show twice occurs only the first time. Undefined if it never occurs.
 */
export function nextCron(cron: Cron, after: Date, zone: string): Date | undefined {
  const now = wallTimeAt(after, zone)
  const today = Date.UTC(now.year, now.month - 1, now.day)
  for (let days = 0; days <= searchedDaysMax; days += 1) {
    const date = new Date(today + days * dayMs)
    if (!comesOn(cron, date)) continue
    // What clocks have shown is over: everything later shows later, or was shown before clocks went back.
    const found = firstOn(cron, date, { after, zone, minutesShown: days === 0 ? now.hour * 60 + now.minute : -1 })
    if (found !== undefined) return found
  }
  return undefined
}

/** Restricted both by the month and by the week, either is enough: so cron has always had it. */
function comesOn(cron: Cron, date: Date): boolean {
  if (!cron.months.includes(date.getUTCMonth() + 1)) return false
  const byMonth = cron.monthDays.includes(date.getUTCDate())
  const byWeek = cron.weekDays.includes(date.getUTCDay())
  if (isEveryMonthDay(cron)) return byWeek
  return isEveryWeekDay(cron) ? byMonth : byMonth || byWeek
}

function firstOn(
  { hours, minutes }: Cron,
  date: Date,
  { after, zone, minutesShown }: { after: Date; zone: string; minutesShown: number },
): Date | undefined {
  const day = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), second: 0 }
  for (const oneHour of hours) {
    for (const oneMinute of minutes) {
      if (oneHour * 60 + oneMinute <= minutesShown) continue
      const at = firstTimestampAt({ ...day, hour: oneHour, minute: oneMinute }, zone)
      if (at > after) return at
    }
  }
  return undefined
}
