// The message as one provider is given it: with what the event wants otherwise of that provider.
import { merged } from '../domain/merged.ts'
import type { Envelope } from '../domain/message.ts'
import type { OutboundMessage } from '../domain/outbound-message.ts'

export interface Addressed {
  readonly id: string
  readonly envelope: Envelope
  readonly providerId: string
  /** The event's own; push messages carry it. */
  readonly payload: Readonly<Record<string, unknown>>
}

export function messageFor({ id, envelope, providerId, payload }: Addressed): OutboundMessage {
  const { forProviders } = envelope
  // A copy without one member is slow, and most say nothing of single providers.
  const message = forProviders === undefined ? envelope : withoutWishes(envelope)
  // What is new stands first: behind the spread it would cost twenty times as much.
  const plain = ('target' in message ? { id, payload, ...message } : { id, ...message }) as OutboundMessage
  const wish = forProviders?.[providerId]
  if (wish === undefined) return plain
  const { customData, passthrough } = wish
  const own = { ...plain, ...wish.message } as OutboundMessage
  return {
    ...own,
    ...(customData === undefined ? {} : { customData: merged(own.customData ?? {}, customData) }),
    ...(passthrough === undefined ? {} : { passthrough }),
  }
}

function withoutWishes(envelope: Envelope): Omit<Envelope, 'forProviders'> {
  const { forProviders: _, ...message } = envelope
  return message
}
