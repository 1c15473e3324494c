// The digest step: gathers the events of a window, and goes on with all of them when it closes.
import type { Decision } from '../domain/delivery/decision.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import { digestDueAt } from '../domain/time/digest-window.ts'
import { durationMs } from '../domain/time/duration.ts'
import { digestMistakes, isDigestMetadata } from '../domain/time/timing-mistakes.ts'
import type { DigestMetadata } from '../domain/workflows/workflow.ts'
import { describeErrors, durationOverrideOf } from './duration-override.ts'
import { keyValueOf } from './key-value.ts'
import type { Step, StepInput } from './step.ts'

export const digest: Step = {
  type: 'digest',
  mistakes: (step) => digestMistakes(step.metadata),
  decide: (input) => (input.job.status === 'delayed' ? decideToClose(input) : decideToJoin(input)),
}

function decideToClose({ now, job }: StepInput): Decision {
  const windowId = job.state?.windowId
  if (windowId === undefined) throw new Error(`The digest of job ${job.id} is waiting without a window`)
  return { kind: 'closeDigest', windowId, details: [detail(now, 'digestTriggered')] }
}

function decideToJoin(input: StepInput): Decision {
  const { now, step, event, subscriber } = input
  if (!isDigestMetadata(step.metadata)) return invalid(now, describeErrors(digestMistakes(step.metadata)))
  const override = durationOverrideOf(event.overrides)
  const isTimed = step.metadata.type === 'timed'
  if (!isTimed && 'mistakes' in override) return invalid(now, describeErrors(override.mistakes))
  const duration = !isTimed && 'duration' in override ? override.duration : undefined
  const metadata: DigestMetadata = { ...step.metadata, ...duration }
  const dueAt = digestDueAt(metadata, now, subscriber.timezone)
  if (dueAt === undefined) return invalid(now, 'metadata does not match any day in the coming years')
  const digestValue = keyValueOf(metadata.digestKey, event.payload)
  const backoffMs = backoffMsOf(step.metadata)
  return {
    kind: 'joinDigest',
    stepId: step._id,
    ...(digestValue === undefined ? {} : { digestValue }),
    dueAt,
    ...(backoffMs === undefined ? {} : { backoffMs }),
    details: [],
  }
}

function invalid(now: Date, error: string): Decision {
  return { kind: 'fail', details: [detail(now, 'digestInvalid', { raw: { error } })], stops: true }
}

/**
 * The step's own duration, not one that a trigger requested: the caller does not define what counts as a quiet period.
 */
function backoffMsOf(metadata: DigestMetadata): number | undefined {
  if (metadata.type === 'timed' || (metadata.type !== 'backoff' && metadata.backoff !== true)) return undefined
  const { backoffAmount = metadata.amount, backoffUnit = metadata.unit } = metadata
  return backoffAmount === undefined || backoffUnit === undefined ? undefined : durationMs(backoffAmount, backoffUnit)
}
