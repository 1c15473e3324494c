// From the outcomes of a job's calls to what is written: each message's state, and whether the job is over.
import { afterOutcome } from '../../domain/after-outcome.ts'
import type { StoredDetail } from '../../domain/execution-detail.ts'
import { detail } from '../../domain/execution-detail.ts'
import { gathered } from '../../domain/gathered.ts'
import type { Integration } from '../../domain/integration.ts'
import type { JobState } from '../../domain/job.ts'
import type { Sending } from '../../domain/message.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { providerOf } from '../../providers/registry.ts'
import type { AwaitedReceipt } from '../../record/await-receipts.ts'
import type { JobOutcome } from '../../record/record-outcomes.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { CallResult } from '../../store/messages/sending.ts'
import type { DeadToken } from '../../store/subscriber-channels.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import { failed, nextOf } from '../decide/settle-decision.ts'
import { optedOut } from '../decide/suppressed.ts'
import type { Called, LaterMessage } from './outgoing.ts'

interface Judged {
  readonly result: CallResult
  readonly details: readonly StoredDetail[]
  /** When it is sent again; null when it is over. */
  readonly again: Date | null
}

export interface Moment {
  readonly now: Date
  readonly random: number
}

/** `later`: messages of the job whose turn comes after these. */
export function settleOutcomes(
  facts: JobFacts,
  calls: readonly Called[],
  moment: Moment,
  later: readonly LaterMessage[] = [],
): JobOutcome {
  const judged = calls.map((call) => judge(call, moment))
  const dead = gathered(calls, (call) => deadTokenOf(facts, call) ?? [])
  const results = judged.map((one) => one.result)
  const removed = dead.map(({ providerId, token }) =>
    detail(moment.now, 'deviceTokenRemoved', { providerId, raw: { deviceToken: token } }),
  )
  const details = [...gathered(judged, (one) => one.details), ...removed]
  const isReached = results.some((result) => result.state === 'done' && result.status !== 'error')
  const state = { ...facts.job.state, ...providerState(calls) }
  const again = gathered(judged, (one) => one.again ?? [])
  const settlement = settlementOf(facts, {
    details,
    state,
    isReached,
    again: [...again, ...later.map(({ sending }) => dueOf(sending, moment.now))],
    now: moment.now,
  })
  const suppressions = gathered(calls, optedOut)
  const polls = gathered(calls, (call) => awaited(call, moment.now))
  return {
    settlement,
    results,
    ...(polls.length === 0 ? {} : { polls }),
    ...(dead.length === 0 ? {} : { deadTokens: dead }),
    ...(suppressions.length === 0 ? {} : { suppressions }),
  }
}

/** Most vendors report by themselves. */
function awaited({ message, asked: { integrationId, providerId }, outcome }: Called, now: Date): AwaitedReceipt[] {
  const isWithProvider = outcome.kind === 'sent' && outcome.captured !== true
  const polling = isWithProvider ? providerOf(providerId)?.polling : undefined
  if (polling === undefined) return []
  return [{ messageId: message.id, integrationId, at: new Date(now.getTime() + polling.firstAfterMs) }]
}

export const dueOf = ({ dueAt }: Sending, now: Date): Date => (dueAt === undefined ? now : new Date(dueAt))

/** Goes on at the first moment of `again`; without any it is over. */
export function settlementOf(facts: JobFacts, { details, state, again, now, isReached: isNow }: Judgement): Settlement {
  const [first] = again.length < 2 ? again : [...again].sort((a, b) => a.getTime() - b.getTime())
  const isReached = isNow || state.reached === true
  if (first !== undefined) {
    const kept = isReached ? { ...state, reached: true as const } : state
    return settles(facts.job, 'running', { due: first, details, state: kept })
  }
  // One message that arrived, or perhaps did, is enough: the others have their own details.
  if (isReached) return settles(facts.job, 'completed', { details, state, next: nextOf(facts) })
  const told = [...details, ...allFailed(facts, now)]
  return { ...failed(facts, { details: told, stops: false }, now), state }
}

export interface Judgement {
  readonly details: readonly StoredDetail[]
  readonly state: JobState
  /** Whether one of its messages arrived now, or perhaps did. */
  readonly isReached: boolean
  /** When others of them are sent. */
  readonly again: readonly Date[]
  readonly now: Date
}

function allFailed({ step }: JobFacts, now: Date): StoredDetail[] {
  if (step.template.type === 'chat') return [detail(now, 'allChatFailed')]
  return step.template.type === 'push' ? [detail(now, 'allPushFailed')] : []
}

/** The device that is gone, where it is one that the subscriber's entry names. */
function deadTokenOf(facts: JobFacts, { message, asked, prunes }: Called): DeadToken | undefined {
  const { envelope } = message
  if (prunes !== true || !('target' in envelope)) return undefined
  const isStored = facts.channels.some(
    ({ _integrationId, credentials }) =>
      _integrationId === asked.integrationId && credentials.deviceTokens?.includes(envelope.target) === true,
  )
  return isStored ? { ...asked, subscriberId: facts.job.subscriberId, token: envelope.target } : undefined
}

function judge({ message, asked, isThere, outcome }: Called, { now, random }: Moment): Judged {
  const { sending, channel } = message
  // Nobody takes over what was sent: most are, and looking for somebody costs something.
  const hasOther = outcome.kind !== 'sent' && message.other([...sending.tried, asked.integrationId]) !== undefined
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
  const isCaptured = outcome.kind === 'sent' && outcome.captured === true
  const isTest = isCaptured
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
    sending: after.kind === 'again' ? { ...after.sending, dueAt: after.at.toISOString() } : sending,
    nextIntegrationId: next?._id ?? null,
    isTest,
    ...(isCaptured ? { isCaptured } : {}),
  }
  const details = next === undefined ? [told] : [told, selected(next, now)]
  return { result, details, again: after.kind === 'again' ? after.at : null }
}

let lastChosen: { readonly integration: Integration; readonly atMs: number; readonly told: StoredDetail } | undefined

/** Who sends, in the activity's words. The same one for most of a batch, and told once for all of them. */
export function selected(integration: Integration, now: Date): StoredDetail {
  if (lastChosen?.integration === integration && lastChosen.atMs === now.getTime()) return lastChosen.told
  const { providerId, identifier } = integration
  const words = `${providerOf(providerId)?.name ?? providerId} provider was selected`
  const told = detail(now, 'providerSelected', { words, providerId, raw: { integrationIdentifier: identifier } })
  lastChosen = { integration, atMs: now.getTime(), told }
  return told
}

function detailOf(
  outcome: Outcome,
  isAgain: boolean,
  { now, ...more }: { now: Date; providerId: string; isRetry: boolean; isTest: boolean },
): StoredDetail {
  switch (outcome.kind) {
    case 'sent':
      return detail(now, 'messageSent', {
        // Before the spread: behind it, a new member costs twenty times as much.
        raw: { id: outcome.providerMessageId, ...(outcome.detail === undefined ? {} : { answer: outcome.detail }) },
        ...more,
      })
    case 'busy':
    case 'withheld':
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
