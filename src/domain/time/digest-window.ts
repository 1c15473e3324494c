// When a digest's window closes, or a timed delay ends: after a time, or when clocks show one.
import type { DigestMetadata, RegularDigest, TimedConfig, TimeUnit, WeekDay } from '../workflows/workflow.ts'
import { weekDays } from '../workflows/workflow.ts'
import { cronOf, nextCron } from './cron.ts'
import { dayMs, durationMs } from './duration.ts'
import { timeOfDay } from './time-of-day.ts'
import { timestampOfWall, usableZone, wallTimeAt } from './zone.ts'

/**
 * When a window that opens now closes. Timed digests go by the clocks of the zone (UTC without one) as a recurrence rule
 * (RFC 5545) that starts now does: the unit is its frequency and the amount its interval, so that today, this week (from
 * Monday) or this month is the first that counts; a day that a month lacks is left out, not moved. Seconds, minutes and
 * hours count from now. Undefined when the settings say nothing that ever comes.
 */
export function digestDueAt(metadata: DigestMetadata, now: Date, zone: string | null): Date | undefined {
  if (metadata.type === 'timed') return timedEndOf(metadata, now, zone)
  const { amount, unit } = lengthOf(metadata)
  return isCountable(amount) && unit !== undefined ? new Date(now.getTime() + durationMs(amount, unit)) : undefined
}

/** What a timed digest and a timed delay have in common. */
export interface Timed {
  readonly cron?: string
  readonly amount?: number
  readonly unit?: TimeUnit
  readonly timed?: TimedConfig
}

/** When a timed wait that begins now ends: by its cron line, or by its rule. */
export function timedEndOf(metadata: Timed, now: Date, zone: string | null): Date | undefined {
  const { cron, amount, unit } = metadata
  if (hasCron(metadata)) {
    const read = cronOf(cron)
    return 'cron' in read ? nextCron(read.cron, now, usableZone(zone)) : undefined
  }
  if (!isCountable(amount) || unit === undefined) return undefined
  if (unit === 'seconds' || unit === 'minutes' || unit === 'hours')
    return new Date(now.getTime() + durationMs(amount, unit))
  return nextOccurrence(metadata, now, usableZone(zone))
}

/** Editors send an empty line for none. */
export const hasCron = ({ cron }: { readonly cron?: unknown }): boolean =>
  cron !== undefined && cron !== null && cron !== ''

/** Nothing ends that counts by none. */
const isCountable = (amount: number | undefined): amount is number => amount !== undefined && amount >= 1

/** How long a window collects: if that is not set, as long as its back-off looks back. */
function lengthOf(metadata: RegularDigest): Pick<RegularDigest, 'amount' | 'unit'> {
  const { amount, backoffAmount, backoffUnit } = metadata
  if (isCountable(amount) || backoffAmount === undefined || backoffUnit === undefined) return metadata
  return { amount: backoffAmount, unit: backoffUnit }
}

/** The rarest that is let through, every 366 days if it is a Monday, comes within eight years. */
const searchedDaysMax = 8 * 366

function nextOccurrence(metadata: Timed, now: Date, zone: string): Date | undefined {
  const time = timeOf(metadata.timed?.atTime)
  if (time === undefined) return undefined
  const { year, month, day } = wallTimeAt(now, zone)
  const today = dayNumberOf(year, month, day)
  for (const candidate of daysOf(metadata, today)) {
    // Yesterday's may still occur if clocks skipped a day, or midnight.
    if (candidate < today - 1) continue
    const at = timestampOfWall({ ...dateOf(candidate), ...time }, zone)
    if (at > now) return at
  }
  return undefined
}

/** The days that the rule names, from the period of `today` on, in order. */
function daysOf(metadata: Timed, today: number): Iterable<number> {
  const { amount = 1, timed = {} } = metadata
  if (metadata.unit === 'days') return everyDays(amount, timed, today)
  if (metadata.unit === 'weeks') return everyWeeks(amount, timed, today)
  return everyMonths(amount, timed, today)
}

function* everyDays(amount: number, timed: TimedConfig, today: number): Iterable<number> {
  const wanted = timed.weekDays ?? []
  for (let day = today; day <= today + searchedDaysMax; day += amount)
    if (wanted.length === 0 || wanted.includes(weekDayOf(day))) yield day
}

