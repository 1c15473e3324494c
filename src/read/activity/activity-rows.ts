// Rows of notifications as the activity list finds them, with their events and subscribers, and the slice that is wanted.
import type { Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Severity, WorkflowOrigin } from '../../domain/workflows/workflow.ts'
import { readCharactersMax } from '../page/page-weight.ts'

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

/**
 * An id and an `xmin`, the transaction that wrote the row, name one committed version of it. Of a notification `n`, its event `e`, its
 * workflow `w` and its subscriber `s`.
 */
export const rowVersions = sql`concat_ws(' ', n.row_version, coalesce(e.row_version, '-'), coalesce(w.row_version, '-'),
  coalesce(s.row_version, '-'))`

/** A notification with all that is found by its keys. */
export interface ActivityRow extends NotificationRow {
  /**
   * Null in the short time in which an old event's partition has been dropped and its notifications' has not: the whole
   * event is.
   */
  readonly transaction_id: string | null
  readonly payload: Record<string, unknown>
  readonly overrides: Record<string, unknown>
  /** Of the payload, the overrides and the recipient; null where there is no event. */
  readonly characters: number | null
  /** False where those before it have so many that the three are left out. */
  readonly fits: boolean
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
  /** Where they were asked for. */
  readonly row_versions?: string
}

/**
 * Completes notifications, each by its keys, in the trip that finds them. Deleted subscribers too: whom a notification was
 * for does not change. Payloads are read until there are too many characters of them for one page. `withVersions`: of notifications
 * that have a `row_version`.
 */
export function completed(environment: Environment, notifications: Statement, withVersions = false): Statement {
  const rows = counted(environment, notifications, withVersions)
  return sql`select c.id, c.event_id, c.subscriber_id, c.version_id, c.topic_ids, c.characters, c.fits,
        case when c.fits then c.recipient end as recipient, case when c.fits then c.payload end as payload,
        case when c.fits then c.overrides end as overrides, c.transaction_id, c.context_keys, c.severity,
        c.event_topic_ids, c.event_topic_keys, c.is_test, c.warnings, c.origin, c.recipient_id, c.first_name,
        c.last_name, c.email, c.phone, c.is_deleted${withVersions ? sql`, c.row_versions` : sql``}
      from (${rows}) as c order by c.id desc`
}

function counted(environment: Environment, notifications: Statement, withVersions: boolean): Statement {
  return sql`select ${notificationColumns}, e.payload, e.overrides, e.characters,
        coalesce(sum(e.characters) over newest, 0) <= ${readCharactersMax} or row_number() over newest = 1 as fits,
        e.transaction_id, e.context_keys, e.severity,
        e.topic_ids as event_topic_ids, e.topic_keys as event_topic_keys, e.test is not null as is_test, e.warnings,
        w.origin,
        s.subscriber_id as recipient_id, s.first_name, s.last_name, s.email, s.phone, s.deleted_at is not null as is_deleted
        ${withVersions ? sql`, ${rowVersions} as row_versions` : sql``}
      from (${notifications}) as n
      left join lateral (
        select found.*, found.xmin::text as row_version,
          length(payload::text) + length(overrides::text) + coalesce(length(n.recipient::text), 0) as characters
        from events found
        where found.environment_id = ${environment.id} and found.id = n.event_id limit 1) as e on true
      left join lateral (select found.*, found.xmin::text as row_version from workflows found
        where found.environment_id = ${environment.id} and found.id = e.workflow_id limit 1) as w on true
      left join lateral (select found.*, found.xmin::text as row_version from subscribers found
        where found.environment_id = ${environment.id} and found.id = n.subscriber_id limit 1) as s on true
      window newest as (order by n.id desc)`
}

export interface Slice {
  readonly offset: number
  readonly limit: number
}

/** Newest first. */
export const ordered = ({ offset, limit }: Slice): Statement => sql`order by n.id desc offset ${offset} limit ${limit}`

/** How many of each key's newest can be in the slice. */
export const depthOf = ({ offset, limit }: Slice): number => offset + limit
