// How sending continues after an outcome: finished, again later, or with another integration.
import type { MessageError, MessageStatus, Sending } from '../messages/message.ts'
import type { Channel, UnsurePolicy } from './integration.ts'
import type { Outcome } from './outcome.ts'

/** Upper bounds of the waits between attempts; eight attempts, at most thirty minutes in total. */
const retryWaitsMs = [2_000, 8_000, 30_000, 120_000, 300_000, 600_000, 740_000]
export const attemptsMax = retryWaitsMs.length + 1
/** An integration that was busy this often, or for this long, makes way for the next: one-time codes cannot wait. */
const busyAnswersBeforeFailover = 2
const turnMsMax = 60_000
/** From the first attempt on, over all integrations. */
const budgetMs = 1_800_000
/** A second mail annoys; a second SMS costs money and trust. An integration may say otherwise. */
const usualPolicies: Readonly<Record<Channel, UnsurePolicy>> = {
  in_app: 'skip',
  email: 'retry',
  push: 'retry',
  sms: 'skip',
  chat: 'skip',
}
/**
 * Retries after a provider timed out, cut the connection or returned garbage; by then it has delivered what it
 * accepted.
 */
const unsureRepeatsMax = 2
const unsureRepeatAfterMs = 600_000
/** Between repeats of a call that our own process did not survive. */
const interruptedWaitMsMax = 60_000
/** What is held because its provider is down is given up like any other message after this. */
export const heldMsMax = 3 * 86_400_000

export interface OutcomeSituation {
  readonly outcome: Outcome
  readonly sending: Sending
  readonly channel: Channel
  readonly integrationId: string
  /** Whether the provider knows a repeat by its key. */
  readonly idempotent: boolean
  /** The integration's setting for messages that may have been sent; undefined: the default of the channel. */
  readonly whenUnsure?: UnsurePolicy | undefined
  /** When the provider, which is considered down as a whole, is tried again. */
  readonly downUntil?: Date | undefined
  /** Whether another integration of the channel has not had its turn. */
  readonly hasOther: boolean
  /** Whether there is another integration that could repeat it. */
  readonly canRepeat: boolean
  readonly now: Date
  /** From 0 up to 1. */
  readonly random: number
}

export type AfterOutcome =
  | {
      readonly kind: 'over'
      readonly status: MessageStatus
      readonly error: MessageError | null
      /** It was perhaps sent, and is not sent again. */
      readonly leftUnsure?: true
    }
  | {
      readonly kind: 'again'
      readonly at: Date
      readonly sending: Sending
      /** Whether the next integration takes over. */
      readonly failover: boolean
      /** Null if the call had no result: the stored one is kept. */
      readonly status: MessageStatus | null
      readonly error: MessageError | null
      /** The provider is down: the message waits until it is back, and the wait costs it nothing. */
      readonly held?: true
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
      return outcome.interrupted === true
        ? afterInterruption(situation, outcome.detail)
        : afterUnsure(situation, outcome.detail)
    case 'withheld':
      return afterWithheld(situation)
  }
}

/** It never left: should the job still be ours, it is as if it had not begun. */
function afterWithheld({ sending, now }: OutcomeSituation): AfterOutcome {
  const uncounted: Sending = { ...sending, attempts: Math.max(0, sending.attempts - 1) }
  return { kind: 'again', at: now, sending: uncounted, failover: false, status: null, error: null }
}

/** This call certainly sent nothing; whether an earlier one did may be unknown, and then it has not failed. */
function givenUp({ sending }: OutcomeSituation, error: MessageError): AfterOutcome {
  const isPerhapsSent = sending.unsureRepeats > 0 || (sending.interruptions ?? 0) > 0
  if (isPerhapsSent) return { kind: 'over', status: 'warning', error, leftUnsure: true }
  return { kind: 'over', status: 'error', error }
}

function afterMisconfigured(situation: OutcomeSituation, words: string): AfterOutcome {
  const error = sendErrorOf(situation.channel, words)
  if (!situation.hasOther) return givenUp(situation, error)
  return { kind: 'again', at: situation.now, sending: nextTurn(situation), failover: true, status: 'error', error }
}

function afterBusy(situation: OutcomeSituation, outcome: Outcome & { kind: 'busy' }): AfterOutcome {
  const { sending, now, channel } = situation
  const error = sendErrorOf(channel, outcome.detail)
  const held = outcome.down === true ? afterDown(situation, error) : undefined
  if (held !== undefined) return held
  const spentMs = now.getTime() - Date.parse(sending.firstAttemptAt ?? now.toISOString())
  if (sending.attempts >= attemptsMax || spentMs >= budgetMs) return givenUp(situation, error)
  const alone = outcome.alone === true ? { alone: true as const } : {}
  const waited: Sending = { ...sending, ...alone, busyAnswers: sending.busyAnswers + 1 }
  const turnMs = now.getTime() - Date.parse(sending.turnStartedAt ?? now.toISOString())
  const waitMs = Math.min(Math.max(jitteredWaitMs(situation), outcome.retryAfterMs ?? 0), budgetMs - spentMs)
  const hasWaitedTooLong = waited.busyAnswers >= busyAnswersBeforeFailover || turnMs + waitMs > turnMsMax
  if (hasWaitedTooLong && situation.hasOther) {
    return { kind: 'again', at: now, sending: nextTurn(situation), failover: true, status: 'error', error }
  }
  const at = new Date(now.getTime() + waitMs)
  return { kind: 'again', at, sending: waited, failover: false, status: 'error', error }
}

