// The suppressions table: addresses that nothing is sent to.
import type { Part } from '../../db/one-statement.ts'
import type { Db, Sql, Statement, Tx } from '../../db/sql.ts'
import { prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { hiddenAddress } from '../../domain/people/erasure.ts'
import type {
  NewSuppression,
  Suppression,
  SuppressionChannel,
  SuppressionReason,
  SuppressionSource,
} from '../../domain/people/suppression.ts'
import { findAddressKey } from '../operate/installation.ts'

export interface SuppressionRow {
  readonly channel: SuppressionChannel
  readonly address: string
  readonly reason: SuppressionReason
  readonly source: SuppressionSource
  readonly note: string | null
  readonly created_at: Date
}

export const suppressionColumns = sql`channel, address, reason, source, note, created_at`

/**
 * Adds what a provider or a recipient reported. An existing entry keeps its reason, unless the new one is stronger: an
 * opt-out lets critical messages through, a bounce does not.
 */
export async function suppress(
  tx: Tx,
  environment: Environment,
  entries: readonly NewSuppression[],
  now: Date,
): Promise<void> {
  if (entries.length > 0) await tx.run(suppressionInsertion(environment, entries, now).statement)
}

/** The same as a part of a larger statement. */
export function suppressionInsertion(environment: Environment, entries: readonly NewSuppression[], now: Date): Part {
  const insertion = inserted(environment, entries, now)
  return {
    as: sql`suppressed`,
    name: 'suppress',
    statement: sql`${insertion} do update set reason = excluded.reason, source = excluded.source, note = excluded.note
      where suppressions.reason = 'opted_out' and excluded.reason <> 'opted_out'`,
  }
}

export interface UpsertedSuppression {
  readonly suppression: Suppression
  readonly created: boolean
}

/**
 * Adds what the caller states, who has the last word: an existing entry gets the new reason and note, and keeps its
 * age.
 */
export async function upsertSuppressions(
  tx: Tx,
  environment: Environment,
  entries: readonly NewSuppression[],
  now: Date,
): Promise<UpsertedSuppression[]> {
  const rows = await tx.rows<SuppressionRow & { created: boolean }>(sql`
    ${inserted(environment, entries, now)}
    do update set reason = excluded.reason, source = excluded.source, note = excluded.note
    returning ${suppressionColumns}, (xmax = 0) as created`)
  return rows.map((row) => ({ suppression: suppressionOf(row), created: row.created }))
}

/** In the order of their addresses, as every such statement does, and each once: two calls then wait and do not deadlock. */
function inserted(environment: Environment, entries: readonly NewSuppression[], now: Date): Statement {
  const unique = [...new Map(entries.map((entry) => [`${entry.channel}/${entry.address}`, entry])).values()]
  return sql`
    insert into suppressions (environment_id, channel, address, reason, source, note, created_at)
    select ${environment.id}::uuid, g.channel, g.address, g.reason, g.source, g.note, ${now}::timestamptz
    from unnest(${unique.map((entry) => entry.channel)}::text[], ${unique.map((entry) => entry.address)}::text[],
                ${unique.map((entry) => entry.reason)}::text[], ${unique.map((entry) => entry.source)}::text[],
                ${unique.map((entry) => entry.note ?? null)}::text[]) as g (channel, address, reason, source, note)
    order by g.channel, g.address
    on conflict (environment_id, channel, address)`
}

/** What was listed. */
export async function deleteSuppression(
  tx: Tx,
  environment: Environment,
  { channel, address }: { channel: SuppressionChannel; address: string },
): Promise<Suppression | undefined> {
  const row = await tx.row<SuppressionRow>(sql`
    delete from suppressions
    where environment_id = ${environment.id} and channel = ${channel} and address = ${address}
    returning ${suppressionColumns}`)
  return row && suppressionOf(row)
}

/**
 * Those of the addresses that are listed; no one else changes them before the transaction ends. Locked in their order.
 */
export async function lockSuppressions(
  tx: Tx,
  environment: Environment,
  asked: readonly { channel: SuppressionChannel; address: string }[],
): Promise<Suppression[]> {
  const rows = await tx.rows<SuppressionRow>(sql`
    select found.* from (
      select * from unnest(${asked.map((one) => one.channel)}::text[], ${asked.map((one) => one.address)}::text[])
        as given (channel, address) order by channel, address) as asked
    cross join lateral (
      select ${suppressionColumns} from suppressions s
      where s.environment_id = ${environment.id} and s.channel = asked.channel and s.address = asked.address
      limit 1 for no key update) as found`)
  return rows.map(suppressionOf)
}

/** Which of these addresses are listed as they are. One statement for a batch, each address looked up by its key. */
export async function findSuppressed(
  db: Sql,
  environment: Environment,
  asked: readonly { channel: SuppressionChannel; address: string }[],
): Promise<Suppression[]> {
  if (asked.length === 0) return []
  const rows = await db.rows<SuppressionRow>(
    prepared(
      'suppressions-find',
      sql`select found.* from unnest(${asked.map((one) => one.channel)}::text[], ${asked.map((one) => one.address)}::text[])
            as asked (channel, address)
          cross join lateral (
            select ${suppressionColumns} from suppressions s
            where s.environment_id = ${environment.id} and s.channel = asked.channel and s.address = asked.address
            limit 1) as found`,
    ),
  )
  return rows.map(suppressionOf)
}

export function suppressionOf(row: SuppressionRow): Suppression {
  return {
    channel: row.channel,
    address: row.address,
    reason: row.reason,
    source: row.source,
    ...(row.note === null ? {} : { note: row.note }),
    createdAt: row.created_at.toISOString(),
  }
}

/**
 * The same, and those of erased people, whose addresses are on the list as hashes: under the requested address. One
 * round trip, and a second only if a person was ever erased.
 */
export async function findSuppressedOrHidden(
  db: Db,
  sealer: Sealer,
  environment: Environment,
  asked: readonly { channel: SuppressionChannel; address: string }[],
): Promise<Suppression[]> {
  if (asked.length === 0) return []
  const [found, key] = await db.together((one) =>
    Promise.all([findSuppressed(one, environment, asked), findAddressKey(one, sealer, environment)]),
  )
  return [...found, ...(await findHidden(db, environment, key, asked))]
}

/** The same in a transaction. */
export async function findListed(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  asked: readonly { channel: SuppressionChannel; address: string }[],
): Promise<Suppression[]> {
  if (asked.length === 0) return []
  const found = await findSuppressed(tx, environment, asked)
  const key = await findAddressKey(tx, sealer, environment)
  return [...found, ...(await findHidden(tx, environment, key, asked))]
}

async function findHidden(
  db: Sql,
  environment: Environment,
  key: Buffer | undefined,
  asked: readonly { channel: SuppressionChannel; address: string }[],
): Promise<Suppression[]> {
  if (key === undefined) return []
  const byHash = new Map(asked.map((one) => [hiddenAddress(key, one.channel, one.address), one]))
  const hashes = [...byHash].map(([address, { channel }]) => ({ channel, address }))
  const hidden = await findSuppressed(db, environment, hashes)
  return hidden.map((one) => ({ ...one, ...(byHash.get(one.address) ?? {}) }))
}

export interface HiddenAddress {
  readonly channel: SuppressionChannel
  readonly address: string
  /** What is stored instead. */
  readonly hidden: string
}

/** Listed ones stay listed as their hashes, without their notes; returns how many there were. */
export async function hideSuppressions(
  tx: Tx,
  environment: Environment,
  addresses: readonly HiddenAddress[],
): Promise<number> {
  if (addresses.length === 0) return 0
  const asked = sql`unnest(${addresses.map((one) => one.channel)}::text[], ${addresses.map((one) => one.address)}::text[],
    ${addresses.map((one) => one.hidden)}::text[]) as h (channel, address, hidden)`
  const rows = await tx.rows<SuppressionRow & { hidden: string }>(sql`
    delete from suppressions s using ${asked}
    where s.environment_id = ${environment.id} and s.channel = h.channel and s.address = h.address
    returning s.channel, s.address, s.reason, s.source, s.note, s.created_at, h.hidden`)
  if (rows.length === 0) return 0
  const column = <Value>(read: (row: SuppressionRow & { hidden: string }) => Value): Value[] => rows.map(read)
  await tx.run(sql`
    insert into suppressions (environment_id, channel, address, reason, source, created_at)
    select ${environment.id}, k.channel, k.address, k.reason, k.source, k.created_at
    from unnest(${column((row) => row.channel)}::text[], ${column((row) => row.hidden)}::text[],
                ${column((row) => row.reason)}::text[], ${column((row) => row.source)}::text[],
                ${column((row) => row.created_at)}::timestamptz[]) as k (channel, address, reason, source, created_at)
    order by k.channel, k.address
    on conflict (environment_id, channel, address) do update set reason = excluded.reason, source = excluded.source
      where suppressions.reason = 'opted_out' and excluded.reason <> 'opted_out'`)
  return rows.length
}
