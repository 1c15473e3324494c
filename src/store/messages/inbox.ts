// The messages of one subscriber's inbox, and the conditions that filters of it come to.
import type { Statement, Tx } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Inbox } from '../../domain/messages/inbox.ts'
import type { DataCondition, InboxFilter } from '../../domain/messages/inbox-filter.ts'
import { deletedAtOnceMax } from './delete.ts'
import type { CountedInboxes } from './inbox-changes.ts'
import { changeNumber } from './inbox-changes.ts'
import { isInFeed } from './rows.ts'

/** Of a row called `m`: its contexts are exactly these. They are stored sorted, and none as null. Undefined: any. */
export function inContexts(contextKeys: readonly string[] | undefined): Statement {
  if (contextKeys === undefined) return sql`true`
  return contextKeys.length === 0 ? sql`m.context_keys is null` : sql`m.context_keys = ${contextKeys}::text[]`
}

/**
 * Whether only what is in the index of open messages can match: unread or unseen, and not snoozed. The words of the index
 * are written out, since only so does the planner see that it serves.
 */
export const isOpenOnly = (filter: InboxFilter): boolean =>
  filter.snoozed === false && (filter.read === false || filter.seen === false)

/** Of a row called `m`, all but the contexts. */
export function matchesFilter(environment: Environment, filter: InboxFilter): Statement {
  const { read, seen, archived, snoozed, severities, tags = [], data = [], createdGte, createdLte } = filter
  return allOf([
    ...(read === undefined ? [] : [read ? sql`m.read` : sql`not m.read`]),
    ...(seen === undefined ? [] : [seen ? sql`m.seen` : sql`not m.seen`]),
    ...(archived === undefined ? [] : [archived ? sql`m.archived` : sql`not m.archived`]),
    ...(snoozed === undefined ? [] : [snoozed ? sql`m.snoozed_until is not null` : sql`m.snoozed_until is null`]),
    ...(severities === undefined ? [] : [sql`coalesce(m.severity, 'none') = any(${severities}::text[])`]),
    ...(createdGte === undefined ? [] : [sql`m.created_at >= ${new Date(createdGte)}::timestamptz`]),
    ...(createdLte === undefined ? [] : [sql`m.created_at <= ${new Date(createdLte)}::timestamptz`]),
    ...(tags.length === 0 ? [] : [hasTags(environment, tags)]),
    ...data.flatMap(hasData),
  ])
}

/** By key, a row at a time: joined, the planner would read every version of the environment. */
function hasTags(environment: Environment, groups: NonNullable<InboxFilter['tags']>): Statement {
  const each = allOf(groups.map((group) => sql`v.tags ?| ${group}::text[]`))
  return sql`exists (
    select from workflow_versions v where v.environment_id = ${environment.id} and v.id = m.version_id and ${each})`
}

/** A list contains each of its elements, and a plain value itself. */
const hasData = ({ path, groups }: DataCondition): Statement[] =>
  groups.map((group) => {
    const values = group.map((value) => JSON.stringify(value))
    return sql`m.data #> ${path}::text[] @> any(${values}::jsonb[])`
  })

/** The next of the feed that match, locked, a batch at the most. */
export async function lockInbox(tx: Tx, inbox: Inbox, filter: InboxFilter): Promise<string[]> {
  const { environment, id, contextKeys } = inbox
  const rows = await tx.rows<{ id: string }>(sql`
    select m.id from messages m
    where m.environment_id = ${environment.id} and m.subscriber_id = ${id} and ${isInFeed} and ${inContexts(contextKeys)}
      and ${matchesFilter(environment, filter)}
    order by m.created_at, m.id limit ${deletedAtOnceMax} for no key update of m`)
  return rows.map((row) => row.id)
}

/** Back in the feed where it was, as it was. False when it was not put off. */
export async function endSnoozeEarly(
  tx: Tx,
  environment: Environment,
  message: { id: string; now: Date; counted: CountedInboxes },
): Promise<boolean> {
  const count = await tx.run(sql`
    update messages m set snoozed_until = null, updated_at = ${message.now}, change = ${changeNumber(message.counted)}
    where m.environment_id = ${environment.id} and m.id = ${message.id} and m.snoozed_until is not null
      and m.deleted_at is null`)
  return count > 0
}
