// The subscribers table. Every write is a batch; one is a batch of one.

import type { Part } from '../../db/one-statement.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { DatabaseUnavailable, json, prepared, sql, unseen } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { ChannelSettings } from '../../domain/people/channel-settings.ts'
import type { Subscriber, SubscriberFields } from '../../domain/people/subscriber.ts'
import type { SubscriberPreferences } from '../../domain/preferences/preference.ts'

export interface SubscriberRow {
  readonly id: string
  readonly subscriber_id: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly avatar: string | null
  readonly locale: string | null
  readonly timezone: string | null
  readonly data: Record<string, unknown> | null
  /** Null for those who never chose anything. */
  readonly preferences: SubscriberPreferences | null
  readonly is_online: boolean
  readonly last_online_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** As a recipient: all of it is read with every step, so it has only the fields needed for that. */
export type RecipientRow = Omit<SubscriberRow, 'created_at' | 'updated_at'>

const recipientColumns = sql`s.id, s.subscriber_id, s.first_name, s.last_name, s.email, s.phone, s.avatar, s.locale,
  s.timezone, s.data, s.preferences, s.is_online, s.last_online_at`
export const subscriberColumns = sql`${recipientColumns}, s.created_at, s.updated_at`

export interface SubscriberUpsert {
  /** The id it gets if it is new. */
  readonly id: string
  readonly subscriberId: string
  readonly fields: SubscriberFields
}

export interface UpsertedSubscriber {
  readonly row: SubscriberRow
  readonly created: boolean
}

/** A row that is inserted and deleted by others in turn is tried this often before we give up. */
const upsertTries = 5

/**
 * Inserts the missing and updates those whose fields differ; results in the order of the input, which contains no id
 * twice. Two statements, not one: `on conflict do nothing` and a select in one statement share a snapshot, and a row
 * that another request committed in the meantime would be in neither.
 */
export async function upsertSubscribers(
  tx: Tx,
  environment: Environment,
  upserts: readonly SubscriberUpsert[],
  now: Date,
): Promise<UpsertedSubscriber[]> {
  const done = new Map<string, UpsertedSubscriber>()
  let left = upserts
  for (let attempt = 1; left.length > 0; attempt += 1) {
    if (attempt > upsertTries) throw new DatabaseUnavailable('A subscriber could neither be inserted nor found')
    for (const row of await insertMissing(tx, environment, left, now))
      done.set(row.subscriber_id, { row, created: true })
    left = left.filter((upsert) => !done.has(upsert.subscriberId))
    for (const row of await updateSubscribers(tx, environment, left, now))
      done.set(row.subscriber_id, { row, created: false })
    left = left.filter((upsert) => !done.has(upsert.subscriberId))
  }
  return upserts.map((upsert) => {
    const result = done.get(upsert.subscriberId)
    if (result === undefined) throw new Error('An upserted subscriber is missing from the result')
    return result
  })
}

/** Inserts those that are not there yet, in the order of their ids, as every such statement does: two calls then wait and do not deadlock. */
export async function insertMissing(
  tx: Tx,
  environment: Environment,
  upserts: readonly SubscriberUpsert[],
  now: Date,
): Promise<SubscriberRow[]> {
  const insertion = insertionOf(environment, upserts, now)
  return tx.rows<SubscriberRow>(prepared('subscribers-insert', sql`${insertion} returning ${subscriberColumns}`))
}

const insertionOf = (environment: Environment, upserts: readonly SubscriberUpsert[], now: Date): Statement => sql`
  insert into subscribers as s (environment_id, id, subscriber_id, first_name, last_name, email, phone, avatar, locale,
                                timezone, data, created_at, updated_at)
  select ${environment.id}::uuid, g.id, g.subscriber_id, g.first_name, g.last_name, g.email, g.phone, g.avatar, g.locale,
         g.timezone, g.data, ${now}::timestamptz, ${now}::timestamptz
  from ${given(upserts)} as g order by g.subscriber_id
  on conflict (environment_id, subscriber_id) where deleted_at is null do nothing`

/** The same as a part of a larger statement, which is given how many there were. */
export const subscriberInsertion = (
  environment: Environment,
  upserts: readonly SubscriberUpsert[],
  now: Date,
): Part => ({
  as: sql`new_subscribers`,
  name: 'subscriber',
  statement: sql`${insertionOf(environment, upserts, now)} returning s.id`,
})

export interface SubscriberChange extends SubscriberUpsert {
  /** When the row was last changed, as it was read. */
  readonly readAs: Date
}

/** As a part of a larger statement, which is given how many there were: without those who are no longer as they were read. */
export const subscriberChanges = (environment: Environment, changes: readonly SubscriberChange[], now: Date): Part => {
  const place = sql`array_position(${changes.map(({ id }) => id)}::uuid[], s.id)`
  const isAsRead = sql`and s.id = g.id and s.updated_at = (${changes.map(({ readAs }) => readAs)}::timestamptz[])[${place}]`
  return {
    as: sql`changed_subscribers`,
    name: 'subscriber-change',
    statement: sql`${changesOf(environment, changes, now, isAsRead)} returning s.id`,
  }
}

/** Updates those that exist where a given field differs, and returns all that exist. */
export async function updateSubscribers(
  tx: Tx,
  environment: Environment,
  upserts: readonly SubscriberUpsert[],
  now: Date,
): Promise<SubscriberRow[]> {
  if (upserts.length === 0) return []
  const changes = changesOf(environment, upserts, now)
  const changed = await tx.rows<SubscriberRow>(
    prepared('subscribers-update', sql`${changes} returning ${subscriberColumns}`),
  )
  // The others are read by a statement of their own: this one's snapshot is older than the locks it waited for.
  const ids = new Set(upserts.map((upsert) => upsert.subscriberId))
  for (const row of changed) ids.delete(row.subscriber_id)
  return ids.size === 0 ? changed : [...changed, ...(await findSubscriberRows(tx, environment, [...ids]))]
}

/**
 * Each row is looked up by its key (lateral) and written through its key (on conflict): a join would be planned by
 * statistics, and before the first analyze those make it read the whole environment (0.7 ms per row at 6,400 rows).
 */
const changesOf = (
  environment: Environment,
  upserts: readonly SubscriberUpsert[],
  now: Date,
  condition: Statement = sql``,
): Statement => sql`
  with wanted as materialized (
    select s.id, s.subscriber_id, s.created_at, ${merged}
    from (select * from ${given(upserts)} as sorted order by subscriber_id) as g
    cross join lateral (
      select * from subscribers s
      where s.environment_id = ${environment.id}::uuid and s.subscriber_id >= g.subscriber_id
        and s.subscriber_id <= g.subscriber_id and s.deleted_at is null and ${differs} ${condition}
      order by s.subscriber_id limit 1 for update) as s)
  insert into subscribers as s (environment_id, id, subscriber_id, first_name, last_name, email, phone, avatar, locale,
                                timezone, data, created_at, updated_at)
  select ${environment.id}::uuid, id, subscriber_id, first_name, last_name, email, phone, avatar, locale, timezone, data,
         created_at, ${now}::timestamptz
  from wanted
  on conflict (environment_id, id) do update
    set first_name = excluded.first_name, last_name = excluded.last_name, email = excluded.email,
        phone = excluded.phone, avatar = excluded.avatar, locale = excluded.locale, timezone = excluded.timezone,
        data = excluded.data, updated_at = excluded.updated_at`

/**
 * The rows of these ids as `s`, each looked up by its key. Written as a range in the index's own order: before the
 * first analyze every index that begins with the environment looks the same to the planner, and with an equality it
 * chose one that made it read the whole environment (210 ms against 0.6 ms at 10,000 rows).
 */
function rowsNamed(environment: Environment, subscriberIds: readonly string[]): Statement {
  return sql`unnest(${unseen(sql`${subscriberIds}::text[]`)}) as named (subscriber_id)
    cross join lateral (
      select * from subscribers found
      where found.environment_id = ${environment.id} and found.subscriber_id >= named.subscriber_id
        and found.subscriber_id <= named.subscriber_id and found.deleted_at is null
      order by found.subscriber_id limit 1) as s`
}

/** One of them, as `s`, with the version of its row, for a statement that goes on from there. */
export const rowNamed = (environment: Environment, subscriberId: string): Statement => sql`(
  select found.*, found.xmin::text as row_version from subscribers found
  where found.environment_id = ${environment.id} and found.subscriber_id >= ${subscriberId}
    and found.subscriber_id <= ${subscriberId} and found.deleted_at is null
  order by found.subscriber_id limit 1) as s`

// Which fields were given, as bits: absent and null are different things to say.
const fieldBits = {
  firstName: 1,
  lastName: 2,
  email: 4,
  phone: 8,
  avatar: 16,
  locale: 32,
  timezone: 64,
  data: 128,
} as const

function given(upserts: readonly SubscriberUpsert[]): Statement {
  const text = (name: Exclude<keyof SubscriberFields, 'data'>) => upserts.map((upsert) => upsert.fields[name] ?? null)
  return sql`(select u.id, u.subscriber_id, u.bits, u.first_name, u.last_name, u.email, u.phone, u.avatar, u.locale,
                     u.timezone, u.data::jsonb as data
    from unnest(${upserts.map((upsert) => upsert.id)}::uuid[], ${upserts.map((upsert) => upsert.subscriberId)}::text[],
      ${upserts.map((upsert) => bitsOf(upsert.fields))}::int[], ${text('firstName')}::text[], ${text('lastName')}::text[],
      ${text('email')}::text[], ${text('phone')}::text[], ${text('avatar')}::text[], ${text('locale')}::text[],
      ${text('timezone')}::text[], ${upserts.map((upsert) => json(upsert.fields.data))}::text[])
      as u (id, subscriber_id, bits, first_name, last_name, email, phone, avatar, locale, timezone, data))`
}

function bitsOf(fields: SubscriberFields): number {
  return Object.entries(fieldBits).reduce(
    (bits, [name, bit]) => (fields[name as keyof SubscriberFields] === undefined ? bits : bits | bit),
    0,
  )
}

const merged = sql`
  case when g.bits & 1 <> 0 then g.first_name else s.first_name end as first_name,
  case when g.bits & 2 <> 0 then g.last_name else s.last_name end as last_name,
  case when g.bits & 4 <> 0 then g.email else s.email end as email,
  case when g.bits & 8 <> 0 then g.phone else s.phone end as phone,
  case when g.bits & 16 <> 0 then g.avatar else s.avatar end as avatar,
  case when g.bits & 32 <> 0 then g.locale else s.locale end as locale,
  case when g.bits & 64 <> 0 then g.timezone else s.timezone end as timezone,
  case when g.bits & 128 <> 0 then g.data else s.data end as data`

const differs = sql`(
  g.bits & 1 <> 0 and g.first_name is distinct from s.first_name
  or g.bits & 2 <> 0 and g.last_name is distinct from s.last_name
  or g.bits & 4 <> 0 and g.email is distinct from s.email
  or g.bits & 8 <> 0 and g.phone is distinct from s.phone
  or g.bits & 16 <> 0 and g.avatar is distinct from s.avatar
  or g.bits & 32 <> 0 and g.locale is distinct from s.locale
  or g.bits & 64 <> 0 and g.timezone is distinct from s.timezone
  or g.bits & 128 <> 0 and g.data is distinct from s.data)`

export async function findSubscriberRows(
  db: Sql,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<SubscriberRow[]> {
  return db.rows<SubscriberRow>(
    prepared('subscribers-find', sql`select ${subscriberColumns} from ${rowsNamed(environment, subscriberIds)}`),
  )
}

/** The internal ids of those that exist, by subscriberId: all that is needed if nothing of them is changed. */
export async function findSubscriberIds(
  db: Sql,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.rows<{ id: string; subscriber_id: string }>(
    prepared('subscribers-find-ids', sql`select s.id, s.subscriber_id from ${rowsNamed(environment, subscriberIds)}`),
  )
  return new Map(rows.map((row) => [row.subscriber_id, row.id]))
}

/** By internal id; deleted ones are not found. */
export async function findSubscribersById(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<SubscriberRow[]> {
  if (ids.length === 0) return []
  const rows = rowsOf(environment, ids)
  return db.rows<SubscriberRow>(prepared('subscribers-find-by-id', sql`select ${subscriberColumns} from ${rows}`))
}

/** The same, as recipients. */
export async function findRecipients(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<RecipientRow[]> {
  if (ids.length === 0) return []
  const rows = rowsOf(environment, ids)
  return db.rows<RecipientRow>(prepared('subscribers-find-recipients', sql`select ${recipientColumns} from ${rows}`))
}

const rowsOf = (
  environment: Environment,
  ids: readonly string[],
): Statement => sql`unnest(${unseen(sql`${ids}::uuid[]`)}) as named (id)
  cross join lateral (
    select * from subscribers found
    where found.environment_id = ${environment.id} and found.id = named.id limit 1) as s
  where s.deleted_at is null`

/** Online now, or just gone: `lastOnlineAt` is set when a subscriber goes offline. */
export async function setOnline(
  tx: Tx,
  environment: Environment,
  change: { subscriberId: string; isOnline: boolean; now: Date },
): Promise<SubscriberRow | undefined> {
  return tx.row<SubscriberRow>(sql`
    update subscribers s set is_online = ${change.isOnline}, updated_at = ${change.now},
      last_online_at = case when ${change.isOnline} then s.last_online_at else ${change.now}::timestamptz end
    where s.environment_id = ${environment.id} and s.subscriber_id = ${change.subscriberId} and s.deleted_at is null
    returning ${subscriberColumns}`)
}

/** The same for many, by internal ids; only rows that differ are written, and `updatedAt` stays. */
export async function setOnlineMany(
  tx: Tx,
  environment: Pick<Environment, 'id'>,
  change: { ids: readonly string[]; isOnline: boolean; now: Date },
): Promise<void> {
  if (change.ids.length === 0) return
  await tx.run(sql`
    update subscribers s set is_online = ${change.isOnline},
      last_online_at = case when ${change.isOnline} then s.last_online_at else ${change.now}::timestamptz end
    where s.environment_id = ${environment.id} and s.id = any(${change.ids}::uuid[])
      and s.is_online is distinct from ${change.isOnline}`)
}

/** Locked until the transaction ends: preferences are read, changed and written as one document. */
export async function lockPreferences(
  tx: Tx,
  environment: Environment,
  subscriberId: string,
): Promise<Pick<SubscriberRow, 'id' | 'preferences'> | undefined> {
  return tx.row<Pick<SubscriberRow, 'id' | 'preferences'>>(sql`
    select s.id, s.preferences from subscribers s
    where s.environment_id = ${environment.id} and s.subscriber_id = ${subscriberId} and s.deleted_at is null
    for no key update`)
}

export async function savePreferences(
  tx: Tx,
  environment: Environment,
  change: { id: string; preferences: SubscriberPreferences; now: Date },
): Promise<void> {
  await tx.run(sql`
    update subscribers set preferences = ${json(change.preferences)}::jsonb, updated_at = ${change.now}
    where environment_id = ${environment.id} and id = ${change.id}`)
}

/** Softly: the row stays for the activity that refers to it, and no read finds it. The internal id, or undefined. */
export async function markSubscriberDeleted(
  tx: Tx,
  environment: Environment,
  subscriberId: string,
  now: Date,
): Promise<string | undefined> {
  const row = await tx.row<{ id: string }>(sql`
    update subscribers set deleted_at = ${now}, updated_at = ${now}
    where environment_id = ${environment.id} and subscriber_id = ${subscriberId} and deleted_at is null
    returning id`)
  return row?.id
}

/** What callers set, as it is stored. */
export function storedFields(row: RecipientRow) {
  return {
    firstName: row.first_name,
    lastName: row.last_name,
    email: row.email,
    phone: row.phone,
    avatar: row.avatar,
    locale: row.locale,
    timezone: row.timezone,
    data: row.data,
  }
}

export function subscriberOf(
  environment: Environment,
  row: SubscriberRow,
  channels: readonly ChannelSettings[],
): Subscriber {
  return {
    _id: row.id,
    subscriberId: row.subscriber_id,
    ...storedFields(row),
    channels,
    isOnline: row.is_online,
    lastOnlineAt: row.last_online_at?.toISOString() ?? null,
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
    deleted: false,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    __v: 0,
  }
}

/** For good: nothing may refer to them any more. */
export async function eraseSubscribers(tx: Tx, environment: Environment, ids: readonly string[]): Promise<number> {
  return tx.run(sql`delete from subscribers where environment_id = ${environment.id} and id = any(${ids}::uuid[])`)
}
