// The body of a call from outside, read in the way its content type says.
import type { Reading } from './reading.ts'
import { readingOf, readingOfExactJson } from './reading.ts'
import type { InboundCall } from './receipt.ts'

/** Of JSON, or of nothing; whole numbers of more than 15 digits are texts. */
export function jsonOf({ body }: InboundCall): Reading {
  return readingOfExactJson(body.toString('utf8'))
}

/** The events of a body that is one event or a list of them. */
export function eventsOf(call: InboundCall): readonly Reading[] {
  const whole = jsonOf(call)
  const events = whole.items('')
  return events.length > 0 ? events : [whole]
}

/** Of a form, or of the query where the vendor calls by GET: the last value of each name. */
export function formOf({ method, body, query }: InboundCall): Reading {
  const form = method === 'GET' ? query : new URLSearchParams(body.toString('utf8'))
  return readingOf(Object.fromEntries(form))
}

/** A moment that a vendor names: seconds or milliseconds of the Unix clock, or a date. */
export function momentOf(value: string | number | undefined): Date | undefined {
  if (value === undefined || value === '') return undefined
  const number = typeof value === 'number' ? value : Number(/^\d+(\.\d+)?$/.test(value) ? value : Number.NaN)
  // Milliseconds have been larger than this since 1973, and seconds will not be before 5138.
  const at = Number.isNaN(number) ? new Date(value) : new Date(number > 100_000_000_000 ? number : number * 1000)
  return Number.isNaN(at.getTime()) ? undefined : at
}
