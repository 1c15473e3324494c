// The audit_streams table: addresses that the entries of an audit log are sent to, and how far each has come.
import type { Clock } from '../../db/clock.ts'
import { dueAfter, dueNow } from '../../db/due.ts'
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { UnsealError } from '../../domain/operate/sealed.ts'
import { isSealedOtherwise, resealed } from './sealed-columns.ts'

export interface AuditStream {
  readonly id: string
  /** Null where it was sealed with a key that this node does not have. */
  readonly url: string | null
  /** The last entry that was taken there. */
  readonly position: number
  /** In a row. */
  readonly failures: number
  readonly lastError: string | null
  readonly nextTryAt: Date
  readonly deliveredAt: Date | null
  readonly createdAt: Date
}

/** A stream whose turn is ours until `leasedUntil`. */
export interface LeasedStream extends AuditStream {
  readonly environment: Environment
  readonly lease: string
}

type Row = Omit<AuditStream, 'url'> & { readonly sealed: Buffer }

const columns = sql`s.id, s.url as sealed, s.position, s.failures, s.last_error as "lastError", s.next_try_at as "nextTryAt",
  s.delivered_at as "deliveredAt", s.created_at as "createdAt"`

function streamOf(sealer: Sealer, environmentId: string, { sealed, ...row }: Row): AuditStream {
  return { ...row, url: addressOf(sealer, environmentId, row.id, sealed) }
}

/** One that cannot be opened must not stop the others, nor its own deletion. */
function addressOf(sealer: Sealer, environmentId: string, id: string, sealed: Buffer): string | null {
  try {
    return sealer.open(environmentId, 'audit-stream', id, sealed)
  } catch (error) {
    if (error instanceof UnsealError) return null
    throw error
  }
}

/** One too many is refused before; no environment has more. */
export const streamsMax = 5

export async function listAuditStreams(db: Sql, sealer: Sealer, environment: Environment): Promise<AuditStream[]> {
  const rows = await db.rows<Row>(sql`
    select ${columns} from audit_streams s where s.environment_id = ${environment.id} order by s.id limit ${streamsMax}`)
  return rows.map((row) => streamOf(sealer, environment.id, row))
}

export async function insertAuditStream(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  { id, url, position, now }: { id: string; url: string; position: number; now: Date },
): Promise<void> {
  const sealed = sealer.seal(environment.id, 'audit-stream', id, url)
  await tx.run(sql`
    insert into audit_streams (environment_id, id, url, position, next_try_at, created_at)
    values (${environment.id}, ${id}, ${sealed}, ${position}, ${dueNow(now)}, ${now})`)
}

export async function deleteAuditStream(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  id: string,
): Promise<AuditStream | undefined> {
  const row = await tx.row<Row>(sql`
    delete from audit_streams s where s.environment_id = ${environment.id} and s.id = ${id} returning ${columns}`)
  return row && streamOf(sealer, environment.id, row)
}

/** How long a node has the turn of a stream, by a clock that all nodes share. */
interface AuditTurn {
  readonly leaseMs: number
  readonly clock: Clock
}

/**
 * The one that has waited longest of those that are due and have something to send, of any environment that is not held after a
 * restore: its turn is the caller's for so long.
 */
export async function leaseAuditStream(
  tx: Tx,
  sealer: Sealer,
  { lease, leaseMs, clock }: AuditTurn & { lease: string },
): Promise<LeasedStream | undefined> {
  const row = await tx.row<Row & { environmentId: string; organizationId: string; name: string }>(sql`
    with due as (
      select d.environment_id, d.id from audit_streams d
      where d.next_try_at <= ${clock()} and (d.leased_until is null or d.leased_until <= ${clock()})
        and exists (select 1 from audit_log a where a.environment_id = d.environment_id and a.seq > d.position)
        and not exists (select 1 from sending_holds h where h.environment_id = d.environment_id)
      order by d.next_try_at limit 1 for update skip locked)
    update audit_streams s set lease = ${lease}, leased_until = ${dueAfter(clock, leaseMs)}
    from due, environments e
    where s.environment_id = due.environment_id and s.id = due.id and e.id = s.environment_id
    returning ${columns}, e.id as "environmentId", e.organization_id as "organizationId", e.name`)
  if (row === undefined) return undefined
  const { environmentId, organizationId, name, ...stream } = row
  return { ...streamOf(sealer, environmentId, stream), environment: { id: environmentId, organizationId, name }, lease }
}

/** Entries up to here have arrived. False where the turn was another's by then. */
export async function advanceAuditStream(
  db: Sql,
  { environment, id, lease }: LeasedStream,
  { position, now, leaseMs, clock }: AuditTurn & { position: number; now: Date },
): Promise<boolean> {
  const count = await db.run(sql`
    update audit_streams set position = ${position}, failures = 0, last_error = null, delivered_at = ${now},
      next_try_at = ${clock()}, leased_until = ${dueAfter(clock, leaseMs)}
    where environment_id = ${environment.id} and id = ${id} and lease = ${lease}`)
  return count > 0
}

/** The turn is over; with what went wrong, if anything did. */
export async function endAuditTurn(
  db: Sql,
  { environment, id, lease }: LeasedStream,
  failure?: { error: string; waitMs: number; clock: Clock },
): Promise<void> {
  await db.run(sql`
    update audit_streams set lease = null, leased_until = null,
      failures = failures + ${failure === undefined ? 0 : 1}, last_error = coalesce(${failure?.error ?? null}, last_error),
      next_try_at = ${failure === undefined ? sql`next_try_at` : dueAfter(failure.clock, failure.waitMs)}
    where environment_id = ${environment.id} and id = ${id} and lease = ${lease}`)
}

/** Moves the next batch of addresses to the current encryption key. */
export async function resealAuditStreams(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  after: string | undefined,
  limit: number,
): Promise<{ count: number; last: string | undefined }> {
  const rows = await tx.rows<{ id: string; sealed: Buffer }>(sql`
    select id, url as sealed from audit_streams
    where environment_id = ${environment.id} and id > ${after ?? nilId} and ${isSealedOtherwise(sql`url`, sealer)}
    order by id limit ${limit} for no key update`)
  const sealed = rows.map((row) =>
    resealed(sealer, environment, { purpose: 'audit-stream', record: row.id }, row.sealed),
  )
  await tx.run(sql`
    update audit_streams s set url = again.sealed
    from unnest(${rows.map((row) => row.id)}::uuid[], ${sealed}::bytea[]) as again (id, sealed)
    where s.environment_id = ${environment.id} and s.id = again.id`)
  return { count: rows.length, last: rows.at(-1)?.id }
}
