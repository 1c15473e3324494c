// How sending goes on after an outcome: over, again later, or with another integration.
import type { Channel } from './integration.ts'
import type { MessageError, MessageStatus, Sending } from './message.ts'
import type { Outcome } from './outcome.ts'

/** Upper bounds of the waits between attempts; eight attempts, thirty minutes in all at the most. */
const retryWaitsMs = [2_000, 8_000, 30_000, 120_000, 300_000, 600_000, 740_000]
export const attemptsMax = retryWaitsMs.length + 1
/** An integration that was busy so often, or for so long, makes way for the next: one-time codes cannot wait. */
const busyAnswersBeforeFailover = 2
const turnMsMax = 60_000
/** From the first attempt on, over all integrations. */
const budgetMs = 1_800_000
/** How often a message that was perhaps sent is repeated where the provider cannot tell a repeat from a new one. */
const unsureRepeatsMax: Readonly<Record<Channel, number>> = { in_app: 0, email: 1, push: 1, sms: 0, chat: 0 }

export interface OutcomeSituation {
  readonly outcome: Outcome
  readonly sending: Sending
  readonly channel: Channel
  readonly integrationId: string
  /** Whether the provider knows a repeat by its key. */
  readonly idempotent: boolean
  /** Whether another integration of the channel has not had its turn. */
  readonly hasOther: boolean
  /** Whether anybody is left who could repeat it. */
  readonly canRepeat: boolean
  readonly now: Date
  /** From 0 up to 1. */
  readonly random: number
}

export type AfterOutcome =
  | { readonly kind: 'over'; readonly status: MessageStatus; readonly error: MessageError | null }
  | {
      readonly kind: 'again'
      readonly at: Date
      readonly sending: Sending
      /** Whether the next integration takes over. */
      readonly failover: boolean
      readonly status: MessageStatus
      readonly error: MessageError
    }

const errorIds: Readonly<Record<Channel, string>> = {
  in_app: 'unexpected_in_app_error',
  email: 'mail_unexpected_error',
  sms: 'unexpected_sms_error',
  push: 'unexpected_push_error',
  chat: 'unexpected_chat_error',
}

export const sendErrorOf = (channel: Channel, errorText: string): MessageError => ({
  errorId: errorIds[channel],
  errorText,
})

export function afterOutcome(situation: OutcomeSituation): AfterOutcome {
  const { outcome, channel } = situation
  switch (outcome.kind) {
    case 'sent':
      return { kind: 'over', status: 'sent', error: null }
    case 'refused':
      return { kind: 'over', status: 'error', error: sendErrorOf(channel, outcome.detail) }
    case 'misconfigured':
      return afterMisconfigured(situation, outcome.detail)
    case 'busy':
      return afterBusy(situation, outcome)
    case 'unsure':
      return afterUnsure(situation, outcome.detail)
    case 'withheld':
      return afterBusy(situation, { kind: 'busy', detail: outcome.detail })
  }
}

function afterMisconfigured(situation: OutcomeSituation, words: string): AfterOutcome {
  const error = sendErrorOf(situation.channel, words)
  if (!situation.hasOther) return { kind: 'over', status: 'error', error }
  return { kind: 'again', at: situation.now, sending: nextTurn(situation), failover: true, status: 'error', error }
}

function afterBusy(situation: OutcomeSituation, outcome: Outcome & { kind: 'busy' }): AfterOutcome {
  const { sending, now, channel } = situation
  const error = sendErrorOf(channel, outcome.detail)
  const spentMs = now.getTime() - Date.parse(sending.firstAttemptAt ?? now.toISOString())
  if (sending.attempts >= attemptsMax || spentMs >= budgetMs) return { kind: 'over', status: 'error', error }
  const alone = outcome.alone === true ? { alone: true as const } : {}
  const waited: Sending = { ...sending, ...alone, busyAnswers: sending.busyAnswers + 1 }
  const turnMs = now.getTime() - Date.parse(sending.turnStartedAt ?? now.toISOString())
  const waitMs = Math.min(Math.max(jitteredWaitMs(situation), outcome.retryAfterMs ?? 0), budgetMs - spentMs)
  const isTired = waited.busyAnswers >= busyAnswersBeforeFailover || turnMs + waitMs > turnMsMax
  if (isTired && situation.hasOther) {
    return { kind: 'again', at: now, sending: nextTurn(situation), failover: true, status: 'error', error }
  }
  const at = new Date(now.getTime() + waitMs)
  return { kind: 'again', at, sending: waited, failover: false, status: 'error', error }
}

function afterUnsure(situation: OutcomeSituation, words: string): AfterOutcome {
  const { sending, channel, now } = situation
  const error = sendErrorOf(channel, words)
  const mayRepeat = situation.idempotent || sending.unsureRepeats < unsureRepeatsMax[channel]
  if (!mayRepeat || !situation.canRepeat || sending.attempts >= attemptsMax)
    return { kind: 'over', status: 'warning', error }
  const at = new Date(now.getTime() + jitteredWaitMs(situation))
  const repeated: Sending = { ...sending, unsureRepeats: sending.unsureRepeats + 1 }
  return { kind: 'again', at, sending: repeated, failover: false, status: 'warning', error }
}

/** Full jitter: anything up to the bound, so that those who failed together do not come back together. */
function jitteredWaitMs({ sending, random }: OutcomeSituation): number {
  const index = Math.min(Math.max(0, sending.attempts - 1), retryWaitsMs.length - 1)
  return Math.round((retryWaitsMs[index] ?? 0) * random)
}

function nextTurn({ sending, integrationId }: OutcomeSituation): Sending {
  const { turnStartedAt: _, ...rest } = sending
  return { ...rest, busyAnswers: 0, tried: [...sending.tried, integrationId] }
}

/** What is known when a call begins. */
export function beginAttempt(sending: Sending, now: Date): Sending {
  const at = now.toISOString()
  // What may be new stands first: behind the spread it would cost twenty times as much, and this is for every message.
  return { firstAttemptAt: at, turnStartedAt: at, ...withoutDue(sending), attempts: sending.attempts + 1 }
}

/** A copy without one member is slow, and a first attempt has none. */
function withoutDue(sending: Sending): Sending {
  if (sending.dueAt === undefined) return sending
  const { dueAt: _, ...rest } = sending
  return rest
}
