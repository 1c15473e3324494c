// Deleting messages: they stay for the activity that refers to them, and no list shows them.
import type { Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import { idsOfEvent } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { CountedInboxes } from './inbox-changes.ts'
import { changeNumber } from './inbox-changes.ts'

/** One transaction's worth: so long their inboxes are held, and messages to them wait. */
export const deletedAtOnceMax = 500

export interface DeletedMessage {
  readonly id: string
  /** Whether a task waits to bring it back. */
  readonly wasSnoozed: boolean
}

/** Those of the ids that were there. */
export async function deleteMessages(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  { now, counted }: { now: Date; counted: CountedInboxes },
): Promise<DeletedMessage[]> {
  // In one order, so that two that delete the same wait for each other and nothing worse.
  await tx.run(sql`
    select from messages m where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.deleted_at is null
    order by m.id for no key update`)
  return tx.rows<DeletedMessage>(sql`
    update messages m set deleted_at = ${now}, updated_at = ${now}, change = ${changeNumber(counted)}
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.deleted_at is null
    returning m.id, m.snoozed_until is not null as "wasSnoozed"`)
}

/** The next ids of an event's messages after `after`, at most `limit`, not held yet. */
export async function findMessagesOfEvent(
  tx: Tx,
  environment: Environment,
  event: { id: string; channel: Channel | undefined; after: string | undefined; limit: number },
): Promise<string[]> {
  const range = idsOfEvent(event.id)
  const beyond = event.after === undefined ? sql`m.id >= ${range.from}` : sql`m.id > ${event.after}`
  const channel = event.channel === undefined ? sql`true` : sql`m.channel = ${event.channel}`
  const rows = await tx.rows<{ id: string }>(sql`
    select m.id from messages m
    where m.environment_id = ${environment.id} and ${beyond} and m.id <= ${range.to} and m.event_id = ${event.id}
      and ${channel} and m.deleted_at is null
    order by m.id limit ${event.limit}`)
  return rows.map((row) => row.id)
}
