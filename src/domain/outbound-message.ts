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
}

/** The message of each channel that calls out. */
export type OutboundMessage = EmailMessage