/**
 * A provider that is down is not called by every message in turn: the next integration takes over, or the message is
 * held until the provider is tried again. Neither uses up an attempt. Undefined if the provider is not down.
 */
function afterDown(situation: OutcomeSituation, error: MessageError): AfterOutcome | undefined {
  const { downUntil, hasOther, now, sending } = situation
  const sinceMs = now.getTime() - Date.parse(sending.firstAttemptAt ?? now.toISOString()) + (sending.heldMs ?? 0)
  if (downUntil === undefined || sinceMs >= heldMsMax) return undefined
  if (hasOther) return { kind: 'again', at: now, sending: nextTurn(situation), failover: true, status: 'error', error }
  const uncounted: Sending = { ...sending, attempts: Math.max(0, sending.attempts - 1) }
  return { kind: 'again', at: downUntil, sending: uncounted, failover: false, status: 'error', error, held: true }
}

function afterUnsure(situation: OutcomeSituation, words: string): AfterOutcome {
  const { sending, channel, now, downUntil } = situation
  const error = sendErrorOf(channel, words)
  const leftUnsure = { kind: 'over', status: 'warning', error, leftUnsure: true } as const
  if (!situation.canRepeat || sending.attempts >= attemptsMax) return leftUnsure
  const repeated: Sending = { ...sending, unsureRepeats: sending.unsureRepeats + 1 }
  const repeat = { kind: 'again', sending: repeated, failover: false, status: 'warning', error } as const
  if (situation.idempotent)
    return { ...repeat, at: laterOf(new Date(now.getTime() + jitteredWaitMs(situation)), downUntil) }
  if (policyOf(situation) === 'skip' || sending.unsureRepeats >= unsureRepeatsMax) return leftUnsure
  return { ...repeat, at: laterOf(new Date(now.getTime() + unsureRepeatAfterMs), downUntil) }
}

/** Our process ended in the middle of the call. Repeated until there is a response, unless a repeat may do harm. */
function afterInterruption(situation: OutcomeSituation, words: string): AfterOutcome {
  const { sending, channel, now, random } = situation
  const error = sendErrorOf(channel, words)
  const mayRepeat = situation.idempotent || policyOf(situation) === 'retry'
  if (!mayRepeat || !situation.canRepeat) return { kind: 'over', status: 'warning', error, leftUnsure: true }
  const interruptions = (sending.interruptions ?? 0) + 1
  const waitMs = Math.min(interruptedWaitMsMax, 500 * 2 ** Math.min(interruptions, 10)) * random
  const uncounted: Sending = { ...sending, attempts: Math.max(0, sending.attempts - 1), interruptions }
  const at = new Date(now.getTime() + waitMs)
  return { kind: 'again', at, sending: uncounted, failover: false, status: 'warning', error }
}

const policyOf = ({ whenUnsure, channel }: OutcomeSituation): UnsurePolicy => whenUnsure ?? usualPolicies[channel]

const laterOf = (one: Date, other: Date | undefined): Date => (other !== undefined && other > one ? other : one)

/** Full jitter: anything up to the bound, so that those who failed together do not come back together. */
function jitteredWaitMs({ sending, random }: OutcomeSituation): number {
  const index = Math.min(Math.max(0, sending.attempts - 1), retryWaitsMs.length - 1)
  return Math.round((retryWaitsMs[index] ?? 0) * random)
}

function nextTurn({ sending, integrationId }: OutcomeSituation): Sending {
  const { turnStartedAt: _, ...rest } = sending
  return { ...rest, busyAnswers: 0, tried: [...sending.tried, integrationId] }
}

/** What is known when a call starts. `heldMs`: how long it was held since the last one, which does not count. */
export function beginAttempt(sending: Sending, now: Date, heldMs = 0): Sending {
  const at = now.toISOString()
  const before = heldMs > 0 ? withoutHeld(sending, heldMs) : sending
  // New fields come first: after the spread they would cost twenty times as much, and this is for every message.
  return { firstAttemptAt: at, turnStartedAt: at, ...withoutDue(before), attempts: before.attempts + 1 }
}

const withoutHeld = (sending: Sending, heldMs: number): Sending => ({
  ...begunLater(sending, heldMs),
  heldMs: (sending.heldMs ?? 0) + heldMs,
})

/** As if it had begun so much later. */
function begunLater(sending: Sending, ms: number): Sending {
  const later = (at: string): string => new Date(Date.parse(at) + ms).toISOString()
  const { firstAttemptAt, turnStartedAt } = sending
  return {
    ...sending,
    ...(firstAttemptAt === undefined ? {} : { firstAttemptAt: later(firstAttemptAt) }),
    ...(turnStartedAt === undefined ? {} : { turnStartedAt: later(turnStartedAt) }),
  }
}

/**
 * By this node's clock, what another node may have written by its own: the queue, which goes by neither, has woken the message
 * at its time. How much later than that it came counts for nothing: the queue was long, or the clocks differ.
 */
export function resumedAt(sending: Sending, now: Date): Sending {
  if (sending.dueAt === undefined) return sending
  return { ...begunLater(sending, now.getTime() - Date.parse(sending.dueAt)), dueAt: now.toISOString() }
}

/** A copy without one field is slow, and a first attempt has none. */
export function withoutDue(sending: Sending): Sending {
  if (sending.dueAt === undefined) return sending
  const { dueAt: _, ...rest } = sending
  return rest
}
