// New messages: delivered by being written, on their way to a provider, or never to be sent.

import { arrayText } from '../../db/array-text.ts'
import type { Tx } from '../../db/sql.ts'
import { json, prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { MessageDraft, MessageError, MessageState, MessageStatus, Sending } from '../../domain/message.ts'

export interface NewMessage {
  /** Derived from the job and the draft's target. */
  readonly id: string
  readonly eventId: string
  readonly notificationId: string
  readonly jobId: string
  /** The subscriber's internal id. */
  readonly subscriberId: string
  readonly versionId: string
  readonly step: number
  readonly draft: MessageDraft
  readonly state: MessageState
  /** Null before the first outcome. */
  readonly status: MessageStatus | null
  readonly providerId: string | null
  readonly integrationId: string | null
  readonly sending: Sending | null
  readonly error: MessageError | null
  readonly contextKeys: readonly string[] | null
  readonly isTest: boolean
  readonly deliveredAt: Date | null
  readonly createdAt: Date
}

/** Written with the settling of their job, which only its lease's holder can do: none of them can be there. */
export async function insertMessages(tx: Tx, environment: Environment, messages: readonly NewMessage[]): Promise<void> {
  if (messages.length === 0) return
  const column = <Value>(read: (message: NewMessage) => Value): Value[] => messages.map(read)
  await tx.run(
    prepared(
      'messages-insert',
      sql`insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel,
            state, status, provider_id, integration_id, sending, error_id, error_text, content, subject, title, email, phone,
            envelope, cta, actor, data, context_keys, is_test, delivered_at, created_at, updated_at)
          select ${environment.id}, m.id, m.event_id, m.notification_id, m.job_id, m.subscriber_id, m.version_id, m.step,
            m.channel, m.state, m.status, m.provider_id, m.integration_id, m.sending::jsonb, m.error_id, m.error_text,
            m.content::jsonb, m.subject, m.title, m.email, m.phone, m.envelope::json, m.cta::jsonb, m.actor::jsonb,
            m.data::jsonb, m.context_keys::text[], m.is_test,
            case when m.delivered_at is null then null else array[m.delivered_at] end, m.created_at, m.created_at
          from unnest(${column((m) => m.id)}::uuid[], ${column((m) => m.eventId)}::uuid[],
            ${column((m) => m.notificationId)}::uuid[], ${column((m) => m.jobId)}::uuid[],
            ${column((m) => m.subscriberId)}::uuid[], ${column((m) => m.versionId)}::uuid[],
            ${column((m) => m.step)}::smallint[], ${column((m) => m.draft.channel)}::text[], ${column((m) => m.state)}::text[],
            ${column((m) => m.status)}::text[], ${column((m) => m.providerId)}::text[],
            ${column((m) => m.integrationId)}::uuid[], ${column((m) => json(m.sending))}::text[],
            ${column((m) => m.error?.errorId ?? null)}::text[], ${column((m) => m.error?.errorText ?? null)}::text[],
            ${column((m) => json(m.draft.content))}::text[], ${column((m) => m.draft.subject ?? null)}::text[],
            ${column((m) => m.draft.title ?? null)}::text[], ${column((m) => m.draft.email ?? null)}::text[],
            ${column((m) => m.draft.phone ?? null)}::text[], ${column((m) => json(m.draft.envelope))}::text[],
            ${column((m) => json(m.draft.cta))}::text[], ${column((m) => json(m.draft.actor))}::text[],
            ${column((m) => json(m.draft.data))}::text[], ${column((m) => m.contextKeys && arrayText(m.contextKeys))}::text[],
            ${column((m) => m.isTest)}::boolean[], ${column((m) => m.deliveredAt)}::timestamptz[],
            ${column((m) => m.createdAt)}::timestamptz[])
            as m (id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel, state, status, provider_id,
                  integration_id, sending, error_id, error_text, content, subject, title, email, phone, envelope, cta, actor,
                  data, context_keys, is_test, delivered_at, created_at)`,
    ),
  )
}
