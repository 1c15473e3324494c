// The delay step: waits for a duration, or until a moment that the payload names.
import type { Decision } from '../domain/decision.ts'
import { momentOfId } from '../domain/derived-id.ts'
import { durationMs, durationMsMax } from '../domain/duration.ts'
import { detail } from '../domain/execution-detail.ts'
import { momentOfText } from '../domain/iso-moment.ts'
import { payloadValueAt } from '../domain/path.ts'
import type { Duration } from '../domain/timing-mistakes.ts'
import { delayMistakes, isDelayMetadata, isDuration } from '../domain/timing-mistakes.ts'
import { durationOverrideOf, toldMistakes } from './duration-override.ts'
import type { Step, StepInput } from './step.ts'

export const delay: Step = {
  type: 'delay',
  mistakes: (step) => delayMistakes(step.metadata),
  decide: (input) =>
    input.job.status === 'delayed'
      ? { kind: 'complete', details: [detail(input.now, 'delayFinished')] }
      : decideToWait(input),
}

function decideToWait(input: StepInput): Decision {
  const { now } = input
  const end = endOf(input)
  if ('wrong' in end) return { kind: 'fail', details: [detail(now, 'delayInvalid', { raw: end.wrong })], stops: true }
  const { until, duration } = end
  const untilDate = until.toISOString()
  const state = { until: untilDate, ...(duration && { amount: duration.amount, unit: duration.unit }) }
  const delayMs = until.getTime() - now.getTime()
  // The moment came while the event waited for its turn: that is not the caller's mistake.
  if (delayMs <= 0)
    return { kind: 'complete', details: [detail(now, 'delayFinished', { raw: { delay: 0, untilDate } })], state }
  return { kind: 'wait', until, details: [detail(now, 'delayed', { raw: { delay: delayMs, untilDate } })], state }
}

type End =
  | { readonly until: Date; readonly duration?: Duration }
  | { readonly wrong: { readonly error: string; readonly value?: string } }

function endOf({ now, job, step, event }: StepInput): End {
  const { metadata } = step
  if (!isDelayMetadata(metadata)) return { wrong: { error: toldMistakes(delayMistakes(metadata)) } }
  if (metadata.type === 'scheduled')
    return scheduledEnd(metadata.delayPath, event.payload, { now, acceptedAt: momentOfId(job.eventId) })
  const override = durationOverrideOf(event.overrides)
  if ('mistakes' in override) return { wrong: { error: toldMistakes(override.mistakes) } }
  const duration = override.duration ?? metadata
  if (!isDuration(duration)) return { wrong: { error: toldMistakes(delayMistakes(metadata)) } }
  return { until: new Date(now.getTime() + durationMs(duration.amount, duration.unit)), duration }
}

/** Enough to see what stood there. */
const shownLengthMax = 256

function scheduledEnd(
  delayPath: string,
  payload: Readonly<Record<string, unknown>>,
  { now, acceptedAt }: { now: Date; acceptedAt: Date },
): End {
  const value = payloadValueAt(payload, delayPath)
  if (value === undefined || value === null) return { wrong: { error: `The payload has no ${delayPath}` } }
  const shown = (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, shownLengthMax).toWellFormed()
  const wrong = (error: string): End => ({ wrong: { error: `${delayPath} ${error}`, value: shown } })
  const moment = typeof value === 'string' ? momentOfText(value.trim()) : undefined
  if (moment === undefined || !moment.hasTime || !moment.hasZone)
    return wrong('must be an ISO 8601 date and time with its zone, such as 2030-01-31T09:00:00Z')
  if (moment.at <= acceptedAt) return wrong('is in the past')
  if (moment.at.getTime() - now.getTime() > durationMsMax) return wrong('is more than a year away')
  return { until: moment.at }
}
