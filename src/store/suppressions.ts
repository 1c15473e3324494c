// The suppressions table: addresses that nothing is sent to.
import type { Part } from '../db/one-statement.ts'
import type { Sql, Statement, Tx } from '../db/sql.ts'
import { prepared, sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type {
  NewSuppression,
  Suppression,
  SuppressionChannel,
  SuppressionReason,
  SuppressionSource,
} from '../domain/suppression.ts'

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
 * Lists what a provider or a recipient said. Who is listed already keeps the reason, unless the new one holds for more: an
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

/** Lists what the caller says, who has the last word: one that is there gets the new reason and note, and keeps its age. */
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

export async function deleteSuppression(
  tx: Tx,
  environment: Environment,
  { channel, address }: { channel: SuppressionChannel; address: string },
): Promise<boolean> {
  const count = await tx.run(sql`
    delete from suppressions
    where environment_id = ${environment.id} and channel = ${channel} and address = ${address}`)
  return count > 0
}

/** Which of these addresses are listed. One statement for a batch, each address looked up by its key. */
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

/** Whether anybody at all is listed. */
export async function hasSuppressions(db: Sql, environment: Environment): Promise<boolean> {
  const row = await db.row<{ any: boolean }>(
    prepared(
      'suppressions-any',
      sql`select exists (select 1 from suppressions where environment_id = ${environment.id}) as any`,
    ),
  )
  return row?.any === true
}
