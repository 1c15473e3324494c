// Rows of messages in the shapes that callers see.
import type { Environment } from '../../domain/environment.ts'
import type {
  FeedItem,
  FeedSubscriber,
  InboxAction,
  InboxNotification,
  InboxRedirect,
  Message,
  SocketMessage,
  SubscriberNotification,
} from '../../domain/messages/message-views.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { MessageCta, Severity, TemplateActor } from '../../domain/workflows/workflow.ts'
import { linkTargets } from '../../domain/workflows/workflow.ts'
import type { SubscriberRow } from '../people/subscribers.ts'
import { openAddresses } from './addresses.ts'
import type { MessageOrigins } from './origins.ts'
import type { FeedMessageRow, MessageRow } from './rows.ts'

const noActor: TemplateActor = { type: 'none', data: null }

/** The Message of the interface, without its subscriber and its workflow. `sealer`: for callers who see where it went. */
export function messageOf(
  environment: Environment,
  row: MessageRow,
  origins: MessageOrigins,
  sealer?: Sealer,
): Message {
  const workflow = origins.workflows.get(row.version_id)
  const event = origins.events.get(row.event_id)
  const step = workflow?.steps[row.step]
  const opened = sealer && openAddresses(sealer, environment, row)
  // One literal without spreads: an object of this size that grows member by member takes five times as long to make
  // and to serialise, and a page makes ten or a hundred.
  return {
    _id: row.id,
    _templateId: workflow?.id ?? '',
    _messageTemplateId: step?.templateId ?? null,
    _feedId: step?.feedId ?? null,
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    _notificationId: row.notification_id,
    _subscriberId: row.subscriber_id,
    _jobId: row.job_id,
    subscriber: undefined,
    template: undefined,
    templateIdentifier: workflow?.identifier ?? '',
    stepId: step?.uuid,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    deliveredAt: row.delivered_at?.map((at) => at.toISOString()),
    firstSeenDate: row.first_seen_at?.toISOString(),
    lastSeenDate: row.last_seen_at?.toISOString(),
    lastReadDate: row.last_read_at?.toISOString(),
    archivedAt: row.archived_at?.toISOString(),
    snoozedUntil: row.snoozed_until?.toISOString(),
    content: row.content ?? undefined,
    transactionId: transactionIdOf(row, origins),
    subject: row.subject ?? undefined,
    title: row.title ?? undefined,
    email: row.email ?? undefined,
    phone: row.phone ?? undefined,
    directWebhookUrl: opened?.directWebhookUrl ?? row.direct_webhook_url ?? undefined,
    deviceTokens: opened?.deviceTokens ?? row.device_tokens ?? undefined,
    providerId: row.provider_id ?? undefined,
    identifier: row.provider_message_id ?? undefined,
    errorId: row.error_id ?? undefined,
    errorText: row.error_text ?? undefined,
    channel: row.channel,
    read: row.read,
    seen: row.seen,
    archived: row.archived,
    cta: row.cta ?? {},
    status: row.status,
    actor: actorOf(row, origins),
    payload: event?.payload ?? {},
    overrides: event?.overrides ?? {},
    data: row.data ?? undefined,
    tags: workflow?.tags ?? [],
    severity: severityOf(row, origins),
    contextKeys: row.context_keys ?? [],
    isTest: row.is_test,
    captured: row.is_captured ? true : undefined,
  }
}

/** Whose feed it is. */
export type FeedRecipient = Pick<SubscriberRow, 'id' | 'subscriber_id' | 'first_name' | 'last_name' | 'avatar'>

/** The same on every item of a feed. */
export const feedSubscriberOf = (subscriber: FeedRecipient): FeedSubscriber => ({
  _id: subscriber.id,
  ...summaryOf(subscriber),
})

export function feedItemOf(
  environment: Environment,
  subscriber: FeedSubscriber,
  row: FeedMessageRow,
  origins: MessageOrigins,
): FeedItem {
  const workflow = origins.workflows.get(row.version_id)
  const event = origins.events.get(row.event_id)
  const step = workflow?.steps[row.step]
  return {
    _id: row.id,
    _templateId: workflow?.id ?? '',
    _messageTemplateId: step?.templateId || undefined,
    _feedId: step?.feedId ?? null,
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    _notificationId: row.notification_id,
    _subscriberId: row.subscriber_id,
    _jobId: row.job_id,
    templateIdentifier: workflow?.identifier ?? '',
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    transactionId: transactionIdOf(row, origins),
    channel: row.channel,
    read: row.read,
    seen: row.seen,
    archived: row.archived,
    cta: row.cta ?? {},
    status: row.status,
    payload: event?.payload ?? {},
    overrides: event?.overrides ?? {},
    tags: workflow?.tags ?? [],
    actor: actorOf(row, origins) ?? noActor,
    subscriber,
    providerId: row.provider_id ?? 'platform',
    content: textOf(row),
    subject: row.subject,
    deviceTokens: null,
    data: row.data,
  }
}

/** A feed item and what inbox clients read, in one. */
export function subscriberNotificationOf(
  environment: Environment,
  subscriber: SubscriberRow,
  row: MessageRow,
  origins: MessageOrigins,
): SubscriberNotification {
  return {
    ...given(feedItemOf(environment, feedSubscriberOf(subscriber), row, origins)),
    ...inboxNotificationOf(subscriber, row, origins),
  }
}

