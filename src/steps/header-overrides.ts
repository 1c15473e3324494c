// Headers that a trigger adds to a mail or to a provider's request: names that are names, values that are one line.
import { RenderError } from '../domain/workflows/rendering.ts'
import type { OverrideFields } from './override-fields.ts'
import { hasControls } from './override-fields.ts'

const headersMax = 50
const headerNamePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** The longest line of a mail (RFC 5322, 2.1.1). */
export const headerValueLengthMax = 998

/** The member `headers`. */
export function headersIn(fields: OverrideFields): Readonly<Record<string, string>> {
  const headers = Object.entries(fields.object('headers') ?? {})
  if (headers.length > headersMax)
    throw new RenderError(fields.pathOf('headers'), `has more than ${headersMax} headers`)
  for (const [name, value] of headers) {
    const path = fields.pathOf(`headers.${name.slice(0, 100)}`)
    if (!headerNamePattern.test(name)) throw new RenderError(path, 'is not a valid header name')
    if (typeof value !== 'string') throw new RenderError(path, 'must be a string')
    if (hasControls(value)) throw new RenderError(path, 'must be a single line without control characters')
    if (value.length > headerValueLengthMax) {
      throw new RenderError(path, `is ${value.length} characters long; at most ${headerValueLengthMax} are allowed`)
    }
  }
  return Object.fromEntries(headers) as Record<string, string>
}
