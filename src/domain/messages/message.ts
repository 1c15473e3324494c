// A message: one message on one channel, to one address; how it is created, and how sending it continues after each
// outcome.
import type { Channel } from '../delivery/integration.ts'
import type { EmailBlock, MessageCta, TemplateActor } from '../workflows/workflow.ts'
import type { ChatMessage, EmailMessage, Passthrough, PushMessage, SmsMessage } from './outbound-message.ts'

export const messageStatuses = ['sent', 'error', 'warning'] as const
export type MessageStatus = (typeof messageStatuses)[number]

export type MessageState = 'ready' | 'calling' | 'done'

/** The message as it will be sent, without what differs from integration to integration. */
export type Envelope = (
  | Omit<EmailMessage, 'id'>
  | Omit<SmsMessage, 'id'>
  // The payload is the event's own: it is added when it is sent, and not kept once a device.
  | Omit<PushMessage, 'id' | 'payload'>
  | Omit<ChatMessage, 'id'>
) & {
  /** By provider: the event's overrides if that one sends. */
  readonly forProviders?: Readonly<Record<string, ForProvider>>
}

export interface ForProvider {
  /** Fields of the message, replacing its own. */
  readonly message?: Readonly<Record<string, unknown>>
  /** Merged over the message's own. */
  readonly customData?: Readonly<Record<string, unknown>>
  readonly passthrough?: Passthrough
}

/** How sending has gone so far. */
export interface Sending {
  /** Calls made, over all integrations. */
  readonly attempts: number
  readonly firstAttemptAt?: string
  /** Busy responses of the current integration. */
  readonly busyAnswers: number
  /** When that integration was first asked. */
  readonly turnStartedAt?: string
  /** Integrations that had their turn. */
  readonly tried: readonly string[]
  /** Repeats after an outcome that was unsure. */
  readonly unsureRepeats: number
  /** How often our own process ended in the middle of a call. */
  readonly interruptions?: number
  /** How long it was held because its provider was down: time that counts for nothing else. */
  readonly heldMs?: number
  /** Not before this: other messages of its job may be due sooner. */
  readonly dueAt?: string
  /** Shares no request with others any more. */
  readonly alone?: true
  /** How often it was started again after it had finally failed. */
  readonly redrives?: number
}

/** How long the message itself is; the rest is small, and attachments have a separate budget. */
export const lettersOf = (envelope: Envelope): number =>
  'html' in envelope ? envelope.html.length + envelope.text.length : envelope.content.length

export const notYetSent: Sending = { attempts: 0, busyAnswers: 0, tried: [], unsureRepeats: 0 }

/** What a step wants to send. The target distinguishes the messages of one job: a device token, or nothing. */
export interface MessageDraft {
  readonly target: string
  readonly channel: Channel
  readonly content: string | readonly EmailBlock[]
  readonly subject?: string
  readonly title?: string
  readonly email?: string
  readonly phone?: string
  /** Chat: where it went. */
  readonly directWebhookUrl?: string
  /** Push: all the devices of the entry. */
  readonly deviceTokens?: readonly string[]
  readonly envelope?: Envelope
  /** The only integration that can send it: chat and push entries belong to one. */
  readonly integrationId?: string
  readonly cta?: MessageCta
  readonly actor?: TemplateActor
  readonly data?: Readonly<Record<string, unknown>>
}

/** Why a message did not arrive, in the interface's words. */
export interface MessageError {
  readonly errorId: string
  readonly errorText: string
  /** The same without the recipient's address, where the text names it: for what is stored apart from the message. */
  readonly textWithoutAddress?: string
}
