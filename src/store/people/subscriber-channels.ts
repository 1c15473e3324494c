// The subscriber_channels table: sealed credentials, one entry a subscriber, provider and integration.

import type { Sql, Tx } from '../../db/sql.ts'
import { prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { ChannelCredentials, ChannelSettings } from '../../domain/people/channel-settings.ts'
import { mergeChannelCredentials } from '../../domain/people/channel-settings.ts'
import { isSealedOtherwise, resealed } from '../operate/sealed-columns.ts'

export interface ChannelChange {
  /** The subscriber's internal id. */
  readonly subscriberId: string
  readonly providerId: string
  /** The integration it is for; null while the provider has none. */
  readonly integrationId: string | null
  readonly credentials: ChannelCredentials
}

export interface Entry {
  readonly id: string
  readonly subscriberId: string
  readonly providerId: string
  readonly integrationId: string | null
  readonly credentials: ChannelCredentials
}

/** The channels of each subscriber, oldest first. An entry without an integration shows the one it will belong to: the provider's newest, an active one first. */
export async function findChannels(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<Map<string, ChannelSettings[]>> {
  const rows = await db.rows<{
    id: string
    subscriber_id: string
    provider_id: string
    credentials: Buffer
    integration_id: string | null
    identifier: string | null
  }>(
    prepared(
      'subscriber-channels-find',
      sql`select c.id, c.subscriber_id, c.provider_id, c.credentials,
                 coalesce(c.integration_id, latest.id) as integration_id, coalesce(own.identifier, latest.identifier) as identifier
          from subscriber_channels c
          left join integrations own on own.environment_id = c.environment_id and own.id = c.integration_id
          left join lateral (
            select i.id, i.identifier from integrations i
            where c.integration_id is null and i.environment_id = c.environment_id and i.provider_id = c.provider_id
              and i.deleted_at is null
            order by i.active desc, i.id desc limit 1) latest on true
          where c.environment_id = ${environment.id} and c.subscriber_id = any(${subscriberIds}::uuid[])
          order by c.subscriber_id, c.id`,
    ),
  )
  const found = new Map<string, ChannelSettings[]>()
  for (const row of rows) {
    const settings: ChannelSettings = {
      providerId: row.provider_id,
      ...(row.identifier === null ? {} : { integrationIdentifier: row.identifier }),
      credentials: openCredentials(sealer, environment, row),
      _integrationId: row.integration_id ?? '',
    }
    found.set(row.subscriber_id, [...(found.get(row.subscriber_id) ?? []), settings])
  }
  return found
}

export interface MergedChannels {
  /** Subscribers that were deleted meanwhile. */
  readonly gone: ReadonlySet<string>
  /** Subscribers for whom something is different now. */
  readonly changed: ReadonlySet<string>
}

/**
 * Merges credentials into the entries of their subscribers; an entry that has them already is not written.
 * The subscribers' rows are locked first, in one order: an entry is read, merged and written, and two calls at once
 * must not each read the state before the other.
 */
export async function mergeChannels(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  changes: readonly ChannelChange[],
  written: { newId(at: Date): string; now: Date },
): Promise<MergedChannels> {
  const gone = new Set(changes.map((change) => change.subscriberId))
  if (gone.size === 0) return { gone, changed: gone }
  const there = await tx.rows<{ id: string }>(sql`
    select id from subscribers
    where environment_id = ${environment.id} and id = any(${[...gone]}::uuid[]) and deleted_at is null
    order by id for no key update`)
  for (const { id } of there) gone.delete(id)
  const entries = await findEntries(
    tx,
    sealer,
    environment,
    there.map((row) => row.id),
  )
  const living = changes.filter((change) => !gone.has(change.subscriberId))
  const before = new Map([...entries.values()].map((entry) => [entry.id, textOf(entry)]))
  const { touched, folded } = mergeEntries(entries, living, () => written.newId(written.now))
  const differing = touched.filter((entry) => before.get(entry.id) !== textOf(entry))
  await deleteEntries(tx, environment, folded)
  if (differing.length > 0) await writeEntries(tx, sealer, environment, differing, written.now)
  return { gone, changed: new Set(differing.map((entry) => entry.subscriberId)) }
}

const textOf = ({ integrationId, credentials }: Entry): string => JSON.stringify([integrationId, credentials])

export interface MergedEntries {
  readonly touched: readonly Entry[]
  /** Those that became part of others. */
  readonly folded: readonly Entry[]
}

/** Writes the changes into `entries`, which stand there by their places. */
export function mergeEntries(
  entries: Map<string, Entry>,
  changes: readonly ChannelChange[],
  newId: () => string,
): MergedEntries {
  const touched = new Map<string, Entry>()
  const folded: Entry[] = []
  for (const change of changes) {
    const own = entries.get(placeOf(change))
    // What was stored while the provider had no integration belongs to the first that comes.
    const kept = change.integrationId === null ? undefined : entries.get(placeOf({ ...change, integrationId: null }))
    const credentials = mergeChannelCredentials(kept?.credentials ?? {}, own?.credentials ?? {})
    const entry: Entry = {
      ...change,
      id: own?.id ?? kept?.id ?? newId(),
      credentials: mergeChannelCredentials(credentials, change.credentials),
    }
    if (own !== undefined && kept !== undefined) folded.push(kept)
    if (kept !== undefined) entries.delete(placeOf(kept))
    entries.set(placeOf(entry), entry)
    touched.set(entry.id, entry)
  }
  return { touched: [...touched.values()], folded }
}

/** A device that a provider reported as unregistered. */
export interface DeadToken {
  /** The subscriber's internal id. */
  readonly subscriberId: string
  readonly providerId: string
  readonly integrationId: string
  readonly token: string
}

/** Removes device tokens from their entries. The subscribers are locked as `mergeChannels` locks them. */
export async function removeDeviceTokens(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  dead: readonly DeadToken[],
  now: Date,
): Promise<void> {
  const there = await tx.rows<{ id: string }>(sql`
    select id from subscribers
    where environment_id = ${environment.id} and id = any(${[...new Set(dead.map((one) => one.subscriberId))]}::uuid[])
    order by id for no key update`)
  const ids = there.map((row) => row.id)
  const entries = await findEntries(tx, sealer, environment, ids)
  const touched = new Map<string, Entry>()
  for (const { token, ...place } of dead) {
    // What was stored while the provider had no integration is sent by the first that came.
    for (const integrationId of [place.integrationId, null]) {
      const found = entries.get(placeOf({ ...place, integrationId }))
      const entry = found && (touched.get(found.id) ?? found)
      const tokens = entry?.credentials.deviceTokens
      if (entry === undefined || tokens === undefined || !tokens.includes(token)) continue
      const deviceTokens = tokens.filter((one) => one !== token)
      touched.set(entry.id, { ...entry, credentials: { ...entry.credentials, deviceTokens } })
    }
  }
  if (touched.size > 0) await writeEntries(tx, sealer, environment, [...touched.values()], now)
}

/** One entry stands at each: subscriber, provider, integration. */
function placeOf(entry: Omit<ChannelChange, 'credentials'>): string {
  return `${entry.subscriberId}/${entry.providerId}/${entry.integrationId ?? ''}`
}

async function deleteEntries(tx: Tx, environment: Environment, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return
  await tx.run(sql`
    delete from subscriber_channels c
    using unnest(${entries.map((entry) => entry.subscriberId)}::uuid[], ${entries.map((entry) => entry.id)}::uuid[])
      as folded (subscriber_id, id)
    where c.environment_id = ${environment.id} and c.subscriber_id = folded.subscriber_id and c.id = folded.id`)
}

/** By place. */
export async function findEntries(
  tx: Sql,
  sealer: Sealer,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<Map<string, Entry>> {
  const rows = await tx.rows<Omit<Entry, 'credentials'> & { credentials: Buffer }>(sql`
    select id, subscriber_id as "subscriberId", provider_id as "providerId", integration_id as "integrationId", credentials
    from subscriber_channels
    where environment_id = ${environment.id} and subscriber_id = any(${subscriberIds}::uuid[])`)
  return new Map(rows.map((row) => [placeOf(row), { ...row, credentials: openCredentials(sealer, environment, row) }]))
}

async function writeEntries(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  entries: readonly Entry[],
  now: Date,
): Promise<void> {
  const sealed = entries.map((entry) =>
    sealer.seal(environment.id, 'channel-credentials', entry.id, JSON.stringify(entry.credentials)),
  )
  await tx.run(sql`
    insert into subscriber_channels (environment_id, subscriber_id, id, provider_id, integration_id, credentials,
                                     created_at, updated_at)
    select ${environment.id}, e.subscriber_id, e.id, e.provider_id, e.integration_id, e.credentials, ${now}, ${now}
    from unnest(${entries.map((entry) => entry.subscriberId)}::uuid[], ${entries.map((entry) => entry.id)}::uuid[],
                ${entries.map((entry) => entry.providerId)}::text[], ${entries.map((entry) => entry.integrationId)}::uuid[],
                ${sealed}::bytea[]) as e (subscriber_id, id, provider_id, integration_id, credentials)
    on conflict (environment_id, subscriber_id, id) do update
      set integration_id = excluded.integration_id, credentials = excluded.credentials, updated_at = excluded.updated_at`)
}

export async function deleteChannels(
  tx: Tx,
  environment: Environment,
  subscriberId: string,
  providerId?: string,
): Promise<number> {
  return tx.run(sql`
    delete from subscriber_channels
    where environment_id = ${environment.id} and subscriber_id = ${subscriberId}
      and (${providerId ?? null}::text is null or provider_id = ${providerId ?? null})`)
}

/** Reseals up to `limit` entries that another key sealed, in the order of their keys, after the given one. */
export async function resealChannels(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  after: string | undefined,
  limit: number,
): Promise<{ count: number; last: string | undefined }> {
  const [afterSubscriber, afterId] = after?.split('/') ?? [nilId, nilId]
  const rows = await tx.rows<{ id: string; subscriberId: string; credentials: Buffer }>(sql`
    select id, subscriber_id as "subscriberId", credentials from subscriber_channels
    where environment_id = ${environment.id} and (subscriber_id, id) > (${afterSubscriber}, ${afterId})
      and ${isSealedOtherwise(sql`credentials`, sealer)}
    order by subscriber_id, id limit ${limit} for update`)
  const sealed = rows.map((row) =>
    resealed(sealer, environment, { purpose: 'channel-credentials', record: row.id }, row.credentials),
  )
  await tx.run(sql`
    update subscriber_channels c set credentials = e.credentials
    from unnest(${rows.map((row) => row.subscriberId)}::uuid[], ${rows.map((row) => row.id)}::uuid[], ${sealed}::bytea[])
      as e (subscriber_id, id, credentials)
    where c.environment_id = ${environment.id} and c.subscriber_id = e.subscriber_id and c.id = e.id`)
  const last = rows.at(-1)
  return { count: rows.length, last: last === undefined ? undefined : `${last.subscriberId}/${last.id}` }
}

function openCredentials(
  sealer: Sealer,
  environment: Environment,
  { id, credentials }: { id: string; credentials: Buffer },
): ChannelCredentials {
  return JSON.parse(sealer.open(environment.id, 'channel-credentials', id, credentials)) as ChannelCredentials
}
