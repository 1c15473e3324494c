// The body of a call from outside, read in the way its content type says.
import type { Reading } from '../reading.ts'
import { readingOf, readingOfExactJson } from '../reading.ts'
import type { InboundCall } from './receipt.ts'

/**
 * What of a body is read before the call is believed. Such calls are some kilobytes, 256 at Amazon, and a text that was
 * chosen with care is parsed at a tenth of the usual speed, or less.
 */
const unprovenBytesMax = 512 * 1024
/** A report or a mail has some tens of fields; each is a hundred bytes of memory to us, and two to whoever sends it. */
const formFieldsMax = 1_000

/** Whether a body is short enough to be read by whoever does not know yet if the call may be believed. */
export function isShort({ body }: Pick<InboundCall, 'body'>): boolean {
  return body.length <= unprovenBytesMax
}

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

/** The fields of a form in their order; none if there are implausibly many. */
export function formFieldsOf({ body }: Pick<InboundCall, 'body'>): URLSearchParams {
  let fields = 1
  for (let at = body.indexOf('&'); at !== -1; at = body.indexOf('&', at + 1)) {
    fields += 1
    if (fields > formFieldsMax) return new URLSearchParams()
  }
  return new URLSearchParams(body.toString('utf8'))
}

/** Of a form, or of the query where the vendor calls by GET: the last value of each name. */
export function formOf(call: InboundCall): Reading {
  return readingOf(Object.fromEntries(call.method === 'GET' ? call.query : formFieldsOf(call)))
}

/** A vendor's timestamp: seconds or milliseconds since 1970, or a date. */
export function timestampOf(value: string | number | undefined): Date | undefined {
  if (value === undefined || value === '') return undefined
  const number = typeof value === 'number' ? value : Number(/^\d+(\.\d+)?$/.test(value) ? value : Number.NaN)
  // Milliseconds have been larger than this since 1973, and seconds will not be before 5138.
  const at = Number.isNaN(number) ? new Date(value) : new Date(number > 100_000_000_000 ? number : number * 1000)
  return Number.isNaN(at.getTime()) ? undefined : at
}
