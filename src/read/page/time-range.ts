// The range of time that a list is asked for.
import { badRequest } from '../../domain/problem.ts'
import { timestampOfText } from '../../domain/time/iso-timestamp.ts'

/** As queries give it. */
export interface AskedRange {
  readonly after?: string
  readonly before?: string
}

/** In milliseconds; both ends belong to it. */
export interface TimeRange {
  readonly afterMs?: number
  readonly beforeMs?: number
}

export function timeRangeOf(asked: AskedRange): TimeRange {
  const afterMs = timestampOf('after', asked.after)
  const beforeMs = timestampOf('before', asked.before)
  if (afterMs !== undefined && beforeMs !== undefined && afterMs > beforeMs)
    throw badRequest('Invalid date range: start date (after) must be earlier than end date (before)')
  return {
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(beforeMs === undefined ? {} : { beforeMs }),
  }
}

function timestampOf(parameter: string, text: string | undefined): number | undefined {
  if (!text) return undefined
  const timestamp = timestampOfText(text)
  if (timestamp === undefined)
    throw badRequest(
      `Invalid date format for parameter '${parameter}': ${text} is not an ISO 8601 timestamp such as 2026-01-02T03:04:05.678Z`,
    )
  return timestamp.at.getTime()
}
