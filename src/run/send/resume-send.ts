// A job whose messages were in flight: what was ready is sent, what was being called counts as possibly sent.

import { resumedAt, sendErrorOf, withoutDue } from '../../domain/delivery/after-outcome.ts'
import type { Job } from '../../domain/delivery/job.ts'
import { interruptedCall } from '../../domain/delivery/outcome.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { Sending } from '../../domain/messages/message.ts'
import type { JobOutcome } from '../../record/job-outcome.ts'
import { settles } from '../../record/settlement.ts'
import type { UnsentMessage } from '../../store/messages/sending.ts'
import type { World } from '../../world/world.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { Facts } from '../decide/load-facts.ts'
import { nextOf } from '../decide/settle-decision.ts'
import type { Called, Choose, Outgoing, OutgoingMessage } from './outgoing.ts'
import { chooserOf } from './outgoing.ts'
import type { OutgoingParts } from './place-sends.ts'
import { heldTooLong, isHeldTooLong, rested } from './resting.ts'
import { dueOf, reportedWith, settleCalls, settleOutcomes } from './settle-outcomes.ts'

const interrupted = 'The service stopped during the call to the provider; it is unknown whether the message was sent'

export type ResumingParts = OutgoingParts & { readonly world: Pick<World, 'random'> }

export interface Resuming {
  readonly now: Date
  /** Marked by a write that gave no answer, and certainly not called. */
  wasNeverCalled(job: Job, messageId: string): boolean
}

export function resumeSend(
  parts: ResumingParts,
  environment: Environment,
  facts: Facts,
  job: JobFacts,
  { now, wasNeverCalled }: Resuming,
): Outgoing | JobOutcome {
  const unsent = facts.unsent.get(job.job.id) ?? []
  // All is known of the messages; only the job is not settled.
  if (unsent.length === 0) return allDone(job)
  const isCalling = ({ state, id }: UnsentMessage): boolean => state === 'calling' && !wasNeverCalled(job.job, id)
  const calling = unsent.filter(isCalling)
  const ready = unsent.filter((message) => !isCalling(message)).map(uncounted)
  if (calling.length > 0) {
    const { limits, world } = parts
    const calls = calling.map((message) => interruption(facts, message, chooserOf(parts, facts, job, message)))
    const settling = { now, random: world.random(), rest: (id: string) => limits.rest(id, now) }
    return settleOutcomes(job, calls, settling, ready)
  }
  const due = dueNow(ready, now)
  const found = due.map((message) => ({
    message,
    outgoing: outgoingMessage(parts, facts, inOwnTime(job, message, now), chooserOf(parts, facts, job, message), now),
  }))
  const gone = found.flatMap(({ message, outgoing }) => (outgoing === undefined ? [message] : []))
  const without = (some: readonly UnsentMessage[]) => ready.filter((message) => !some.includes(message))
  if (gone.length > 0) return givenUp(job, { messages: gone, left: without(gone), ...noneLeft }, now)
  const waited = found.flatMap(({ message, outgoing }) =>
    outgoing !== undefined && isGivenUp(parts, job, outgoing, now) ? [message] : [],
  )
  if (waited.length > 0) return givenUp(job, { messages: waited, left: without(waited), ...tooLong }, now)
  const later = ready.filter((message) => !due.includes(message))
  return { environment, facts: job, messages: found.flatMap(({ outgoing }) => outgoing ?? []), later }
}

/** One that was sent before is enough; one with an unknown result is not. */
function allDone(job: JobFacts): JobOutcome {
  const status = job.job.state?.leftUnsure === true && job.job.state.reached !== true ? 'skipped' : 'completed'
  return { settlement: settles(job.job, status, { next: nextOf(job) }), results: [] }
}

/** A mark that was followed by no call was no attempt. */
function uncounted(message: UnsentMessage): UnsentMessage {
  if (message.state !== 'calling') return message
  const { sending } = message
  return { ...message, state: 'ready', sending: { ...sending, attempts: Math.max(0, sending.attempts - 1) } }
}

