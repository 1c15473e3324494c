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

/** A warning is of a provider that did not confirm; without a provider there was no address to send it to. */
export const stateOfMessage = (status: string, providerId: string | undefined): string =>
  status !== 'warning' ? status : providerId ? 'unsure' : 'skipped'

/** Where the service has one sentence for several causes, or one that only its makers understand. */
const ownWords: Readonly<Record<string, string>> = {
  providerError: 'The provider reported an error',
  misconfigured: 'The provider did not accept the account: check its credentials and settings',
  perhapsSent: 'The provider may have sent it, and did not say so',
  noIntegration: 'No active account can send it',
  contentFailed: 'Its template failed, or an address in it is not valid',
  conditionsBroken: 'A template in its conditions failed',
  webhookFailed: 'The service that its conditions ask did not answer',
  callFailed: 'The call to the service of the custom step did not succeed',
  buried: 'Abandoned after repeated internal errors',
}

/** Why something failed: the sentence of the service, or one of our own where that one would not help. */
export const failureWords = (code: string, detail: string): string => ownWords[code] ?? detail

interface Person {
  readonly subscriberId: string
  readonly firstName?: string
  readonly lastName?: string
  readonly email?: string
}

export const personOf = ({ subscriber }: { readonly subscriber?: Person }): string => {
  if (subscriber === undefined) return 'A deleted subscriber'
  return (
    [subscriber.firstName, subscriber.lastName].filter(Boolean).join(' ') || subscriber.email || subscriber.subscriberId
  )
}