export function inboxNotificationOf(
  subscriber: SubscriberRow,
  row: MessageRow,
  origins: MessageOrigins,
): InboxNotification {
  const workflow = origins.workflows.get(row.version_id)
  const cta = row.cta ?? {}
  const severity = severityOf(row, origins)
  const tags = workflow?.tags ?? []
  return {
    id: row.id,
    transactionId: transactionIdOf(row, origins),
    body: textOf(row),
    to: { id: subscriber.id, ...summaryOf(subscriber) },
    isRead: row.read,
    isSeen: row.seen,
    isArchived: row.archived,
    isSnoozed: row.snoozed_until !== null,
    createdAt: row.created_at.toISOString(),
    channelType: row.channel,
    tags,
    severity,
    subject: row.subject ?? undefined,
    snoozedUntil: row.snoozed_until?.toISOString(),
    deliveredAt: row.delivered_at?.map((at) => at.toISOString()),
    readAt: row.last_read_at?.toISOString(),
    firstSeenAt: row.first_seen_at?.toISOString(),
    archivedAt: row.archived_at?.toISOString(),
    avatar: actorOf(row, origins)?.data ?? undefined,
    primaryAction: inboxActionOf(cta, 'primary'),
    secondaryAction: inboxActionOf(cta, 'secondary'),
    data: row.data ?? undefined,
    redirect: redirectOf(cta.data),
    workflow: {
      id: workflow?.id ?? '',
      identifier: workflow?.identifier ?? '',
      name: workflow?.name ?? '',
      critical: workflow?.critical ?? false,
      tags,
      severity,
    },
  }
}

/**
 * A message as public inbox clients read it from a socket: the members that they look at, and no more. Payloads and
 * overrides of events stay behind.
 */
export function socketMessageOf(
  environment: Environment,
  subscriber: SubscriberRow,
  row: MessageRow,
  origins: MessageOrigins,
): SocketMessage {
  const { payload: _payload, overrides: _overrides, ...message } = messageOf(environment, row, origins)
  const { workflow, avatar } = inboxNotificationOf(subscriber, row, origins)
  return {
    ...message,
    ...given({ avatar }),
    cta: withButtonLinks(row.cta ?? {}),
    subscriber: feedSubscriberOf(subscriber),
    workflow,
  }
}

/** These clients read a button's address on the button itself. No address is among them that would run as a script. */
function withButtonLinks({ data, action, ...cta }: MessageCta): MessageCta {
  const link = redirectOf(data)
  const buttons = action?.buttons?.map(({ redirect, ...button }) => {
    const leadsTo = redirectOf(redirect)
    return { ...button, ...(leadsTo === undefined ? {} : { ...leadsTo, redirect: leadsTo }) }
  })
  return {
    ...cta,
    ...(link === undefined ? {} : { data: link }),
    ...(action === undefined ? {} : { action: { ...action, ...(buttons === undefined ? {} : { buttons }) } }),
  }
}

// An event's partition may be dropped just before its messages': its content is gone then, and its id is still known.
function transactionIdOf(row: FeedMessageRow, origins: MessageOrigins): string {
  return origins.events.get(row.event_id)?.transactionId ?? row.event_id
}

function severityOf(row: FeedMessageRow, origins: MessageOrigins): Severity {
  return (origins.events.get(row.event_id)?.severity ?? 'none') as Severity
}

/** A user's picture is looked up when read: it may have changed since. */
function actorOf(row: FeedMessageRow, origins: MessageOrigins): TemplateActor | undefined {
  if (row.actor === null || row.actor.type !== 'user') return row.actor ?? undefined
  const actorId = origins.events.get(row.event_id)?.actorId ?? ''
  return { type: 'user', data: origins.avatars.get(actorId) ?? null }
}

const textOf = (row: FeedMessageRow): string => (typeof row.content === 'string' ? row.content : '')

function summaryOf(subscriber: FeedRecipient): Omit<FeedSubscriber, '_id'> {
  return {
    subscriberId: subscriber.subscriber_id,
    ...(subscriber.first_name === null ? {} : { firstName: subscriber.first_name }),
    ...(subscriber.last_name === null ? {} : { lastName: subscriber.last_name }),
    ...(subscriber.avatar === null ? {} : { avatar: subscriber.avatar }),
  }
}

function inboxActionOf(cta: MessageCta, type: 'primary' | 'secondary'): InboxAction | undefined {
  const button = cta.action?.buttons?.find((one) => one.type === type)
  if (button === undefined) return undefined
  const redirect = redirectOf(button.redirect)
  return {
    label: button.content,
    isCompleted: cta.action?.status === 'done' && cta.action.result?.type === type,
    ...(redirect === undefined ? {} : { redirect }),
  }
}

/** Only URLs that a page may open: never what would run as a script. */
function redirectOf(link: MessageCta['data']): InboxRedirect | undefined {
  const { url, target } = link ?? {}
  if (url === undefined || !/^(?:https?:\/\/|\/(?!\/))/i.test(url)) return undefined
  return target !== undefined && linkTargets.includes(target) ? { url, target } : { url }
}

type Given<Members> = { -readonly [Name in keyof Members]?: NonNullable<Members[Name]> }

/** Without the members that are null or undefined. */
function given<Members extends object>(members: Members): Given<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  ) as Given<Members>
}
