// Rows of notifications as the activity list finds them, and the slice of the list that is wanted.
import type { Statement } from '../db/sql.ts'
import { sql } from '../db/sql.ts'

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

export interface Slice {
  readonly offset: number
  readonly limit: number
}

/** Newest first. */
export const ordered = ({ offset, limit }: Slice): Statement => sql`order by n.id desc offset ${offset} limit ${limit}`

/** How many of each key's newest can be in the slice. */
export const depthOf = ({ offset, limit }: Slice): number => offset + limit
