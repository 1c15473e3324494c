// What became of a notification as a whole, from the states of its steps.
import type { Schemas } from '../../api.ts'

type Job = Pick<Schemas['ActivityJob'], 'status' | 'executionDetails' | 'type'>

export function outcomeOf(jobs: readonly Job[]): string {
  const has = (status: string) => jobs.some((job) => job.status === status)
  if (has('failed')) return 'failed'
  if (has('delayed')) return 'delayed'
  if (has('running')) return 'running'
  if (has('queued')) return 'queued'
  if (has('completed')) return jobs.some(isCaptured) ? 'captured' : 'completed'
  if (has('merged')) return 'merged'
  if (has('canceled')) return 'canceled'
  if (has('skipped')) return 'skipped'
  return 'pending'
}

export const isCaptured = (job: Job): boolean =>
  job.status === 'completed' &&
  ['email', 'sms', 'chat', 'push'].includes(job.type) &&
  job.executionDetails.some(({ isTest }) => isTest)

export const stateOfJob = (job: Job): string => (isCaptured(job) ? 'captured' : job.status)

export const personOf = (one: Pick<Schemas['Activity'], 'subscriber'>): string => {
  const { subscriber } = one
  if (subscriber === undefined) return 'A deleted subscriber'
  return (
    [subscriber.firstName, subscriber.lastName].filter(Boolean).join(' ') || subscriber.email || subscriber.subscriberId
  )
}
