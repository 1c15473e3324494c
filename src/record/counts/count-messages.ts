// Counts what became of messages, once that is committed: only those of jobs that were still ours.
import type { Channel } from '../../domain/delivery/integration.ts'
import type { Job } from '../../domain/delivery/job.ts'
import { timestampMsOfId } from '../../domain/derived-id.ts'
import type { DetailCode } from '../../domain/insight/execution-detail.ts'
import { providerOf } from '../../providers/registry.ts'
import type { CallResult, UnsentMessage } from '../../store/messages/sending.ts'
import type { MessageOutcome, Meter } from '../../world/meter.ts'
import { noProvider } from '../../world/meter.ts'
import type { Settlement } from '../settlement.ts'

/** Messages that ended as soon as they were decided: those of the feed, and those without a recipient. */
export function countWritten(
  meter: Meter,
  settlements: readonly Settlement[],
  stillLeased: ReadonlySet<string>,
  now: Date,
): void {
  for (const { job, messages } of settlements) {
    if (messages.length === 0 || !stillLeased.has(job.id)) continue
    for (const { draft, state, status, providerId } of messages) {
      if (state !== 'done') continue
      const isSent = status === 'sent'
      meter.countMessage(draft.channel, providerId ?? noProvider, isSent ? 'sent' : 'failed')
      if (isSent) meter.noteDelivery(draft.channel, sinceEvent(job, now))
    }
  }
}

/** The results of the calls of jobs. */
export function countCalls(
  meter: Meter,
  outcomes: readonly { readonly settlement: Settlement; readonly results: readonly CallResult[] }[],
  stillLeased: ReadonlySet<string>,
  now: Date,
): void {
  for (const { settlement, results: all } of outcomes) {
    const { job } = settlement
    const results = reported(all)
    if (results.length === 0 || !stillLeased.has(job.id)) continue
    const asked = providersAsked(settlement, results)
    for (const [place, result] of results.entries()) {
      const providerId = asked[place] ?? noProvider
      meter.countMessage(channelOf(providerId), providerId, outcomeOf(result))
    }
    const first = results.findIndex((result) => outcomeOf(result) === 'sent')
    // Of several messages of a step, the first that arrives reaches the person.
    if (first >= 0 && job.state?.reached !== true) {
      meter.noteDelivery(channelOf(asked[first] ?? noProvider), sinceEvent(job, now))
    }
  }
}

/** Messages that were given up with their jobs. */
export function countGivenUp(
  meter: Meter,
  messages: readonly UnsentMessage[],
  results: readonly CallResult[],
  stillLeased: ReadonlySet<string>,
): void {
  for (const [place, { jobId, channel, providerId }] of messages.entries()) {
    const result = results[place]
    if (result !== undefined && stillLeased.has(jobId)) meter.countMessage(channel, providerId, outcomeOf(result))
  }
}

/** Calls that never left, or only found a provider still down, have no detail and no count. */
export const reported = (results: readonly CallResult[]): readonly CallResult[] =>
  results.some(({ isUncounted }) => isUncounted) ? results.filter(({ isUncounted }) => isUncounted !== true) : results

/** Details that report one call each, in the order of the calls. */
export const ofCalls: ReadonlySet<DetailCode> = new Set<DetailCode>([
  'messageSent',
  'providerBusy',
  'providerError',
  'perhapsSent',
  'misconfigured',
])

/** The provider that was called, call by call; if none was made, the one that would have been. */
export function providersAsked(
  { details, state }: Settlement,
  results: readonly CallResult[],
): readonly (string | undefined)[] {
  const callDetails = details.filter(({ code }) => ofCalls.has(code))
  return results.map((_, place) =>
    callDetails.length === results.length ? callDetails[place]?.providerId : state?.providerId,
  )
}

const channelOf = (providerId: string): Channel | 'unknown' => providerOf(providerId)?.channel ?? 'unknown'

export const sinceEvent = ({ eventId }: Job, now: Date): number => now.getTime() - timestampMsOfId(eventId)

export function outcomeOf({ state, status, isTest }: CallResult): MessageOutcome {
  if (state === 'ready') return 'retried'
  if (status === 'sent') return isTest ? 'captured' : 'sent'
  return status === 'warning' ? 'unsure' : 'failed'
}
