// What a provider is given to send: one message, rendered, to one address.

export interface Attachment {
  readonly name: string
  readonly mime: string
  /** Base64. */
  readonly content: string
  readonly cid?: string
  readonly disposition?: 'attachment' | 'inline'
}

export interface EmailMessage {
  /** Ours; the same on every retry. */
  readonly id: string
  /** Absent: the integration's own. */
  readonly from?: string
  readonly senderName?: string
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly replyTo?: string
  readonly subject: string
  readonly html: string
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
  readonly attachments: readonly Attachment[]
  readonly ipPoolName?: string
  readonly tags: readonly string[]
  /** Ids of ours that travel with it, for receipts and webhooks. */
  readonly metadata: Readonly<Record<string, string>>
  /** Members that the caller wants in the provider's own request, as given. */
  readonly customData?: Readonly<Record<string, unknown>>
  readonly passthrough?: Passthrough
}

type Changeable<Message> = { -readonly [Name in keyof Message]: Message[Name] }

/**
 * A copy to change, under an id. Field by field, as several are made of every e-mail: a spread with additions costs
 * twenty times as much.
 */
export function emailCopy(id: string, email: Omit<EmailMessage, 'id'>): Changeable<EmailMessage> {
  const { to, cc, bcc, subject, html, text, headers, attachments, tags, metadata } = email
  const { from, senderName, replyTo, ipPoolName, customData, passthrough } = email
  const copy: Changeable<EmailMessage> = {
    id,
    to,
    cc,
    bcc,
    subject,
    html,
    text,
    headers,
    attachments,
    tags,
    metadata,
  }
  if (from !== undefined) copy.from = from
  if (senderName !== undefined) copy.senderName = senderName
  if (replyTo !== undefined) copy.replyTo = replyTo
  if (ipPoolName !== undefined) copy.ipPoolName = ipPoolName
  if (customData !== undefined) copy.customData = customData
  if (passthrough !== undefined) copy.passthrough = passthrough
  return copy
}

export interface SmsMessage {
  readonly id: string
  readonly to: string
  /** Absent: the integration's own. */
  readonly from?: string
  readonly content: string
  readonly metadata: Readonly<Record<string, string>>
  readonly customData?: Readonly<Record<string, unknown>>
  readonly passthrough?: Passthrough
}

/** To one device. */
export interface PushMessage {
  readonly id: string
  /** The device token, as its app gave it. */
  readonly target: string
  readonly title: string
  readonly content: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly subscriberId: string
  readonly metadata: Readonly<Record<string, string>>
  /** Fields that the caller wants in the provider's own request, such as a badge or a sound. */
  readonly customData?: Readonly<Record<string, unknown>>
  readonly passthrough?: Passthrough
}

/** To one channel entry of a subscriber. */
export interface ChatMessage {
  readonly id: string
  readonly webhookUrl?: string
  readonly channel?: string
  readonly phone?: string
  /** The entry's other fields, such as `alertUid`. */
  readonly entry: Readonly<Record<string, unknown>>
  readonly content: string
  readonly metadata: Readonly<Record<string, string>>
  readonly customData?: Readonly<Record<string, unknown>>
  readonly passthrough?: Passthrough
}

/** The message of each channel that calls out. */
export interface MessageByChannel {
  readonly email: EmailMessage
  readonly sms: SmsMessage
  readonly push: PushMessage
  readonly chat: ChatMessage
}
export type SendingChannel = keyof MessageByChannel
export type OutboundMessage = MessageByChannel[SendingChannel]

/** What a caller adds to the request of one provider, regardless of the message. */
export interface Passthrough {
  readonly body?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
}
