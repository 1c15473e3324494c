// The key of an environment's audit log, in the environments table: sealed, so that the database alone cannot write entries that fit.
import { randomBytes } from 'node:crypto'
import type { Sql, Tx } from '../../db/sql.ts'
import { prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { AuditKey } from '../../domain/operate/audit.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { findAuditHead, lockAuditLog } from './audit-log.ts'
import { lockEnvironment, updateAuditKey } from './installation.ts'
import { ownRow } from './sealed-columns.ts'

const keyBytes = 32

/** Undefined where there is none yet. */
export async function findAuditKey(db: Sql, sealer: Sealer, environment: Environment): Promise<AuditKey | undefined> {
  const row = await db.row<{ sealed: Buffer | null }>(
    prepared('audit-key', sql`select audit_key as sealed from environments where id = ${environment.id}`),
  )
  if (row?.sealed == null) return undefined
  const [seq, key = ''] = sealer.open(environment.id, 'audit-key', ownRow, row.sealed).split(':')
  return { key: Buffer.from(key, 'base64'), fromSeq: Number(seq) }
}

/** Every entry from now on has a keyed hash. Locks in the order of all changes: the environment, then its log. */
export async function ensureAuditKey(tx: Tx, sealer: Sealer, environment: Environment): Promise<void> {
  if ((await findAuditKey(tx, sealer, environment)) !== undefined) return
  await lockEnvironment(tx, environment)
  await lockAuditLog(tx, environment)
  const { seq } = await findAuditHead(tx, environment)
  const text = `${seq + 1}:${randomBytes(keyBytes).toString('base64')}`
  await updateAuditKey(tx, environment, sealer.seal(environment.id, 'audit-key', ownRow, text))
}
