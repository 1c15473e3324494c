// Timestamps written as ISO 8601 text, and parsed strictly: a day that does not exist is not a timestamp.

/** A date, or a date with a time; the zone is optional, and its absence is reported. */
const form =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/

export interface IsoTimestamp {
  readonly at: Date
  readonly hasTime: boolean
  readonly hasZone: boolean
}

/** Without a zone it is read as UTC: what a text means must not depend on the machine that reads it. */
export function timestampOfText(text: string): IsoTimestamp | undefined {
  const match = form.exec(text)
  if (match === null) return undefined
  const part = (index: number): number => Number(match[index] ?? 0)
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  const offsetMinutes = offsetMinutesOf(match[8])
  if (hour > 23 || minute > 59 || second > 59 || offsetMinutes === undefined) return undefined
  const date = new Date(0)
  // Not Date.UTC, which takes the years 0 to 99 for the twentieth century.
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  date.setUTCHours(hour, minute - offsetMinutes, second, milliseconds)
  return { at: date, hasTime: match[4] !== undefined, hasZone: match[8] !== undefined }
}

/** Undefined when it is none; no zone is so far from UTC as a day. */
function offsetMinutesOf(zone: string | undefined): number | undefined {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', ''))]
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

/** Whether it is written as we write them, and the database can read it: the calendar has no year 0 and no 30 February. */
export function isIsoText(text: string): boolean {
  const at = new Date(text)
  return !Number.isNaN(at.getTime()) && at.toISOString() === text && /^(?!0000)\d{4}-/.test(text)
}

let lastMs = Number.NaN
let lastText = ''

/** As toISOString writes it: the details of one batch mostly have the same time, and formatting is expensive. */
export function isoTextOf(at: Date): string {
  const ms = at.getTime()
  if (ms !== lastMs) {
    lastText = at.toISOString()
    lastMs = ms
  }
  return lastText
}
