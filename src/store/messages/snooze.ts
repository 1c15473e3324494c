// Messages that are put off, and their return.
import type { Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { CountedInboxes } from './inbox-changes.ts'
import { changeNumber } from './inbox-changes.ts'
import type { MessageRow } from './rows.ts'
import { isListed, messageColumns } from './rows.ts'

/** Out of the feed until then. Whoever puts a message off has seen it. */
export async function snoozeMessage(
  tx: Tx,
  environment: Environment,
  snooze: { id: string; subscriberId: string; until: Date; now: Date; counted: CountedInboxes },
): Promise<MessageRow | undefined> {
  return tx.row<MessageRow>(sql`
    update messages m set snoozed_until = ${snooze.until}, archived = false, archived_at = null, seen = true,
      first_seen_at = coalesce(m.first_seen_at, ${snooze.now}), last_seen_at = ${snooze.now}, updated_at = ${snooze.now},
      change = ${changeNumber(snooze.counted)}
    where m.environment_id = ${environment.id} and m.id = ${snooze.id} and m.subscriber_id = ${snooze.subscriberId}
      and m.channel = 'in_app' and ${isListed}
    returning ${messageColumns}`)
}

/** Back at the top of the feed, unread and delivered once more. One that is not put off stays as it is. Returns the others' jobs. */
export async function unsnoozeMessages(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  { now, counted }: { now: Date; counted: CountedInboxes },
): Promise<string[]> {
  const rows = await tx.rows<{ job_id: string }>(sql`
    update messages m set snoozed_until = null, read = false, last_read_at = null,
      delivered_at = coalesce(m.delivered_at, array[m.created_at]) || ${now}::timestamptz, created_at = ${now}, updated_at = ${now},
      change = ${changeNumber(counted)}, arrival = ${changeNumber(counted)}
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.snoozed_until is not null
      and m.deleted_at is null
    returning m.job_id`)
  return rows.map((row) => row.job_id)
}
