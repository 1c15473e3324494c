// The step after one that ends as soon as it is decided: decided and written with it, which saves it a separate turn.
import type { Job } from '../../domain/delivery/job.ts'
import { jobIdOf } from '../../domain/derived-id.ts'
import type { StepType, WorkflowVersion } from '../../domain/workflows/workflow.ts'
import { activeStepFrom } from '../../domain/workflows/workflow.ts'
import { needsOf } from './step-needs.ts'

/**
 * The decisions of these depend only on what is loaded before; the others wait, or call, or query the database when
 * they are written.
 */
const followers: ReadonlySet<StepType> = new Set<StepType>(['in_app', 'email', 'sms', 'chat', 'push'])

/**
 * The job after this one, as it will be if this one ends at once, so that what it needs is loaded with it. Undefined if
 * that is unlikely, or if it must be decided separately: because it depends on the result of this one, or on an outside
 * service.
 */
export function followerOf(job: Job, version: WorkflowVersion | undefined): Job | undefined {
  const steps = version?.definition.steps ?? []
  // Started before and not finished: it goes alone now, so that an error in what follows costs only that.
  if (job.interruptions > 0 || job.faults > 0 || isRedriven(job) || !endsAtOnce(job, steps[job.step]?.template.type))
    return undefined
  const place = activeStepFrom(steps, job.step + 1)
  const next = place === undefined ? undefined : steps[place]
  if (place === undefined || next === undefined || !followers.has(next.template.type)) return undefined
  const { previous, webhooks } = needsOf(next)
  if (previous || webhooks) return undefined
  const { environmentId, notificationId, eventId, subscriberId, versionId, lane, lease, digestId, event } = job
  return {
    environmentId,
    id: jobIdOf(eventId, notificationId, place),
    notificationId,
    eventId,
    subscriberId,
    versionId,
    step: place,
    status: 'queued',
    lane,
    lease,
    interruptions: 0,
    faults: 0,
    faultedSince: null,
    digestId,
    state: null,
    event,
  }
}

/** The step after it has its row already, and is perhaps due with it. */
const isRedriven = ({ state }: Job): boolean => state?.redrives !== undefined

const endsAtOnce = ({ status }: Job, type: StepType | undefined): boolean =>
  (type === 'in_app' && status === 'queued') || (type === 'delay' && status === 'delayed')
