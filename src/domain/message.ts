// A message: one thing said on one channel, to one address; how it is made, and how sending it goes on after each outcome.
import type { Channel } from './integration.ts'
import type { EmailMessage } from './outbound-message.ts'
import type { EmailBlock, MessageCta, TemplateActor } from './workflow.ts'

export const messageStatuses = ['sent', 'error', 'warning'] as const
export type MessageStatus = (typeof messageStatuses)[number]

export type MessageState = 'ready' | 'calling' | 'done'

/** The e-mail as it will be sent, without what differs from integration to integration. */
export type Envelope = Omit<EmailMessage, 'id'>

/** How sending has gone so far. */
export interface Sending {
  /** Calls made, over all integrations. */
  readonly attempts: number
  readonly firstAttemptAt?: string
  /** Busy answers of the integration whose turn it is. */
  readonly busyAnswers: number
  /** When that integration was first asked. */
  readonly turnStartedAt?: string
  /** Integrations that had their turn. */
  readonly tried: readonly string[]
  /** Repeats after an outcome that was unsure. */
  readonly unsureRepeats: number
}

export const notYetSent: Sending = { attempts: 0, busyAnswers: 0, tried: [], unsureRepeats: 0 }

/** What a step wants said. The target tells messages of one job apart: a device token, or nothing. */
export interface MessageDraft {
  readonly target: string
  readonly channel: Channel
  readonly content: string | readonly EmailBlock[]
  readonly subject?: string
  readonly title?: string
  readonly email?: string
  readonly phone?: string
  readonly envelope?: Envelope
  readonly cta?: MessageCta
  readonly actor?: TemplateActor
  readonly data?: Readonly<Record<string, unknown>>
}

/** Why a message did not arrive, in the interface's words (behaviours 12.3). */
export interface MessageError {
  readonly errorId: string
  readonly errorText: string
}