/** Those that are due; the first of them in any case, because the queue's own clock woke the job for it. */
function dueNow(ready: readonly UnsentMessage[], now: Date): readonly UnsentMessage[] {
  const first = Math.min(...ready.map(({ sending }) => dueOf(sending, now).getTime()))
  const until = Math.max(first, now.getTime())
  return ready.filter(({ sending }) => dueOf(sending, now).getTime() <= until)
}

/** The times of one that was held are moved when it is called. */
const inOwnTime = ({ job }: JobFacts, message: UnsentMessage, now: Date): UnsentMessage =>
  job.state?.heldSince === undefined ? { ...message, sending: resumedAt(message.sending, now) } : message

function interruption(facts: Facts, message: UnsentMessage, choose: Choose): Called {
  const { integrationId, providerId } = message
  return {
    message: { ...message, other: choose },
    asked: { integrationId, providerId },
    isThere: facts.integrations.some((one) => one._id === integrationId),
    outcome: interruptedCall(interrupted),
  }
}

/**
 * The integration it last used, if that can still send; otherwise the next in the order of preference. If none is left
 * that was not tried, those that were tried are used again: the one they made way for is gone.
 */
function outgoingMessage(
  { limits }: Pick<ResumingParts, 'limits'>,
  facts: Facts,
  message: UnsentMessage,
  choose: Choose,
  now: Date,
): OutgoingMessage | undefined {
  const { id, channel, envelope, sending, integrationId } = message
  // One that was called and is gone had its turn: what was tried with it is not captured instead.
  const tried = sending.attempts > 0 ? [...sending.tried, integrationId] : sending.tried
  const before = facts.integrations.find((one) => one._id === integrationId && one.channel === channel)
  const stays = before !== undefined && !sending.tried.includes(before._id)
  const next = stays ? before : choose(tried)
  if (next !== undefined) {
    const integration = rested(limits, choose, next, tried, now)
    return integration && { id, channel, envelope, sending, integration, other: choose }
  }
  const gone = [integrationId]
  const again = rested(limits, choose, choose(gone), gone, now)
  return again && { id, channel, envelope, sending: fromTheFirst(sending), integration: again, other: choose }
}

/** All may be tried again; attempts and time continue to count. */
function fromTheFirst(sending: Sending): Sending {
  const { turnStartedAt: _, ...rest } = sending
  return { ...rest, busyAnswers: 0, tried: [] }
}

/** Held for too long, and its provider still taken to be down: others find out whether it is back. */
function isGivenUp(
  { limits }: Pick<ResumingParts, 'limits'>,
  { job }: JobFacts,
  { integration, sending }: OutgoingMessage,
  now: Date,
) {
  if (!isHeldTooLong(job, now, sending.heldMs)) return false
  const rest = limits.rest(integration._id, now) ?? limits.probe(integration._id, now)
  return rest?.downSince !== undefined
}

interface GivenUp {
  readonly messages: readonly UnsentMessage[]
  /** The rest of the job comes back at its time. */
  readonly left: readonly UnsentMessage[]
  readonly code: 'noIntegration' | 'providerError'
  readonly words: string
}

const noneLeft = { code: 'noIntegration', words: 'No active integration is left to send this message' } as const
const tooLong = { code: 'providerError', words: heldTooLong } as const

/** Final for those messages: no provider is called for them any more. */
function givenUp(job: JobFacts, { messages, left, code, words }: GivenUp, now: Date): JobOutcome {
  const isPerhapsSent = ({ sending }: UnsentMessage): boolean =>
    sending.unsureRepeats > 0 || (sending.interruptions ?? 0) > 0
  const details =
    code === 'noIntegration'
      ? [detail(now, code)]
      : messages.map(({ providerId }) => detail(now, code, { providerId, raw: { message: words } }))
  return {
    settlement: settleCalls(job, {
      details,
      state: job.job.state ?? {},
      isReached: false,
      isLeftUnsure: messages.some(isPerhapsSent),
      again: left.map(({ sending }) => dueOf(sending, now)),
      now,
    }),
    results: messages.map((message) => ({
      id: message.id,
      state: 'done',
      status: isPerhapsSent(message) ? 'warning' : 'error',
      error: sendErrorOf(message.channel, words),
      providerMessageId: null,
      sending: withoutDue(message.sending),
      nextIntegrationId: null,
      isTest: false,
      ...reportedWith(job),
    })),
  }
}
