// The notifications table: an event for one subscriber.

import { arrayText } from '../db/array-text.ts'
import type { Statement, Tx } from '../db/sql.ts'
import { json, prepared, sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'

export interface NewNotification {
  /** Derived from event and subscriber. */
  readonly id: string
  readonly eventId: string
  /** The subscriber's internal id. */
  readonly subscriberId: string
  readonly versionId: string
  /** As given, where more than a subscriberId was. */
  readonly recipient: Readonly<Record<string, unknown>> | null
  readonly topicIds: readonly string[] | null
}

/** Inserts the notifications of new events: none of them can be there. */
export async function insertNotifications(
  tx: Tx,
  environment: Environment,
  notifications: readonly NewNotification[],
): Promise<void> {
  if (notifications.length === 0) return
  await tx.run(prepared('notifications-insert', insertion(environment, notifications)))
}

/** Inserts those that are not there yet and returns their ids: a replay of the same page finds them and adds nothing. */
export async function insertMissingNotifications(
  tx: Tx,
  environment: Environment,
  notifications: readonly NewNotification[],
): Promise<Set<string>> {
  if (notifications.length === 0) return new Set()
  const rows = await tx.rows<{ id: string }>(
    prepared(
      'notifications-insert-missing',
      sql`${insertion(environment, notifications)} on conflict (environment_id, id) do nothing returning id`,
    ),
  )
  return new Set(rows.map((row) => row.id))
}

function insertion(environment: Environment, notifications: readonly NewNotification[]): Statement {
  const column = <Value>(read: (notification: NewNotification) => Value): Value[] => notifications.map(read)
  return sql`insert into notifications (environment_id, id, event_id, subscriber_id, version_id, recipient, topic_ids)
          select ${environment.id}, n.id, n.event_id, n.subscriber_id, n.version_id, n.recipient::jsonb, n.topic_ids::uuid[]
          from unnest(${column((n) => n.id)}::uuid[], ${column((n) => n.eventId)}::uuid[],
            ${column((n) => n.subscriberId)}::uuid[], ${column((n) => n.versionId)}::uuid[],
            ${column((n) => json(n.recipient))}::text[], ${column((n) => n.topicIds && arrayText(n.topicIds))}::text[])
            as n (id, event_id, subscriber_id, version_id, recipient, topic_ids)`
}
