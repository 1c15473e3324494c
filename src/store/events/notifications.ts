// The notifications table: an event for one subscriber.

import { arrayText } from '../../db/array-text.ts'
import type { Part } from '../../db/one-statement.ts'
import type { Column } from '../../db/row-set.ts'
import { namesOf, rowSet } from '../../db/row-set.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, prepared, sql } from '../../db/sql.ts'
import { firstIdAt } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'

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

const uuid = sql`uuid`
const columns: readonly Column<NewNotification>[] = [
  { name: sql`id`, type: uuid, read: (n) => n.id },
  { name: sql`event_id`, type: uuid, read: (n) => n.eventId },
  { name: sql`subscriber_id`, type: uuid, read: (n) => n.subscriberId },
  { name: sql`version_id`, type: uuid, read: (n) => n.versionId },
  { name: sql`recipient`, type: sql`jsonb`, read: (n) => json(n.recipient) },
  {
    name: sql`topic_ids`,
    type: sql`uuid[]`,
    writtenAs: sql`text`,
    isUsuallySame: true,
    read: (n) => n.topicIds && arrayText(n.topicIds),
  },
]
const names = namesOf(columns)

/** The notifications of new events: none of them can be there. */
export function notificationInsertion(environment: Environment, notifications: readonly NewNotification[]): Part {
  const { insertion, shape } = insertionOf(environment, notifications)
  return { as: sql`new_notifications`, name: `notification-${shape}`, statement: insertion }
}

/** Inserts those that are not there yet and returns their ids: a replay of the same page finds them and adds nothing. */
export async function insertMissingNotifications(
  tx: Tx,
  environment: Environment,
  notifications: readonly NewNotification[],
): Promise<Set<string>> {
  if (notifications.length === 0) return new Set()
  const { insertion, shape } = insertionOf(environment, notifications)
  const rows = await tx.rows<{ id: string }>(
    prepared(
      `notifications-insert-missing-${shape}`,
      sql`${insertion} on conflict (environment_id, id) do nothing returning id`,
    ),
  )
  return new Set(rows.map((row) => row.id))
}

function insertionOf(
  environment: Environment,
  notifications: readonly NewNotification[],
): { insertion: Statement; shape: string } {
  const { values, from, shape } = rowSet(notifications, columns)
  const insertion = sql`insert into notifications (environment_id, ${names})
    select ${environment.id}::uuid, ${values} from ${from}`
  return { insertion, shape }
}

export interface PersonalNotification {
  readonly id: string
  readonly eventId: string
  /** As given. */
  readonly recipient: Readonly<Record<string, unknown>> | null
}

/** A page of a person's notifications, oldest first, after the given one. */
export async function findNotificationsOf(
  db: Sql,
  environment: Environment,
  page: { subscriberIds: readonly string[]; after: string | null; limit: number },
): Promise<PersonalNotification[]> {
  return db.rows<PersonalNotification>(sql`
    select id, event_id as "eventId", recipient from notifications
    where environment_id = ${environment.id} and subscriber_id = any(${page.subscriberIds}::uuid[])
      and id > ${page.after ?? firstIdAt(new Date(0))}::uuid
    order by id limit ${page.limit}`)
}

export async function deleteNotifications(tx: Tx, environment: Environment, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  return tx.run(sql`delete from notifications where environment_id = ${environment.id} and id = any(${ids}::uuid[])`)
}
