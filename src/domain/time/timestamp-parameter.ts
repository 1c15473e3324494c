// A timestamp in a parameter or a body: ISO 8601, since 1970, which is as far back as ids reach.
import { invalidField } from '../problem.ts'
import { timestampOfText } from './iso-timestamp.ts'

export const timestampMistake = (field: string): string =>
  `${field} must be an ISO 8601 timestamp since 1970, such as 2026-01-02T03:04:05.678Z`

/** Undefined for a text that is not one. */
export function parameterTime(text: string): Date | undefined {
  const at = timestampOfText(text)?.at
  return at !== undefined && at.getTime() >= 0 ? at : undefined
}

/** The same for a parameter that may be left out. */
export const optionalTimestamp = (field: string, text: string | undefined): Date | undefined =>
  text === undefined ? undefined : timestampParameter(field, text)

/** Throws the client error of the field for a text that is not one. */
export function timestampParameter(field: string, text: string): Date {
  const at = parameterTime(text)
  if (at === undefined) throw invalidField(field, timestampMistake(field), text)
  return at
}
