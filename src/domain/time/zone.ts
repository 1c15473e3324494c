// What clocks show in a time zone, and the time at which they show it.
import { BoundedMap } from '../bounded-map.ts'

/** A date and a time as a clock on the wall shows them; month and day count from 1. */
export interface WallTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

/** The zone itself, or UTC if there is none or this machine does not know it: late by hours is better than never. */
export function usableZone(zone: string | null): string {
  if (zone === null) return 'UTC'
  return formatterOf(zone) === undefined ? 'UTC' : zone
}

export function wallTimeAt(at: Date, zone: string): WallTime {
  const wall = new Date(wallMsAt(at.getTime(), zone))
  return {
    year: wall.getUTCFullYear(),
    month: wall.getUTCMonth() + 1,
    day: wall.getUTCDate(),
    hour: wall.getUTCHours(),
    minute: wall.getUTCMinutes(),
    second: wall.getUTCSeconds(),
  }
}

/** No zone is further from UTC, and none changes its clocks twice within two of these. */
const probeMs = 24 * 60 * 60 * 1000

/**
 * The time at which the clocks of a zone show a given time of day. A time that clocks skip is moved forward by what
 * they skip; of a time that they show twice it is the first. Both follow from the offset before the change.
 */
export function timestampOfWall(wall: WallTime, zone: string): Date {
  const wallMs = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second)
  if (zone === 'UTC') return new Date(wallMs)
  const before = wallMs - offsetMsAt(wallMs - probeMs, zone)
  const after = wallMs - offsetMsAt(wallMs + probeMs, zone)
  const shownOnlyAfter = wallMsAt(before, zone) !== wallMs && wallMsAt(after, zone) === wallMs
  return new Date(shownOnlyAfter ? after : before)
}

/**
 * The first time at which the clocks of a zone show a time of day or a later one: for a time that they skip, the
 * instant at which they jump past it.
 */
export function firstTimestampAt(wall: WallTime, zone: string): Date {
  const wallMs = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second)
  if (zone === 'UTC') return new Date(wallMs)
  const before = wallMs - offsetMsAt(wallMs - probeMs, zone)
  if (wallMsAt(before, zone) === wallMs) return new Date(before)
  const after = wallMs - offsetMsAt(wallMs + probeMs, zone)
  if (wallMsAt(after, zone) === wallMs) return new Date(after)
  // Clocks show less at `low` and more at `high`; between them they jump once.
  let [low, high] = [Math.min(before, after), Math.max(before, after)]
  while (high - low > 1000) {
    const middle = wholeSeconds((low + high) / 2)
    if (wallMsAt(middle, zone) < wallMs) low = middle
    else high = middle
  }
  return new Date(high)
}

function offsetMsAt(atMs: number, zone: string): number {
  return wallMsAt(atMs, zone) - wholeSeconds(atMs)
}

const wholeSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000

/** What clocks show, to the second, written as if it were UTC. */
function wallMsAt(atMs: number, zone: string): number {
  if (zone === 'UTC') return wholeSeconds(atMs)
  const formatter = formatterOf(zone)
  if (formatter === undefined) throw new Error(`There is no time zone ${zone}`)
  // `3/31/2024, 03:00:00`. Taking it apart costs a third of what formatToParts does, 3 µs against 9.
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = formatter
    .format(atMs)
    .split(/\D+/)
    .map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

/** A formatter costs a thousand times what it is asked for. Zones are some 600; what is more is other spellings of them. */
const formattersMax = 1000
const formatters = new BoundedMap<string, Intl.DateTimeFormat | undefined>(formattersMax)

function formatterOf(zone: string): Intl.DateTimeFormat | undefined {
  if (formatters.has(zone)) return formatters.get(zone)
  const formatter = newFormatter(zone)
  formatters.set(zone, formatter)
  return formatter
}

function newFormatter(zone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
}
