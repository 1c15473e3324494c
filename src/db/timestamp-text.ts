// Timestamps as PostgreSQL writes them, parsed without regular expressions, and as it is given them: each row has several.
import pg from 'pg'

/** Of whatever form, as the driver reads it. */
const readAny: (text: string) => Date = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)

const zero = 48
const secondsEnd = 19
/** Fractions as far as a Date has them. */
const fractionDigits = 3

/** `2026-01-02 03:04:05.678901+00`, as a server in UTC writes all of them; every other format takes the long way. */
export function timestampOfRow(text: string): Date {
  const zoneAt = text.length - 3
  if (zoneAt < secondsEnd || !text.endsWith('+00') || text[4] !== '-' || text[10] !== ' ') return readAny(text)
  const year = digits(text, 0, 4)
  const month = digits(text, 5, 7)
  const day = digits(text, 8, 10)
  const hour = digits(text, 11, 13)
  const minute = digits(text, 14, 16)
  const second = digits(text, 17, 19)
  let milliseconds = 0
  if (zoneAt > secondsEnd) {
    const from = secondsEnd + 1
    const to = Math.min(zoneAt, from + fractionDigits)
    milliseconds = digits(text, from, to) * 10 ** (fractionDigits - (to - from))
  }
  // A character that is not a digit makes the sum NaN; Date.UTC treats years before 100 differently.
  const sum = year + month + day + hour + minute + second + milliseconds
  if (Number.isNaN(sum) || year < 100) return readAny(text)
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, milliseconds))
}

function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - zero
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

/** As lists have them. The driver puts the local time together from some twenty strings; years of five digits are left to it. */
export function timestampText(time: Date): string | Date {
  const year = time.getUTCFullYear()
  return year > 0 && year <= 9999 ? time.toISOString() : time
}
