// Slots for the messages of one job: as many as there are now, so that no job waits for one while it holds another.
import { messageFor } from '../../deliver/message-for.ts'
import type { Seat, Seating, Sharing } from '../../deliver/seats.ts'
import type { Slots } from '../../deliver/slots.ts'
import { beginAttempt } from '../../domain/after-outcome.ts'
import { isCapturing } from '../../domain/integration.ts'
import { providerOf } from '../../providers/registry.ts'
import { lookAgainAt } from './look-again.ts'
import type { BegunMessage, LaterMessage, Outgoing, OutgoingMessage } from './outgoing.ts'

/** Those with a slot begin their attempt; messages without one are left for later. */
export function takeSlots(slots: Slots, seating: Seating, outgoing: Outgoing, now: Date): Outgoing<BegunMessage> {
  const begun: BegunMessage[] = []
  const later: LaterMessage[] = []
  for (const message of outgoing.messages) {
    const { _id } = message.integration
    // One that captures asks nobody, whatever its provider wants.
    const rests = slots.isPaused(_id, now) && !isCapturing(message.integration)
    const seat = rests ? undefined : seating.take(_id, sharingOf(message, outgoing))
    if (seat === undefined) later.push(message)
    else begun.push(begunWith(seat, message, now))
  }
  return { ...outgoing, messages: begun, later: [...later, ...outgoing.later] }
}

/** Member by member, as it is done for every message. */
function begunWith(seat: Seat, message: OutgoingMessage, now: Date): BegunMessage {
  const { id, channel, envelope, integration, other, draft } = message
  const sending = beginAttempt(message.sending, now)
  if (draft === undefined) return { seat, id, channel, envelope, sending, integration, other }
  return { seat, id, channel, envelope, sending, integration, other, draft }
}

/** A provider that breaks over a message must not cost those that hold seats already: that message goes alone. */
function sharingOf(message: OutgoingMessage, outgoing: Outgoing): Sharing | undefined {
  try {
    return sharingAt(message, outgoing)
  } catch {
    return undefined
  }
}

/** Undefined where its provider takes one message at a time, or this one goes alone. */
function sharingAt(outgoing: OutgoingMessage, { facts }: Outgoing): Sharing | undefined {
  const { id, integration, envelope, sending } = outgoing
  const { providerId } = integration
  const batching = providerOf(providerId)?.batching
  // Files are read for each message when it is its turn.
  if (batching === undefined || sending.alone === true || facts.event.attachments > 0) return undefined
  // An e-mail that says nothing of single providers is looked at as it is: no vendor shares calls by our ids.
  const isPlain = 'html' in envelope && envelope.forProviders === undefined
  const message = isPlain ? envelope : messageFor({ id, envelope, providerId, payload: facts.event.payload })
  const key = batching.key(message as never, integration.credentials)
  if (key === undefined) return undefined
  const bytes = 'html' in message ? message.html.length + message.text.length : message.content.length
  return { key, max: batching.max, bytes }
}

/** Those whose integration need not rest come first: the job waits in their line. */
export function unpausedFirst(slots: Slots, outgoing: Outgoing, now: Date): Outgoing {
  if (outgoing.messages.length < 2) return outgoing
  const isPaused = ({ integration }: OutgoingMessage): boolean => slots.isPaused(integration._id, now)
  const { messages } = outgoing
  return { ...outgoing, messages: [...messages.filter((one) => !isPaused(one)), ...messages.filter(isPaused)] }
}

/** In whose line it waits. */
export const lineOf = ({ messages }: Outgoing): string => messages[0]?.integration._id ?? ''

/** When a job is looked at again whose integrations all have to rest; at once where one need not. */
export function restOver(slots: Slots, { messages }: Outgoing, now: Date): Date {
  const ends = messages.map(({ integration: { _id } }) =>
    slots.isPaused(_id, now) ? lookAgainAt(slots, _id, now).getTime() : now.getTime(),
  )
  return new Date(Math.min(...ends))
}
