// From the outcomes of a job's calls to what is written: each message's state, and whether the job has finished.
import type { Rest } from '../../deliver/limits.ts'
import type { OutcomeSituation } from '../../domain/delivery/after-outcome.ts'
import { afterOutcome } from '../../domain/delivery/after-outcome.ts'
import { until } from '../../domain/delivery/due.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { JobState } from '../../domain/delivery/job.ts'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { fastFlatMap } from '../../domain/fast-flat-map.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { Sending } from '../../domain/messages/message.ts'
import { providerOf } from '../../providers/registry.ts'
import type { JobOutcome } from '../../record/job-outcome.ts'
import type { AwaitedReceipt } from '../../record/receipts/await-receipts.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { CallResult } from '../../store/messages/sending.ts'
import type { DeadToken } from '../../store/people/subscriber-channels.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import { failed, nextOf } from '../decide/settle-decision.ts'
import { optedOut } from '../decide/suppressed.ts'
import { failingNews } from './failing-news.ts'
import type { Called, LaterMessage } from './outgoing.ts'
import { afterRest, heldDetail, released } from './resting.ts'

interface JudgedCall {
  readonly result: CallResult
  readonly details: readonly StoredDetail[]
  /** When it is sent again; null when it is over. */
  readonly again: Date | null
  /** It was perhaps sent, and is not sent again. */
  readonly isLeftUnsure: boolean
  /** It is held because its provider is down. */
  readonly downSince: Date | undefined
}

export interface SettlingParts {
  readonly now: Date
  readonly random: number
  /** Whether the provider of an integration is taken to be down. */
  rest(integrationId: string): Rest | undefined
}

/** Enough to tell devices apart. Tokens are secrets, sealed with their messages, and details are not sealed. */
const endOf = (token: string): string => `…${token.slice(-8)}`

