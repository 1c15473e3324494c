// Messages as callers see them: the Message, the feed item, and a subscriber's notification for inboxes.
import type { Channel } from '../delivery/integration.ts'
import type { Subscriber } from '../people/subscriber.ts'
import type { EmailBlock, LinkTarget, MessageCta, Severity, TemplateActor, Workflow } from '../workflows/workflow.ts'
import type { MessageStatus } from './message.ts'

type FreeObject = Readonly<Record<string, unknown>>

/** What is undefined is left out; null only where it says so. */
export interface Message {
  readonly _id: string
  /** The workflow. */
  readonly _templateId: string
  /** The template of the workflow's step. */
  readonly _messageTemplateId: string | null
  readonly _feedId: string | null
  readonly _environmentId: string
  readonly _organizationId: string
  readonly _notificationId: string
  readonly _subscriberId: string
  readonly _jobId: string
  /** In the list of messages, unless the subscriber was deleted. */
  readonly subscriber: Subscriber | undefined
  /** In the list of messages. */
  readonly template: Workflow | undefined
  readonly templateIdentifier: string
  readonly stepId: string | undefined
  readonly createdAt: string
  readonly updatedAt: string
  readonly deliveredAt: readonly string[] | undefined
  readonly firstSeenDate: string | undefined
  readonly lastSeenDate: string | undefined
  readonly lastReadDate: string | undefined
  readonly archivedAt: string | undefined
  readonly snoozedUntil: string | undefined
  readonly content: string | readonly EmailBlock[] | undefined
  readonly transactionId: string
  readonly subject: string | undefined
  readonly title: string | undefined
  readonly email: string | undefined
  readonly phone: string | undefined
  readonly directWebhookUrl: string | undefined
  readonly deviceTokens: readonly string[] | undefined
  readonly providerId: string | undefined
  /** The provider's own id of it. */
  readonly identifier: string | undefined
  readonly errorId: string | undefined
  readonly errorText: string | undefined
  readonly channel: Channel
  readonly read: boolean
  readonly seen: boolean
  readonly archived: boolean
  readonly cta: MessageCta
  readonly status: MessageStatus
  readonly actor: TemplateActor | undefined
  readonly payload: FreeObject
  readonly overrides: FreeObject
  readonly data: FreeObject | undefined
  readonly tags: readonly string[]
  readonly severity: Severity
  readonly contextKeys: readonly string[]
  /** Whether it was captured instead of sent, or created by a workflow test. */
  readonly isTest: boolean
  /** Set if it was captured instead of sent; its status is `sent` all the same. */
  readonly captured: true | undefined
}

/** Who a feed item is for. */
export interface FeedSubscriber {
  readonly _id: string
  readonly subscriberId: string
  readonly firstName?: string
  readonly lastName?: string
  readonly avatar?: string
}

export interface FeedItem {
  readonly _id: string
  readonly _templateId: string
  readonly _messageTemplateId: string | undefined
  readonly _feedId: string | null
  readonly _environmentId: string
  readonly _organizationId: string
  readonly _notificationId: string
  readonly _subscriberId: string
  readonly _jobId: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly actor: TemplateActor
  readonly subscriber: FeedSubscriber
  readonly transactionId: string
  readonly templateIdentifier: string
  readonly providerId: string
  readonly content: string
  readonly subject: string | null
  readonly channel: Channel
  readonly read: boolean
  readonly seen: boolean
  readonly archived: boolean
  readonly deviceTokens: null
  readonly cta: MessageCta
  readonly status: MessageStatus
  readonly payload: FreeObject
  readonly data: FreeObject | null
  readonly overrides: FreeObject
  readonly tags: readonly string[]
}

export interface InboxRedirect {
  readonly url: string
  readonly target?: LinkTarget
}

export interface InboxAction {
  readonly label: string
  readonly isCompleted: boolean
  /** Where pressing it leads. */
  readonly redirect?: InboxRedirect
}

/** What sockets of public inbox clients carry. */
export interface SocketMessage extends Omit<Message, 'payload' | 'overrides' | 'subscriber' | 'template'> {
  readonly avatar?: string
  readonly subscriber: FeedSubscriber
  readonly workflow: InboxNotification['workflow']
}

/** What inbox clients read: what is undefined is left out. */
export interface InboxNotification {
  readonly id: string
  readonly transactionId: string
  readonly subject: string | undefined
  readonly body: string
  readonly to: {
    readonly id: string
    readonly subscriberId: string
    readonly firstName?: string
    readonly lastName?: string
    readonly avatar?: string
  }
  readonly isRead: boolean
  readonly isSeen: boolean
  readonly isArchived: boolean
  readonly isSnoozed: boolean
  readonly snoozedUntil: string | undefined
  readonly deliveredAt: readonly string[] | undefined
  readonly createdAt: string
  readonly readAt: string | undefined
  readonly firstSeenAt: string | undefined
  readonly archivedAt: string | undefined
  readonly avatar: string | undefined
  readonly primaryAction: InboxAction | undefined
  readonly secondaryAction: InboxAction | undefined
  readonly channelType: Channel
  readonly tags: readonly string[]
  readonly data: FreeObject | undefined
  readonly redirect: InboxRedirect | undefined
  readonly workflow: {
    readonly id: string
    readonly identifier: string
    readonly name: string
    readonly critical: boolean
    readonly tags: readonly string[]
    readonly severity: Severity
  }
  readonly severity: Severity
}

/** A feed item that inbox clients can read as well. It has no null fields: those clients reject them. */
export type SubscriberNotification = Partial<Omit<FeedItem, keyof InboxNotification>> & InboxNotification
