// A subscriber's weekly hours: whether they want to be notified at a given time, and when they next do.
import { dayMs } from '../time/duration.ts'
import { storedTime, timeOfDay } from '../time/time-of-day.ts'
import { usableZone, wallTimeAt } from '../time/zone.ts'
import type { WeekDay } from '../workflows/workflow.ts'
import { weekDays } from '../workflows/workflow.ts'

export interface TimeRange {
  /** `09:00 AM`, or `09:00` of 24 hours. An end that is not after its start is on the next day. */
  readonly start: string
  readonly end: string
}

export interface DaySchedule {
  readonly isEnabled: boolean
  /** Absent or empty: the whole day. */
  readonly hours?: readonly TimeRange[]
}

/** Days that are absent are closed. */
export type WeeklySchedule = { readonly [Day in WeekDay]?: DaySchedule }

/** What happens to a message outside the hours: dropped, sent when they begin, or sent with the others as one. */
export const outsideWays = ['skip', 'hold', 'bundle'] as const
export type OutsideWay = (typeof outsideWays)[number]

export interface Schedule {
  /** False: open at all times. */
  readonly isEnabled: boolean
  /** Absent: open at all times. */
  readonly weeklySchedule?: WeeklySchedule
  /** Absent: `skip`. */
  readonly outside?: OutsideWay
}

/** Hours that are there once a week may fall into what clocks skip, but not three weeks in a row. */
const searchedDaysMax = 22

/**
 * The first time at or after `at` at which it is open; undefined if it never is. In the zone's own clocks: an hour that they
 * show twice is open twice, one that they skip is not there.
 */
export function nextOpening(schedule: Schedule, zone: string | null, at: Date): Date | undefined {
  const week = weekOf(schedule)
  const clocks = usableZone(zone)
  if (week === undefined || isOpenAt(week, wallMsAt(at.getTime(), clocks))) return at
  if (week.every((ranges) => ranges.length === 0)) return undefined
  const lastMs = at.getTime() + searchedDaysMax * dayMs
  // From one clock change to the next the hours begin when clocks show it; at a change they may have begun.
  for (let fromMs = at.getTime(); fromMs < lastMs; ) {
    const offsetMs = offsetMsAt(fromMs, clocks)
    const untilMs = steadyUntil(fromMs, offsetMs, clocks)
    const startMs = firstStart(week, fromMs + offsetMs)
    if (startMs !== undefined && startMs - offsetMs < untilMs) return new Date(startMs - offsetMs)
    if (isOpenAt(week, wallMsAt(untilMs, clocks))) return new Date(untilMs)
    fromMs = untilMs
  }
  return undefined
}

/** Minutes from midnight; the end is after the start, and beyond 1,440 on the next day. */
interface MinuteRange {
  readonly start: number
  readonly end: number
}

/** By day, from Monday. */
type Week = readonly (readonly MinuteRange[])[]

const minuteMs = 60_000
const dayMinutes = 24 * 60
const wholeDay: readonly MinuteRange[] = [{ start: 0, end: dayMinutes }]

/** Rows of a batch share what was read once. */
const weeks = new WeakMap<Schedule, Week>()

function weekOf(schedule: Schedule): Week | undefined {
  const { isEnabled, weeklySchedule } = schedule
  if (!isEnabled || weeklySchedule === undefined) return undefined
  const known = weeks.get(schedule)
  if (known !== undefined) return known
  const week = weekDays.map((day) => rangesOf(weeklySchedule[day]))
  weeks.set(schedule, week)
  return week
}

function rangesOf(day: DaySchedule | undefined): readonly MinuteRange[] {
  if (day === undefined || !day.isEnabled) return []
  if (day.hours === undefined || day.hours.length === 0) return wholeDay
  return day.hours.flatMap(({ start, end }) => {
    const [from, to] = [minuteOfDay(start), minuteOfDay(end)]
    return from === undefined || to === undefined ? [] : [{ start: from, end: endAfter(from, to) }]
  })
}

function endAfter(start: number, end: number): number {
  if (end <= start) return end + dayMinutes
  // The last minute that a clock can show means the end of the day: no one wants to be undisturbed for just that
  // minute.
  return end === dayMinutes - 1 ? dayMinutes : end
}

/** Undefined when it is no time. */
export function minuteOfDay(text: string): number | undefined {
  const time = timeOfDay(text)
  return time === undefined ? undefined : time.hour * 60 + time.minute
}

/** A week as it is stored. */
export const storedWeek = (week: WeeklySchedule): WeeklySchedule =>
  Object.fromEntries(
    Object.entries(week).map(([day, { hours, ...rest }]) => [
      day,
      { ...rest, ...(hours === undefined ? {} : { hours: hours.map(storedRange) }) },
    ]),
  )

const storedRange = ({ start, end }: TimeRange): TimeRange => ({ start: storedTime(start), end: storedTime(end) })

function isOpenAt(week: Week, wallMs: number): boolean {
  const day = Math.floor(wallMs / dayMs)
  const minute = Math.floor((wallMs - day * dayMs) / minuteMs)
  return (
    rangesOn(week, day).some(({ start, end }) => start <= minute && minute < end) ||
    rangesOn(week, day - 1).some(({ end }) => minute + dayMinutes < end)
  )
}

/** The first start at or after a time on the wall, today or tomorrow. */
function firstStart(week: Week, wallMs: number): number | undefined {
  const today = Math.floor(wallMs / dayMs)
  const starts = [today, today + 1].flatMap((day) =>
    rangesOn(week, day).map(({ start }) => day * dayMs + start * minuteMs),
  )
  const later = starts.filter((startMs) => startMs >= wallMs)
  return later.length === 0 ? undefined : Math.min(...later)
}

/** Days are counted from 1970-01-01, a Thursday. */
function rangesOn(week: Week, day: number): readonly MinuteRange[] {
  return week[(((day + 3) % 7) + 7) % 7] ?? []
}

/** When the clocks of a zone change next, or a day from now: none change twice within one. */
function steadyUntil(fromMs: number, offsetMs: number, zone: string): number {
  let [before, after] = [fromMs, fromMs + dayMs]
  if (offsetMsAt(after, zone) === offsetMs) return after
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offsetMsAt(middle, zone) === offsetMs) before = middle
    else after = middle
  }
  return after
}

function offsetMsAt(atMs: number, zone: string): number {
  return wallMsAt(atMs, zone) - Math.floor(atMs / 1000) * 1000
}

/** What clocks show, to the second, written as if it were UTC. */
function wallMsAt(atMs: number, zone: string): number {
  const { year, month, day, hour, minute, second } = wallTimeAt(new Date(atMs), zone)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