/** `later`: messages of the job that come after these. */
export function settleOutcomes(
  facts: JobFacts,
  calls: readonly Called[],
  parts: SettlingParts,
  later: readonly LaterMessage[] = [],
): JobOutcome {
  const { now } = parts
  const judged = calls.map((call) => judge(facts, call, parts))
  const dead = fastFlatMap(calls, (call) => deadTokenOf(facts, call) ?? [])
  const results = judged.map((one) => one.result)
  const removed = dead.map(({ providerId, token }) =>
    detail(now, 'deviceTokenRemoved', { providerId, raw: { deviceToken: endOf(token) } }),
  )
  const heldUntil = judged.find((one) => one.downSince !== undefined)
  const state = {
    ...released(facts.job.state),
    ...providerState(calls),
    ...(heldUntil?.downSince === undefined
      ? {}
      : { downSince: heldUntil.downSince.toISOString(), heldSince: now.toISOString() }),
  }
  const settlement = settleCalls(facts, {
    details: [...fastFlatMap(judged, (one) => one.details), ...removed],
    state,
    isReached: results.some((result) => result.state === 'done' && result.status === 'sent'),
    isLeftUnsure: judged.some((one) => one.isLeftUnsure),
    again: [...fastFlatMap(judged, (one) => one.again ?? []), ...later.map(({ sending }) => dueOf(sending, now))],
    now,
  })
  const suppressions = fastFlatMap(calls, optedOut)
  const polls = fastFlatMap(calls, (call) => awaited(call, now))
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

/** Continues at the first time of `again`; without any it has finished. */
export function settleCalls(facts: JobFacts, judgement: Judgement): Settlement {
  const { details, again, now } = judgement
  const [first] = again.length < 2 ? again : [...again].sort((a, b) => a.getTime() - b.getTime())
  const isReached = judgement.isReached || judgement.state.reached === true
  const isLeftUnsure = judgement.isLeftUnsure || judgement.state.leftUnsure === true
  const state: JobState = {
    ...judgement.state,
    ...(isReached ? { reached: true as const } : {}),
    ...(isLeftUnsure ? { leftUnsure: true as const } : {}),
  }
  if (first !== undefined) return settles(facts.job, 'running', { due: until(first), details, state })
  // One message that was sent is enough: the others have their own details.
  if (isReached) return settles(facts.job, 'completed', { details, state: judgement.state, next: nextOf(facts) })
  // Neither sent nor failed, as far as anyone knows: the steps after it run.
  if (isLeftUnsure) return settles(facts.job, 'skipped', { details, state, next: nextOf(facts) })
  const all = [...details, ...allFailed(facts, now)]
  return { ...failed(facts, { details: all, stops: false }, now), state: judgement.state }
}

export interface Judgement {
  readonly details: readonly StoredDetail[]
  readonly state: JobState
  /** Whether one of its messages was sent now. */
  readonly isReached: boolean
  /** Whether one of them was perhaps sent, and is not sent again. */
  readonly isLeftUnsure: boolean
  /** When others of them are sent. */
  readonly again: readonly Date[]
  readonly now: Date
}

function allFailed({ step }: JobFacts, now: Date): StoredDetail[] {
  if (step.template.type === 'chat') return [detail(now, 'allChatFailed')]
  return step.template.type === 'push' ? [detail(now, 'allPushFailed')] : []
}

/** The unregistered device, if it is one of the subscriber's entry. */
function deadTokenOf(facts: JobFacts, { message, asked, prunes }: Called): DeadToken | undefined {
  const { envelope } = message
  if (prunes !== true || !('target' in envelope)) return undefined
  const isStored = facts.channels.some(
    ({ _integrationId, credentials }) =>
      _integrationId === asked.integrationId && credentials.deviceTokens?.includes(envelope.target) === true,
  )
  return isStored ? { ...asked, subscriberId: facts.job.subscriberId, token: envelope.target } : undefined
}

function judge(facts: JobFacts, call: Called, parts: SettlingParts): JudgedCall {
  const { message, asked, outcome } = call
  const { sending } = message
  const { now, random } = parts
  const after = afterOutcome(situationOf(facts, call, parts))
  const isAgain = after.kind === 'again'
  const isCaptured = outcome.kind === 'sent' && outcome.captured === true
  const next = isAgain && after.failover ? message.other(after.sending.tried) : undefined
  const rest = isAgain && after.held === true ? parts.rest(asked.integrationId) : undefined
  const at = isAgain ? (rest === undefined ? after.at : afterRest(rest, { now, random })) : null
  // Recorded once for each time the provider goes down, however often it is called in the meantime.
  const isSaid = rest?.downSince !== undefined && facts.job.state?.downSince === rest.downSince.toISOString()
  const isUncounted = outcome.kind === 'withheld' || isSaid
  const result: CallResult = {
    id: message.id,
    state: isAgain ? 'ready' : 'done',
    status: after.status,
    error: after.error,
    providerMessageId: outcome.kind === 'sent' ? outcome.providerMessageId : null,
    sending: isAgain && at !== null ? { ...after.sending, dueAt: at.toISOString() } : sending,
    asked,
    nextIntegrationId: next?._id ?? null,
    isTest: isCaptured,
    ...(isCaptured ? { isCaptured } : {}),
    ...(isUncounted ? { isUncounted } : {}),
    ...(facts.isReported === true ? reportedCall(facts, call, parts) : {}),
  }
  const isLeftUnsure = after.kind === 'over' && after.leftUnsure === true
  const details = isUncounted
    ? []
    : [
        detailOf(outcome, isAgain, {
          now,
          providerId: asked.providerId,
          isRetry: sending.attempts > 1 || isAgain || (sending.interruptions ?? 0) > 0,
          isTest: isCaptured,
        }),
        ...followUps({ facts, call, next, rest, at, isLeftUnsure, now, random }),
      ]
  return { result, details, again: at, isLeftUnsure, downSince: rest?.downSince }
}

/** Where events are sent to an endpoint of the customer's. */
export const reportedWith = ({ isReported, job }: JobFacts): Pick<CallResult, 'reportedTo'> =>
  isReported === true ? { reportedTo: { subscriberId: job.subscriberId } } : {}

function reportedCall(facts: JobFacts, call: Called, { now, rest }: SettlingParts) {
  const { asked, outcome } = call
  if (optedOut(call).length > 0) return { ...reportedWith(facts), optedOut: call.message.channel }
  const downSince = outcome.kind === 'sent' ? undefined : rest(asked.integrationId)?.downSince
  const integration = facts.integrations.find((one) => one._id === asked.integrationId)
  const isFailing = downSince !== undefined || outcome.kind === 'misconfigured'
  if (!isFailing || integration === undefined) return reportedWith(facts)
  return { ...reportedWith(facts), failing: failingNews(integration, { downSince, now }) }
}

function situationOf(facts: JobFacts, call: Called, { now, random, rest }: SettlingParts): OutcomeSituation {
  const { message, asked, isThere, outcome } = call
  const { sending, channel } = message
  const { integrationId, providerId } = asked
  // No other takes over what was sent: most are, and looking for one costs something.
  const hasOther = outcome.kind !== 'sent' && message.other([...sending.tried, integrationId]) !== undefined
  const integration = facts.integrations.find((one) => one._id === integrationId)
  return {
    outcome,
    sending,
    channel,
    integrationId,
    idempotent: providerOf(providerId)?.idempotent === true,
    whenUnsure: integration?.configurations?.whenUnsure ?? undefined,
    downUntil: outcome.kind === 'sent' ? undefined : downUntilOf(rest(integrationId)),
    hasOther,
    // Those tried before are used again, if the one that was called is gone.
    canRepeat: isThere || hasOther || message.other([integrationId]) !== undefined,
    now,
    random,
  }
}

const downUntilOf = (rest: Rest | undefined): Date | undefined =>
  rest?.downSince === undefined ? undefined : rest.until

interface FollowUp {
  readonly facts: JobFacts
  readonly call: Called
  /** The integration that takes over. */
  readonly next: Integration | undefined
  /** Where it is held. */
  readonly rest: Rest | undefined
  /** When it is sent again. */
  readonly at: Date | null
  readonly isLeftUnsure: boolean
  readonly now: Date
  readonly random: number
}

/**
 * What the activity shows with the outcome: which integration takes over, or when the next attempt is, or that there is
 * none.
 */
function followUps({ facts, call, next, rest, at, isLeftUnsure, now, random }: FollowUp): StoredDetail[] {
  const { providerId, integrationId } = call.asked
  if (next !== undefined) return [selected(next, now)]
  if (isLeftUnsure) return [detail(now, 'leftUnsure', { providerId, raw: { messageId: call.message.id } })]
  if (at === null) return []
  const integration = facts.integrations.find((one) => one._id === integrationId)
  if (rest !== undefined && integration !== undefined) return [heldDetail({ integration, rest, now, random }, at)]
  const nextAttemptAt = at.toISOString()
  const words = `The message will be tried again at ${nextAttemptAt}`
  return [detail(now, 'retryScheduled', { words, providerId, isRetry: true, raw: { nextAttemptAt } })]
}

/** Which provider sends, in the words of the activity. */
export function selected(integration: Integration, now: Date): StoredDetail {
  const { providerId, identifier } = integration
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
