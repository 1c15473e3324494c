// Slots for the messages of one job: as many as there are now, so that no job waits for one while it holds another.

import type { BatchPlan, BatchSlot, Sharing } from '../../deliver/batch-slots.ts'
import { usualCallsMax } from '../../deliver/call-window.ts'
import type { Limits } from '../../deliver/limits.ts'
import { callsMax } from '../../deliver/limits.ts'
import { messageFor } from '../../deliver/message-for.ts'
import { beginAttempt } from '../../domain/delivery/after-outcome.ts'
import type { Credentials, Integration } from '../../domain/delivery/integration.ts'
import { isCapturing } from '../../domain/delivery/integration.ts'
import type { JobState } from '../../domain/delivery/job.ts'
import { lettersOf } from '../../domain/messages/message.ts'
import { providerOf } from '../../providers/registry.ts'
import type { BegunMessage, LaterMessage, Outgoing, OutgoingMessage } from './outgoing.ts'
import { withOperatorMail } from './outgoing.ts'
import type { RateShares } from './rate-shares.ts'

export interface SlotParts {
  readonly limits: Limits
  readonly rates: RateShares
  readonly batchPlan: BatchPlan
  /** As for choosing an integration: it says how many mails leave at once by the built-in e-mail. */
  readonly operatorMail: Credentials | undefined
  readonly now: Date
}

/** Those with a slot begin their attempt; messages without one are left for later. */
export function takeSlots(parts: SlotParts, outgoing: Outgoing): Outgoing<BegunMessage> {
  const begun: BegunMessage[] = []
  const later: LaterMessage[] = []
  const heldMs = heldFor(outgoing.facts.job.state, parts.now)
  for (const message of outgoing.messages) {
    const slot = slotFor(parts, message, outgoing)
    if (slot === undefined) later.push(message)
    else begun.push(begunWith(slot, message, parts.now, heldMs))
  }
  return { ...outgoing, messages: begun, later: later.length === 0 ? outgoing.later : [...later, ...outgoing.later] }
}

function slotFor(
  { limits, rates, batchPlan, operatorMail, now }: SlotParts,
  message: OutgoingMessage,
  outgoing: Outgoing,
): BatchSlot | undefined {
  const { integration } = message
  // One that captures calls no provider, whatever that requires.
  if (!isCapturing(integration) && limits.rest(integration._id, now) !== undefined) return undefined
  if (!rates.mayTake(outgoing.environment, integration)) return undefined
  const max = callsMaxOf(integration, operatorMail)
  const isShared = max.isOfAccount && !isCapturing(integration)
  const ours = isShared ? rates.callsMax(outgoing.environment, integration, max.calls) : max.calls
  const slot = batchPlan.take(integration._id, ours, lettersOf(message.envelope), sharingOf(message, outgoing))
  if (slot !== undefined) rates.take(integration)
  return slot
}

export interface CallsMax {
  readonly calls: number
  /** The account accepts no more from all nodes together; otherwise it is what one process usually makes. */
  readonly isOfAccount: boolean
}

const knownMax = new WeakMap<Integration, CallsMax>()

/** The maximum number of concurrent calls of an account: for SMTP its connections. */
export function callsMaxOf(integration: Integration, operatorMail: Credentials | undefined): CallsMax {
  const known = knownMax.get(integration)
  if (known !== undefined) return known
  const own = ownMaxOf(withOperatorMail({ operatorMail }, integration))
  // Larger numbers are those of a connection, of which each process has its own.
  const isOfAccount = own !== undefined && own < usualCallsMax
  const max = { calls: own ?? maxByRate(integration), isOfAccount }
  knownMax.set(integration, max)
  return max
}

/** At least one, or its messages would wait forever. A provider that fails over its account says nothing. */
function ownMaxOf({ providerId, credentials }: Integration): number | undefined {
  try {
    const max = providerOf(providerId)?.concurrency?.(credentials as never)
    return max === undefined || Number.isNaN(max) ? undefined : Math.max(1, max)
  } catch {
    return undefined
  }
}

/** A vendor that names how many it takes a second is given no more at once, as calls take less than a second. */
function maxByRate({ providerId }: Integration): number {
  const perSecond = providerOf(providerId)?.limits?.perSecond ?? callsMax
  return Math.min(callsMax, Math.max(usualCallsMax, perSecond))
}

/** How long the job was held because its provider was down. */
const heldFor = (state: JobState | null, now: Date): number =>
  state?.heldSince === undefined ? 0 : Math.max(0, now.getTime() - Date.parse(state.heldSince))

/** Field by field, as it is done for every message. */
function begunWith(slot: BatchSlot, message: OutgoingMessage, now: Date, heldMs: number): BegunMessage {
  const { id, channel, envelope, integration, other, draft, sending: before } = message
  const sending = beginAttempt(before, now, heldMs)
  // A captured message calls no provider, so nothing reports when it leaves.
  const marksLater = providerOf(integration.providerId)?.marksItself === true && !isCapturing(integration)
  if (draft === undefined) return { slot, id, channel, envelope, sending, before, marksLater, integration, other }
  return { slot, id, channel, envelope, sending, before, marksLater, integration, other, draft }
}

/** A provider that fails over a message must not cost those that already hold slots: that message goes alone. */
function sharingOf(message: OutgoingMessage, outgoing: Outgoing): Sharing | undefined {
  try {
    return sharingAt(message, outgoing)
  } catch {
    return undefined
  }
}

/** Undefined if its provider accepts one message at a time, or this one goes alone. */
function sharingAt(outgoing: OutgoingMessage, { facts }: Outgoing): Sharing | undefined {
  const { id, integration, envelope, sending } = outgoing
  const { providerId } = integration
  const batching = providerOf(providerId)?.batching
  // Files are read for each message when it is its turn.
  if (batching === undefined || sending.alone === true || facts.event.attachments > 0) return undefined
  // An e-mail without overrides for single providers is examined as it is: no vendor shares calls by our ids.
  const isPlain = 'html' in envelope && envelope.forProviders === undefined
  const message = isPlain ? envelope : messageFor({ id, envelope, providerId, payload: facts.event.payload })
  const key = batching.key(message as never, integration.credentials)
  if (key === undefined) return undefined
  return { key, max: batching.max }
}

/** Those whose integration need not pause come first: the job waits in their queue. */
export function restedFirst(limits: Limits, outgoing: Outgoing, now: Date): Outgoing {
  if (outgoing.messages.length < 2) return outgoing
  const rests = ({ integration }: OutgoingMessage): boolean => limits.rest(integration._id, now) !== undefined
  const { messages } = outgoing
  return { ...outgoing, messages: [...messages.filter((one) => !rests(one)), ...messages.filter(rests)] }
}

/** In whose queue it waits. */
export const queueKeyOf = ({ messages }: Outgoing): string => messages[0]?.integration._id ?? ''