function* everyWeeks(amount: number, timed: TimedConfig, today: number): Iterable<number> {
  const monday = today - weekDays.indexOf(weekDayOf(today))
  for (let start = monday; start <= today + searchedDaysMax; start += 7 * amount)
    for (const [index, name] of weekDays.entries()) if (timed.weekDays?.includes(name)) yield start + index
}

function* everyMonths(amount: number, timed: TimedConfig, today: number): Iterable<number> {
  const { year, month } = dateOf(today)
  for (let months = 0; months * 28 <= searchedDaysMax; months += amount) {
    const first = dayNumberOf(year, month + months, 1)
    const next = dayNumberOf(year, month + months + 1, 1)
    const days = Array.from({ length: next - first }, (_, index) => first + index)
    yield* timed.monthlyType === 'on' ? ordinalDay(timed, days) : days.filter((day) => namedByNumber(timed, day))
  }
}

function namedByNumber(timed: TimedConfig, day: number): boolean {
  const number = dateOf(day).day
  return (timed.monthDays ?? []).some((wanted) => Number(wanted) === number)
}

/** The n-th or last of a month's days that match the rule; empty if the month has no such day. */
function ordinalDay(timed: TimedConfig, days: readonly number[]): number[] {
  const fitting = days.filter((day) => fits(timed.ordinalValue, weekDayOf(day)))
  const found = timed.ordinal === 'last' ? fitting.at(-1) : fitting[Number(timed.ordinal) - 1]
  return found === undefined ? [] : [found]
}

function fits(wanted: TimedConfig['ordinalValue'], name: WeekDay): boolean {
  if (wanted === 'day') return true
  const isWeekend = name === 'saturday' || name === 'sunday'
  if (wanted === 'weekend') return isWeekend
  return wanted === 'weekday' ? !isWeekend : wanted === name
}

const timeForm = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/

export interface TimeOfDay {
  readonly hour: number
  readonly minute: number
  readonly second: number
}

/** `HH:mm`, `HH:mm:ss`, or 12-hour time such as `9am`; undefined when it is none of them. */
export function timeOf(text: string | undefined): TimeOfDay | undefined {
  const match = timeForm.exec(text ?? '')
  if (match !== null) return { hour: Number(match[1]), minute: Number(match[2]), second: Number(match[3] ?? 0) }
  const time = timeOfDay(text ?? '')
  return time && { ...time, second: 0 }
}

/** Days are numbers, counted from 1970-01-01, a Thursday: no clock, no zone. */
const dayNumberOf = (year: number, month: number, day: number): number => Date.UTC(year, month - 1, day) / dayMs

function dateOf(dayNumber: number): { year: number; month: number; day: number } {
  const date = new Date(dayNumber * dayMs)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

function weekDayOf(dayNumber: number): WeekDay {
  return weekDays[(((dayNumber + 3) % 7) + 7) % 7] as WeekDay
}

/**
 * The same rule in the five fields of cron, if they can express it: they support neither seconds nor every second week
 * or month, have no last day, and do not start with a window.
 */
export function cronExpressionOf(metadata: DigestMetadata): string | undefined {
  if (metadata.type !== 'timed') return undefined
  if (hasCron(metadata)) return metadata.cron
  if (metadata.amount !== 1) return undefined
  const { timed = {}, unit } = metadata
  const time = timeOf(timed.atTime)
  if (time === undefined || time.second !== 0) return undefined
  const clock = `${time.minute} ${time.hour}`
  if (unit === 'days' || unit === 'weeks') {
    const wanted = timed.weekDays ?? []
    return unit === 'weeks' && wanted.length === 0 ? undefined : `${clock} * * ${cronWeekDays(wanted)}`
  }
  const monthDays = unit === 'months' ? cronMonthDays(timed) : undefined
  return monthDays === undefined ? undefined : `${clock} ${monthDays} * *`
}

/** Sunday is 0. */
function cronWeekDays(wanted: readonly WeekDay[]): string {
  const numbers = new Set(wanted.map((name) => (weekDays.indexOf(name) + 1) % 7))
  return numbers.size === 0 || numbers.size === 7 ? '*' : ascending(numbers)
}

function cronMonthDays(timed: TimedConfig): string | undefined {
  if (timed.monthlyType === 'on')
    return timed.ordinalValue === 'day' && timed.ordinal !== 'last' ? timed.ordinal : undefined
  const numbers = new Set((timed.monthDays ?? []).map(Number))
  return numbers.size === 0 ? undefined : ascending(numbers)
}

const ascending = (numbers: ReadonlySet<number>): string => [...numbers].sort((one, other) => one - other).join()
