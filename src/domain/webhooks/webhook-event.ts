// What is reported to the customer's backend: the types of events, and one that happened.

export const webhookEventTypes = [
  'message.sent',
  'message.delivered',
  'message.failed',
  'message.bounced',
  'message.seen',
  'message.read',
  'subscriber.unsubscribed',
  'preference.updated',
  'workflow.updated',
  'integration.failing',
] as const
export type WebhookEventType = (typeof webhookEventTypes)[number]

/** Sent by a call only: no endpoint has to ask for it. */
export const testEventType = 'webhook.test'

/** Something that happened, as the transaction in which it happened writes it. */
export interface News {
  /** Becomes the `webhook-id`. */
  readonly id: string
  readonly type: WebhookEventType
  /** Events about the same subject are delivered in their order. */
  readonly subjectId: string
  /** The internal id of the subscriber it is about, if there is one: it goes with them. */
  readonly subscriberId: string | null
  /** What cannot be read from other tables when it is reported. */
  readonly facts: Readonly<Record<string, unknown>>
  readonly at: Date
}

/** How a message stands now, as far as it is part of the event. */
export interface MessageFacts {
  readonly status?: 'sent' | 'error' | 'warning'
  readonly error?: { readonly code: string; readonly text: string } | null
  readonly providerId?: string | null
  readonly providerMessageId?: string | null
  readonly captured?: true
}

/** A workflow as events name it. */
export interface NamedWorkflow {
  readonly _id: string
  readonly identifier: string
  readonly name?: string
}
