// The end of something whose end is in the payload: a timestamp, or a duration from now.
import { payloadValueAt } from '../path.ts'
import { durationMs, durationMsMax } from './duration.ts'
import { timestampOfText } from './iso-timestamp.ts'
import type { Duration } from './timing-mistakes.ts'
import { durationMistakes, isDuration, isObject } from './timing-mistakes.ts'

export type DynamicEnd =
  | { readonly until: Date; readonly duration?: Duration }
  | { readonly wrong: { readonly error: string; readonly value?: string }; readonly isPast: boolean }

export interface DynamicQuestion {
  readonly payload: Readonly<Record<string, unknown>>
  readonly path: string
  readonly now: Date
  /** When the event was accepted: what had passed then is the caller's error, what passed since is not. */
  readonly acceptedAt: Date
}

/** A timestamp as ISO 8601 text with its zone, and nothing else. */
export function timestampEndOf(question: DynamicQuestion): DynamicEnd {
  const { payload, path, now, acceptedAt } = question
  const value = payloadValueAt(payload, path)
  if (value === undefined || value === null) return missing(path)
  const timestamp = typeof value === 'string' ? timestampOfText(value.trim()) : undefined
  if (timestamp === undefined || !timestamp.hasTime || !timestamp.hasZone)
    return wrong(question, value, 'must be an ISO 8601 date-time with a time zone, such as 2030-01-31T09:00:00Z')
  if (timestamp.at <= acceptedAt) return { ...wrong(question, value, 'is in the past'), isPast: true }
  if (timestamp.at.getTime() - now.getTime() > durationMsMax) return wrong(question, value, 'is more than a year away')
  return { until: timestamp.at }
}

/** A timestamp, or a duration as an object with amount and unit. */
export function dynamicEndOf(question: DynamicQuestion): DynamicEnd {
  const { payload, path, now } = question
  const value = payloadValueAt(payload, path)
  if (value === undefined || value === null) return missing(path)
  if (isDuration(value)) {
    return { until: new Date(now.getTime() + durationMs(value.amount, value.unit)), duration: value }
  }
  if (isObject(value)) {
    const mistakes = durationMistakes(value, path).map((mistake) => `${mistake.path} ${mistake.message}`)
    return { wrong: { error: mistakes.join('; '), value: shown(value) }, isPast: false }
  }
  if (typeof value === 'string') return timestampEndOf(question)
  return wrong(question, value, 'must be an ISO 8601 date-time with a time zone, or an object with amount and unit')
}

const missing = (path: string) => ({ wrong: { error: `The payload has no ${path}` }, isPast: false })

const wrong = ({ path }: DynamicQuestion, value: unknown, error: string) => ({
  wrong: { error: `${path} ${error}`, value: shown(value) },
  isPast: false,
})

/** Enough to see what stood there. */
const shownLengthMax = 256

const shown = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, shownLengthMax).toWellFormed()
