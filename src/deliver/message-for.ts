// The message as one provider is given it: with what the event wants otherwise of that provider.
import { merged } from '../domain/merged.ts'
import type { Envelope } from '../domain/messages/message.ts'
import type { EmailMessage, OutboundMessage } from '../domain/messages/outbound-message.ts'
import { emailCopy } from '../domain/messages/outbound-message.ts'

export interface Addressed {
  readonly id: string
  readonly envelope: Envelope
  readonly providerId: string
  /** The event's own; push messages carry it. */
  readonly payload: Readonly<Record<string, unknown>>
}

export function messageFor({ id, envelope, providerId, payload }: Addressed): OutboundMessage {
  const { forProviders } = envelope
  // A copy without one field is slow, and most messages have nothing for single providers.
  const message = forProviders === undefined ? envelope : withoutOverrides(envelope)
  const plain = 'html' in message ? emailCopy(id, message as Omit<EmailMessage, 'id'>) : withId(id, message, payload)
  const override = forProviders?.[providerId]
  if (override === undefined) return plain
  const { customData, passthrough } = override
  const own = { ...plain, ...override.message } as OutboundMessage
  return {
    ...own,
    ...(customData === undefined ? {} : { customData: merged(own.customData ?? {}, customData) }),
    ...(passthrough === undefined ? {} : { passthrough }),
  }
}

/** The new fields come first: after the spread they would cost twenty times as much. */
function withId(id: string, message: Omit<Envelope, 'forProviders'>, payload: Addressed['payload']): OutboundMessage {
  return ('target' in message ? { id, payload, ...message } : { id, ...message }) as OutboundMessage
}

function withoutOverrides(envelope: Envelope): Omit<Envelope, 'forProviders'> {
  const { forProviders: _, ...message } = envelope
  return message
}
