// Rows of notifications as the activity list finds them, with their events and subscribers, and the slice that is wanted.
import type { Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Severity, WorkflowOrigin } from '../../domain/workflows/workflow.ts'

export interface NotificationRow {
  readonly id: string
  readonly event_id: string
  readonly subscriber_id: string
  readonly version_id: string
  readonly recipient: Record<string, unknown> | null
  readonly topic_ids: string[] | null
}

/** Of a row called `n`. */
export const notificationColumns = sql`n.id, n.event_id, n.subscriber_id, n.version_id, n.recipient, n.topic_ids`

/** A notification with all that is found by its keys. */
export interface ActivityRow extends NotificationRow {
  /**
   * Null in the short time in which an old event's partition has been dropped and its notifications' has not: the whole
   * event is.
   */
  readonly transaction_id: string | null
  readonly payload: Record<string, unknown>
  readonly overrides: Record<string, unknown>
  readonly context_keys: string[] | null
  readonly severity: Severity | null
  readonly event_topic_ids: string[] | null
  readonly event_topic_keys: string[] | null
  readonly is_test: boolean
  /** Of the event; null for none. */
  readonly warnings: string[] | null
  /** Who made the workflow last. */
  readonly origin: WorkflowOrigin
  /** The subscriber as callers name it; null if it is gone without a trace. */
  readonly recipient_id: string | null
  readonly first_name: string | null
  readonly last_name: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly is_deleted: boolean
}

/**
 * Completes notifications, each by its keys, in the trip that finds them. Deleted subscribers too: whom a notification was
 * for does not change.
 */
export function completed(environment: Environment, notifications: Statement): Statement {
  return sql`select ${notificationColumns}, e.transaction_id, e.payload, e.overrides, e.context_keys, e.severity,
        e.topic_ids as event_topic_ids, e.topic_keys as event_topic_keys, e.test is not null as is_test, e.warnings,
        w.origin,
        s.subscriber_id as recipient_id, s.first_name, s.last_name, s.email, s.phone, s.deleted_at is not null as is_deleted
      from (${notifications}) as n
      left join lateral (select * from events found
        where found.environment_id = ${environment.id} and found.id = n.event_id limit 1) as e on true
      left join lateral (select * from workflows found
        where found.environment_id = ${environment.id} and found.id = e.workflow_id limit 1) as w on true
      left join lateral (select * from subscribers found
        where found.environment_id = ${environment.id} and found.id = n.subscriber_id limit 1) as s on true
      order by n.id desc`
}

export interface Slice {
  readonly offset: number
  readonly limit: number
}

/** Newest first. */
export const ordered = ({ offset, limit }: Slice): Statement => sql`order by n.id desc offset ${offset} limit ${limit}`

/** How many of each key's newest can be in the slice. */
export const depthOf = ({ offset, limit }: Slice): number => offset + limit
