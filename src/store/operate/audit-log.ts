// The audit_log table: added to, and never changed; the database itself refuses that.
import type { Sql, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { AuditAction, AuditEntry, AuditHead, KeyedEntry, ResourceKind } from '../../domain/operate/audit.ts'
import { emptyLog } from '../../domain/operate/audit.ts'
import type { Members } from '../../domain/operate/audit-difference.ts'

export interface AuditRow {
  readonly seq: number
  readonly at: Date
  readonly key_id: string
  readonly key_name: string
  readonly address: string
  readonly request_id: string | null
  readonly action: AuditAction
  readonly resource_kind: ResourceKind
  readonly resource_id: string
  readonly resource_name: string
  readonly before: Members | null
  readonly after: Members | null
  readonly previous_hash: Buffer
  readonly hash: Buffer
}

export const auditColumns = sql`seq, at, key_id, key_name, address, request_id, action, resource_kind, resource_id,
  resource_name, before, after, previous_hash, hash`

/** Lets one transaction at a time append to the log of an environment. Its holder waits for nothing else any more. */
export async function lockAuditLog(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('audit:' || ${environment.id}::text, 0))`)
}

/** A statement after that of the lock: it sees what the holder before has written. */
export async function findAuditHead(db: Sql, environment: Environment): Promise<AuditHead> {
  const row = await db.row<Pick<AuditRow, 'seq' | 'hash'>>(sql`
    select seq, hash from audit_log where environment_id = ${environment.id} order by seq desc limit 1`)
  return row === undefined ? emptyLog : { seq: row.seq, hash: row.hash.toString('hex') }
}

/** The log must be locked. */
export async function insertAuditEntries(
  tx: Tx,
  environment: Environment,
  entries: readonly KeyedEntry[],
): Promise<void> {
  const column = <Value>(value: (entry: KeyedEntry) => Value): Value[] => entries.map(value)
  await tx.run(sql`
    insert into audit_log (environment_id, seq, at, key_id, key_name, address, request_id, action, resource_kind,
                           resource_id, resource_name, before, after, previous_hash, hash, mac)
    select ${environment.id}, e.seq, e.at, e.key_id, e.key_name, e.address, e.request_id, e.action, e.resource_kind,
           e.resource_id, e.resource_name, e.before::jsonb, e.after::jsonb, decode(e.previous_hash, 'hex'),
           decode(e.hash, 'hex'), decode(e.mac, 'hex')
    from unnest(${column((entry) => entry.seq)}::bigint[], ${column((entry) => entry.at)}::timestamptz[],
                ${column((entry) => entry.keyId)}::text[], ${column((entry) => entry.keyName)}::text[],
                ${column((entry) => entry.address)}::text[], ${column((entry) => entry.requestId)}::text[],
                ${column((entry) => entry.action)}::text[], ${column((entry) => entry.resourceKind)}::text[],
                ${column((entry) => entry.resourceId)}::text[], ${column((entry) => entry.resourceName)}::text[],
                ${column((entry) => json(entry.before))}::text[], ${column((entry) => json(entry.after))}::text[],
                ${column((entry) => entry.previousHash)}::text[], ${column((entry) => entry.hash)}::text[],
                ${column((entry) => entry.mac)}::text[])
      as e (seq, at, key_id, key_name, address, request_id, action, resource_kind, resource_id, resource_name, before,
            after, previous_hash, hash, mac)`)
}

export async function findAuditEntry(db: Sql, environment: Environment, seq: number): Promise<AuditEntry | undefined> {
  const row = await db.row<AuditRow>(
    sql`select ${auditColumns} from audit_log where environment_id = ${environment.id} and seq = ${seq}`,
  )
  return row && entryOf(row)
}

/** Which of these resources have an entry of this kind by a key since then. */
export async function findAudited(
  db: Sql,
  environment: Environment,
  {
    keyId,
    action,
    resourceIds,
    since,
  }: { keyId: string; action: AuditAction; resourceIds: readonly string[]; since: Date },
): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>(sql`
    select resource_id as id from audit_log
    where environment_id = ${environment.id} and resource_id = any(${resourceIds}::text[])
      and at >= ${since} and key_id = ${keyId} and action = ${action}`)
  return new Set(rows.map(({ id }) => id))
}

/** In the order of the chain. */
export async function listAuditEntries(
  db: Sql,
  environment: Environment,
  { afterSeq, limit }: { afterSeq: number; limit: number },
): Promise<AuditEntry[]> {
  const rows = await db.rows<AuditRow>(sql`
    select ${auditColumns} from audit_log where environment_id = ${environment.id} and seq > ${afterSeq}
    order by seq limit ${limit}`)
  return rows.map(entryOf)
}

/** With their keyed hashes, in the order of the chain. */
export async function listKeyedEntries(
  db: Sql,
  environment: Environment,
  { afterSeq, limit }: { afterSeq: number; limit: number },
): Promise<KeyedEntry[]> {
  const rows = await db.rows<AuditRow & { mac: Buffer | null }>(sql`
    select ${auditColumns}, mac from audit_log where environment_id = ${environment.id} and seq > ${afterSeq}
    order by seq limit ${limit}`)
  return rows.map((row) => ({ ...entryOf(row), mac: row.mac?.toString('hex') ?? null }))
}

export function entryOf(row: AuditRow): AuditEntry {
  return {
    seq: row.seq,
    at: row.at.toISOString(),
    keyId: row.key_id,
    keyName: row.key_name,
    address: row.address,
    requestId: row.request_id,
    action: row.action,
    resourceKind: row.resource_kind,
    resourceId: row.resource_id,
    resourceName: row.resource_name,
    before: row.before,
    after: row.after,
    previousHash: row.previous_hash.toString('hex'),
    hash: row.hash.toString('hex'),
  }
}
