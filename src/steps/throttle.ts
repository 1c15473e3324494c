// The throttle step: lets so many runs of a window through, and ends the others.
import type { Decision } from '../domain/delivery/decision.ts'
import { timestampOfId } from '../domain/derived-id.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import { isThrottleMetadata, throttleEndOf, throttleMistakes } from '../domain/time/throttle-window.ts'
import { describeErrors } from './duration-override.ts'
import { keyValueOf } from './key-value.ts'
import type { Step, StepInput } from './step.ts'

export const throttle: Step = {
  type: 'throttle',
  mistakes: (step) => throttleMistakes(step.metadata),
  decide: decideToAsk,
}

function decideToAsk({ now, job, step, event }: StepInput): Decision {
  const { metadata } = step
  const invalid = (code: 'throttleInvalid' | 'throttlePast', raw: object): Decision => ({
    kind: 'fail',
    details: [detail(now, code, { raw })],
    stops: true,
  })
  if (!isThrottleMetadata(metadata)) {
    return invalid('throttleInvalid', { error: describeErrors(throttleMistakes(metadata)) })
  }
  const end = throttleEndOf(metadata, { payload: event.payload, now, acceptedAt: timestampOfId(job.eventId) })
  if ('wrong' in end) return invalid(end.isPast ? 'throttlePast' : 'throttleInvalid', end.wrong)
  const { threshold = 1 } = metadata
  // The window ended while the event was queued: there is nothing left to hold it back.
  if (end.until <= now) {
    const raw = { threshold, throttledUntil: end.until.toISOString() }
    return { kind: 'complete', details: [detail(now, 'throttlePassed', { raw })] }
  }
  const throttleValue = keyValueOf(metadata.throttleKey, event.payload)
  const hasLength = metadata.type === 'fixed' || end.duration !== undefined
  return {
    kind: 'takeThrottle',
    stepId: step._id,
    ...(throttleValue === undefined ? {} : { throttleValue }),
    threshold,
    until: end.until,
    ...(hasLength ? { openMs: end.until.getTime() - now.getTime() } : {}),
    details: [],
  }
}
