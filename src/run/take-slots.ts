// Slots for the messages of one job: as many as there are now, so that no job waits for one while it holds another.
import type { Slots } from '../deliver/slots.ts'
import { lookAgainAt } from './look-again.ts'
import type { Outgoing, OutgoingMessage } from './outgoing.ts'

/** Messages without a slot are left for later. One slot of `heldOf` is held already. */
export function takeSlots(slots: Slots, outgoing: Outgoing, now: Date, heldOf?: string): Outgoing {
  let held = heldOf
  const begun: OutgoingMessage[] = []
  const later: OutgoingMessage[] = []
  for (const message of outgoing.messages) {
    const { _id } = message.integration
    const isHeld = held === _id
    if (isHeld) held = undefined
    const hasSlot = isHeld || (!slots.isPaused(_id, now) && slots.take(_id, 1) === 1)
    if (hasSlot) begun.push(message)
    else later.push(message)
  }
  return { ...outgoing, messages: begun, later: [...later, ...outgoing.later] }
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
