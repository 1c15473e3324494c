// Messages that were created and must not be sent any more: cancelled while a provider was being called, or no longer
// wanted.
import { detail } from '../../domain/insight/execution-detail.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { UnsentMessage } from '../../store/messages/sending.ts'
import type { JobFacts } from './job-facts.ts'
import { preferenceRefusal } from './preference-refusal.ts'
import { laterSteps, nextOf } from './settle-decision.ts'

export interface RefusalFacts {
  /** The messages of the job that are not done. */
  readonly unsent: readonly UnsentMessage[]
  readonly isCanceled: boolean
  readonly now: Date
}

/** Undefined if the job continues. What was being sent may have been sent: that is settled first. */
export function lateRefusal(facts: JobFacts, { unsent, isCanceled, now }: RefusalFacts): Settlement | undefined {
  const isCall = facts.step.template.type === 'custom'
  const isOver = unsent.length === 0 && !isCall
  if (isOver || unsent.some((message) => message.state === 'calling')) return undefined
  if (isCanceled) return canceledSettlement(facts, now)
  // A subscriber who chose otherwise since the failure is not notified after all.
  const isRedriven = unsent.length > 0 && unsent.every(({ sending }) => sending.redrives && sending.attempts === 0)
  const refusal = isRedriven ? preferenceRefusal(facts, now) : undefined
  if (refusal === undefined) return undefined
  return settles(facts.job, endOf(facts, 'skipped'), { details: refusal.details, next: nextOf(facts) })
}

function canceledSettlement(facts: JobFacts, now: Date): Settlement {
  const details = [detail(now, 'canceled')]
  const steps = laterSteps(facts)
  const rest = steps.length === 0 ? null : { steps, status: 'canceled' as const, details }
  return settles(facts.job, endOf(facts, 'canceled'), { details, rest })
}

/** One message that arrived is enough, as ever. */
const endOf = <Status extends string>({ job }: JobFacts, otherwise: Status): Status | 'completed' =>
  job.state?.reached === true ? 'completed' : otherwise
