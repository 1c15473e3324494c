// A report that comes as a form, or as the query of a call: without the secrets that came along with it.
import { formOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { readingOf } from '../reading.ts'

/** The integration's key, where it stands in the address. */
const keyNames: ReadonlySet<string> = new Set(['token', 'key'])

/** `secretNames`: further ones that the vendor adds, in lower case. */
export function reportForm(call: InboundCall, secretNames: readonly string[] = []): Reading {
  const whole = Object.entries(formOf(call).value('') as Record<string, unknown>)
  const open = whole.filter(([name]) => !keyNames.has(name) && !secretNames.includes(name.toLowerCase()))
  return readingOf(Object.fromEntries(open))
}

/** A timestamp of a vendor that writes its dates in UTC without saying so. */
export function utcTimestampOf(value: string | undefined): Date | undefined {
  const isBare = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/.test(value ?? '')
  return timestampOf(isBare ? `${value?.replace(' ', 'T')}Z` : value)
}
