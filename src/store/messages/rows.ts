// The messages table as reads see it: the columns, without what is for sending only.
import { sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import type { MessageStatus } from '../../domain/messages/message.ts'
import type { EmailBlock, MessageCta, TemplateActor } from '../../domain/workflows/workflow.ts'

export interface MessageRow {
  readonly id: string
  readonly event_id: string
  readonly notification_id: string
  readonly job_id: string
  readonly subscriber_id: string
  readonly version_id: string
  readonly step: number
  readonly channel: Channel
  readonly status: MessageStatus
  readonly provider_id: string | null
  readonly provider_message_id: string | null
  readonly error_id: string | null
  readonly error_text: string | null
  readonly content: string | EmailBlock[] | null
  readonly subject: string | null
  readonly title: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly direct_webhook_url: string | null
  readonly device_tokens: string[] | null
  /** Sealed, in the place of both. */
  readonly addresses: Buffer | null
  readonly cta: MessageCta | null
  readonly actor: TemplateActor | null
  readonly data: Record<string, unknown> | null
  readonly context_keys: string[] | null
  readonly is_test: boolean
  /** Nodes of 0.1.0 mark only that it is in the outbox; what leaves the outbox is marked by whoever takes it out. */
  readonly is_captured: boolean
  readonly read: boolean
  readonly seen: boolean
  readonly archived: boolean
  readonly first_seen_at: Date | null
  readonly last_seen_at: Date | null
  readonly last_read_at: Date | null
  readonly archived_at: Date | null
  readonly snoozed_until: Date | null
  readonly delivered_at: Date[] | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** Of a row called `m`. An e-mail that is nothing but its HTML stores that once, with what is sent. */
export const shownContent = sql`coalesce(m.content, to_jsonb(m.envelope->>'html'))`

/** How long that is, roughly: as text it would have to be written first. */
export const contentLength = sql`coalesce(length(m.content::text), length(m.envelope->>'html'), 0)`

/** What an item of the feed shows. */
export type FeedMessageRow = Pick<
  MessageRow,
  | ('id' | 'event_id' | 'notification_id' | 'job_id' | 'subscriber_id' | 'version_id' | 'step' | 'channel' | 'status')
  | ('provider_id' | 'content' | 'subject' | 'cta' | 'actor' | 'data' | 'read' | 'seen' | 'archived')
  | ('created_at' | 'updated_at')
>

/** Of a row called `m`. */
export const feedMessageColumns = sql`m.id, m.event_id, m.notification_id, m.job_id, m.subscriber_id, m.version_id, m.step,
  m.channel, m.status, m.provider_id, m.content, m.subject, m.cta, m.actor, m.data, m.read, m.seen, m.archived, m.created_at,
  m.updated_at`

/** Of a row called `m`. */
export const messageColumns = sql`m.id, m.event_id, m.notification_id, m.job_id, m.subscriber_id, m.version_id, m.step,
  m.channel, m.status, m.provider_id, m.provider_message_id, m.error_id, m.error_text, ${shownContent} as content, m.subject, m.title, m.email,
  m.phone, m.direct_webhook_url, m.device_tokens, m.addresses, m.cta, m.actor, m.data, m.context_keys, m.is_test, m.is_captured or m.outbox_at is not null as is_captured, m.read, m.seen, m.archived, m.first_seen_at, m.last_seen_at,
  m.last_read_at, m.archived_at, m.snoozed_until, m.delivered_at, m.created_at, m.updated_at`

/** What lists show: from the first outcome on, and not deleted. The words of the partial indexes. */
export const isListed = sql`m.status is not null and m.deleted_at is null`

/** What the feed shows, and its counts: also the condition of an index. */
export const isInFeed = sql`m.channel = 'in_app' and ${isListed} and m.snoozed_until is null`
