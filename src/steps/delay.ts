// The delay step: waits for a duration, until clocks show a time, or until a timestamp in the payload.
import type { Decision } from '../domain/delivery/decision.ts'
import { timestampOfId } from '../domain/derived-id.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import { timedEndOf } from '../domain/time/digest-window.ts'
import { durationMs } from '../domain/time/duration.ts'
import { dynamicEndOf, timestampEndOf } from '../domain/time/dynamic-end.ts'
import type { Duration } from '../domain/time/timing-mistakes.ts'
import { delayMistakes, isDelayMetadata, isDuration } from '../domain/time/timing-mistakes.ts'
import type { DelayMetadata } from '../domain/workflows/workflow.ts'
import { describeErrors, durationOverrideOf } from './duration-override.ts'
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
  // The time came while the event was queued: that is not the caller's error.
  if (delayMs <= 0)
    return { kind: 'complete', details: [detail(now, 'delayFinished', { raw: { delay: 0, untilDate } })], state }
  return { kind: 'wait', until, details: [detail(now, 'delayed', { raw: { delay: delayMs, untilDate } })], state }
}

type End =
  | { readonly until: Date; readonly duration?: Duration }
  | { readonly wrong: { readonly error: string; readonly value?: string } }

function endOf({ now, job, step, event, subscriber }: StepInput): End {
  const { metadata } = step
  if (!isDelayMetadata(metadata)) return { wrong: { error: describeErrors(delayMistakes(metadata)) } }
  const question = { payload: event.payload, now, acceptedAt: timestampOfId(job.eventId) }
  switch (metadata.type) {
    case 'scheduled':
      return timestampEndOf({ ...question, path: metadata.delayPath })
    case 'dynamic':
      return dynamicEndOf({ ...question, path: metadata.dynamicKey })
    case 'timed': {
      const until = timedEndOf(metadata, now, subscriber.timezone)
      return until === undefined
        ? { wrong: { error: 'metadata does not match any day in the coming years' } }
        : { until }
    }
    case 'regular':
      return regularEnd(metadata, event.overrides, now)
  }
}

function regularEnd(metadata: DelayMetadata, overrides: Readonly<Record<string, unknown>>, now: Date): End {
  const override = durationOverrideOf(overrides)
  if ('mistakes' in override) return { wrong: { error: describeErrors(override.mistakes) } }
  const duration = override.duration ?? metadata
  if (!isDuration(duration)) return { wrong: { error: describeErrors(delayMistakes(metadata)) } }
  return { until: new Date(now.getTime() + durationMs(duration.amount, duration.unit)), duration }
}
