// From the outcomes of a job's calls to what is written: each message's state, and whether the job is over.
import { afterOutcome } from '../domain/after-outcome.ts'
import type { StoredDetail } from '../domain/execution-detail.ts'
import { detail } from '../domain/execution-detail.ts'
import type { Integration } from '../domain/integration.ts'
import type { Outcome } from '../domain/outcome.ts'
import { providerOf } from '../providers/registry.ts'
import type { JobOutcome } from '../record/record-outcomes.ts'
import { settles } from '../record/settlement.ts'
import type { CallResult } from '../store/messages/sending.ts'
import type { JobFacts } from './decide.ts'
import type { SentMessage } from './outgoing.ts'
import { failed, nextOf } from './settle-decision.ts'

export interface Called {
  readonly message: SentMessage
  /** Who was asked. */
  readonly asked: { readonly integrationId: string; readonly providerId: string }
  /** Whether they could be asked again. */
  readonly isThere: boolean
  readonly outcome: Outcome
}

interface Judged {
  readonly result: CallResult
  readonly details: readonly StoredDetail[]
  /** When it is sent again; null when it is over. */
  readonly again: Date | null
}

export function settleOutcomes(
  facts: JobFacts,
  calls: readonly Called[],
  moment: { now: Date; random: number },
): JobOutcome {
  const judged = calls.map((call) => judge(call, moment))
  const results = judged.map((one) => one.result)
  const details = judged.flatMap((one) => one.details)
  const again = judged.flatMap((one) => one.again ?? []).sort((a, b) => a.getTime() - b.getTime())[0]
  const state = { ...facts.job.state, ...providerState(calls) }
  if (again !== undefined) return { settlement: settles(facts.job, 'running', { due: again, details, state }), results }
  // One message that arrived, or perhaps did, is enough: the others have their own details.
  if (results.some((result) => result.status !== 'error')) {
    return { settlement: settles(facts.job, 'completed', { details, state, next: nextOf(facts) }), results }
  }
  return { settlement: { ...failed(facts, { details, stops: false }, moment.now), state }, results }
}

function judge({ message, asked, isThere, outcome }: Called, { now, random }: { now: Date; random: number }): Judged {
  const { sending, channel } = message
  const hasOther = message.other([...sending.tried, asked.integrationId]) !== undefined
  const after = afterOutcome({
    outcome,
    sending,
    channel,
    integrationId: asked.integrationId,
    idempotent: providerOf(asked.providerId)?.idempotent === true,
    hasOther,
    canRepeat: isThere || hasOther,
    now,
    random,
  })
  const isTest = outcome.kind === 'sent' && outcome.captured === true
  const told = detailOf(outcome, after.kind === 'again', {
    now,
    providerId: asked.providerId,
    isRetry: sending.attempts > 1 || after.kind === 'again',
    isTest,
  })
  const next = after.kind === 'again' && after.failover ? message.other(after.sending.tried) : undefined
  const result: CallResult = {
    id: message.id,
    state: after.kind === 'again' ? 'ready' : 'done',
    status: after.status,
    error: after.error,
    providerMessageId: outcome.kind === 'sent' ? outcome.providerMessageId : null,
    sending: after.kind === 'again' ? after.sending : sending,
    nextIntegrationId: next?._id ?? null,
    isTest,
  }
  const details = next === undefined ? [told] : [told, selected(next, now)]
  return { result, details, again: after.kind === 'again' ? after.at : null }
}

/** Who sends, in the activity's words. */
export function selected({ providerId, identifier }: Integration, now: Date): StoredDetail {
  const words = `${providerOf(providerId)?.name ?? providerId} provider was selected`
  return detail(now, 'providerSelected', { words, providerId, raw: { integrationIdentifier: identifier } })
}

function detailOf(
  outcome: Outcome,
  isAgain: boolean,
  { now, ...more }: { now: Date; providerId: string; isRetry: boolean; isTest: boolean },
): StoredDetail {
  switch (outcome.kind) {
    case 'sent':
      return detail(now, 'messageSent', {
        ...more,
        raw: { id: outcome.providerMessageId, ...(outcome.detail === undefined ? {} : { answer: outcome.detail }) },
      })
    case 'busy':
      return detail(now, isAgain ? 'providerBusy' : 'providerError', { ...more, raw: { message: outcome.detail } })
    case 'unsure':
      return detail(now, 'perhapsSent', { ...more, raw: { message: outcome.detail } })
    case 'misconfigured':
      return detail(now, 'misconfigured', { ...more, raw: { message: outcome.detail } })
    case 'refused':
      return detail(now, 'providerError', { ...more, raw: { reason: outcome.reason, message: outcome.detail } })
  }
}

function providerState(calls: readonly Called[]): { providerId?: string } {
  const providerId = calls[0]?.asked.providerId
  return providerId === undefined ? {} : { providerId }
}
