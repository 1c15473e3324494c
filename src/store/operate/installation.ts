// The installation and environments tables: what exists once, before any caller.

import { randomBytes } from 'node:crypto'
import type { Sql, Tx } from '../../db/sql.ts'
import { prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Sealer, SealForm } from '../../domain/operate/sealed.ts'
import { formOf } from '../../domain/operate/sealed.ts'
import { isSealedOtherwise, ownRow, resealed, signingRecord } from './sealed-columns.ts'

export async function findEncryptionCheck(db: Sql): Promise<Buffer | undefined> {
  const row = await db.row<{ check: Buffer }>(sql`select encryption_check as check from installation`)
  return row?.check
}

/** Also before the first migration, when there is no such table. */
export async function isInstalled(db: Sql): Promise<boolean> {
  const row = await db.row<{ exists: boolean }>(sql`select to_regclass('installation') is not null as exists`)
  return row?.exists === true && (await findEncryptionCheck(db)) !== undefined
}

/** Whether the schema was ever installed here; a key is made by the first start only. */
export async function isMigrated(db: Sql): Promise<boolean> {
  const row = await db.row<{ exists: boolean }>(sql`select to_regclass('schema_migrations') is not null as exists`)
  return row?.exists === true
}

/** The last migration that was applied. */
export async function findLastMigration(db: Sql): Promise<string> {
  const row = await db.row<{ name: string }>(sql`select name from schema_migrations order by number desc limit 1`)
  return row?.name ?? ''
}

/** Whether there are tables although Posthorn never installed its own. */
export async function hasForeignTables(db: Sql): Promise<boolean> {
  const row = await db.row<{ found: boolean }>(sql`
    select to_regclass('schema_migrations') is null and exists (
      select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'S') and n.nspname not in ('pg_catalog', 'information_schema')
        and n.nspname not like 'pg\\_%') as found`)
  return row?.found === true
}

/** The major version of the server. */
export async function findServerMajor(db: Sql): Promise<number> {
  const row = await db.row<{ version: number }>(sql`select current_setting('server_version_num')::int as version`)
  return Math.floor((row?.version ?? 0) / 10_000)
}

/** In which form values are sealed: as what the first start left, or `posthorn reseal` after it. */
export async function findSealForm(db: Sql): Promise<SealForm> {
  const check = (await isInstalled(db)) ? await findEncryptionCheck(db) : undefined
  return (check && formOf(check)) ?? 1
}

export async function insertInstallation(tx: Tx, encryptionCheck: Buffer, now: Date): Promise<void> {
  await tx.run(sql`insert into installation (encryption_check, created_at) values (${encryptionCheck}, ${now})`)
}

export async function updateEncryptionCheck(tx: Tx, encryptionCheck: Buffer): Promise<void> {
  await tx.run(sql`update installation set encryption_check = ${encryptionCheck}`)
}

export interface NewEnvironment extends Environment {
  readonly parentId: string | null
  readonly identifier: string
  readonly color?: string | undefined
  readonly signingSecret: Buffer
  readonly now: Date
}

export async function insertEnvironment(tx: Tx, environment: NewEnvironment): Promise<void> {
  await tx.run(sql`
    insert into environments (id, organization_id, parent_id, name, identifier, signing_secret, created_at, color)
    values (${environment.id}, ${environment.organizationId}, ${environment.parentId}, ${environment.name},
            ${environment.identifier}, ${environment.signingSecret}, ${environment.now}, ${environment.color ?? null})`)
}

/** Many times what anyone has: environments are stages such as Development and Production, or previews of changes. */
export const environmentsMax = 100

/** Until the transaction ends, no other one creates or renames environments of the organization. */
export async function lockOrganization(tx: Tx, { organizationId }: Environment): Promise<void> {
  await tx.run(sql`select 1 from organizations where id = ${organizationId} for no key update`)
}

/** What an environment is called, and how it is shown; undefined stays. */
export async function updateEnvironment(
  tx: Tx,
  environment: Environment,
  { name, color }: { name: string | undefined; color: string | undefined },
): Promise<{ before: Named; after: Named }> {
  const row = await tx.row<{ name: string; color: string | null; oldName: string; oldColor: string | null }>(sql`
    with known as materialized (
      select name, color from environments where id = ${environment.id} for no key update)
    update environments e set name = coalesce(${name ?? null}, known.name), color = coalesce(${color ?? null}, known.color)
    from known where e.id = ${environment.id}
    returning e.name, e.color, known.name as "oldName", known.color as "oldColor"`)
  if (row === undefined) throw new Error(`The environment ${environment.id} of a valid key is missing`)
  return { before: { name: row.oldName, color: row.oldColor }, after: { name: row.name, color: row.color } }
}

interface Named {
  readonly name: string
  readonly color: string | null
}

/** The name is free at once, nothing is sent any more, and no key or session opens it. False where it was so before. */
export async function markEnvironmentDeleted(tx: Tx, environment: Environment, now: Date): Promise<boolean> {
  const count = await tx.run(sql`
    update environments set deleted_at = ${now}, captures = true, name = name || ' (deleted ' || id::text || ')'
    where id = ${environment.id} and deleted_at is null`)
  return count > 0
}

/** What it signed and hashed with is of no use any more. The audit key stays: its log does. */
export async function forgetKeysOfEnvironment(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(sql`
    update environments set signing_secret = '', address_key = null, inbox_key = null where id = ${environment.id}`)
}

/** Whether it holds data that a deletion would lose. */
export async function holdsData(db: Sql, environment: Environment): Promise<boolean> {
  const row = await db.row<{ holds: boolean }>(sql`
    select exists (select 1 from subscribers where environment_id = ${environment.id})
      or exists (select 1 from events where environment_id = ${environment.id})
      or exists (select 1 from workflows where environment_id = ${environment.id}) as holds`)
  return row?.holds === true
}

/** The environments of the installation, oldest first: Development, then Production. */
export async function listEnvironments(db: Sql): Promise<Environment[]> {
  return db.rows<Environment>(
    sql`select id, organization_id as "organizationId", name from environments where deleted_at is null
        order by id limit ${environmentsMax}`,
  )
}

/** With those whose rows are erased, or were: their audit log stays, and so does its key. */
export async function listAllEnvironments(db: Sql): Promise<Environment[]> {
  return db.rows<Environment>(sql`select id, organization_id as "organizationId", name from environments order by id`)
}

export async function findEnvironments(db: Sql, ids: readonly string[]): Promise<Environment[]> {
  return db.rows<Environment>(sql`
    select id, organization_id as "organizationId", name from environments where id = any(${ids}::uuid[])`)
}

/** By its id, unless it is deleted: nothing opens it any more while its rows are being erased. */
export async function findOpenEnvironment(db: Sql, id: string): Promise<Environment | undefined> {
  return db.row<Environment>(sql`
    select id, organization_id as "organizationId", name from environments where id = ${id} and deleted_at is null`)
}

/** By id or public name, under what each was asked for. */
export async function findEnvironmentsNamed(db: Sql, names: readonly string[]): Promise<Map<string, Environment>> {
  const rows = await db.rows<Environment & { named: string }>(
    prepared(
      'environments-named',
      sql`select n.named, e.id, e.organization_id as "organizationId", e.name
          from unnest(${names}::text[]) as n(named)
          join environments e on (e.identifier = n.named or e.id::text = n.named) and e.deleted_at is null`,
    ),
  )
  return new Map(rows.map(({ named, ...environment }) => [named, environment]))
}

/** Whether the environment captures what it would send, from now on; undefined leaves it unchanged. */
export async function updateCaptures(
  tx: Tx,
  environment: Environment,
  captures: boolean | undefined,
): Promise<{ before: boolean; after: boolean }> {
  const row = await tx.row<{ before: boolean; after: boolean }>(sql`
    with known as materialized (
      select captures from environments where id = ${environment.id} for no key update)
    update environments e set captures = coalesce(${captures ?? null}, known.captures) from known
    where e.id = ${environment.id} returning known.captures as before, e.captures as after`)
  if (row === undefined) throw new Error(`The environment ${environment.id} of a valid key is missing`)
  return row
}

/** Before its variables are changed: those who change them wait for each other, and nodes read them again. */
export async function stampVariables(tx: Tx, environment: Environment, now: Date): Promise<void> {
  await tx.run(sql`
    update environments set variables_at = greatest(${now}, variables_at + interval '1 millisecond')
    where id = ${environment.id}`)
}

/** The secret that the environment was made with: version 1. */
export async function findSigningSecret(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
): Promise<string | undefined> {
  const row = await db.row<{ sealed: Buffer }>(
    sql`select signing_secret as sealed from environments where id = ${environment.id}`,
  )
  return row && sealer.open(environment.id, 'signing-secret', signingRecord(1), row.sealed)
}

/** Until the transaction ends, no one else changes what belongs to the environment as a whole. */
export async function lockEnvironment(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(sql`select 1 from environments where id = ${environment.id} for no key update`)
}

async function updateSigningSecret(tx: Tx, environment: Environment, signingSecret: Buffer): Promise<void> {
  await tx.run(sql`update environments set signing_secret = ${signingSecret} where id = ${environment.id}`)
}

/** One that is there stays: two starts at once make one. */
export async function updateAuditKey(tx: Tx, environment: Environment, auditKey: Buffer): Promise<void> {
  await tx.run(sql`
    update environments set audit_key = ${auditKey} where id = ${environment.id} and audit_key is null`)
}

/** False when the secret is sealed with the current key already. */
export async function resealSigningSecret(tx: Tx, sealer: Sealer, environment: Environment): Promise<boolean> {
  const row = await tx.row<{ sealed: Buffer }>(sql`
    select signing_secret as sealed from environments
    where id = ${environment.id} and ${isSealedOtherwise(sql`signing_secret`, sealer)} for update`)
  // That of an environment that was erased is gone.
  if (row === undefined || row.sealed.length === 0) return false
  const place = { purpose: 'signing-secret', record: signingRecord(1) } as const
  await updateSigningSecret(tx, environment, resealed(sealer, environment, place, row.sealed))
  return true
}

/** Keys of an environment that are made when they are first needed. */
const lateKeys = {
  /** The key for hashing erased addresses that stay suppressed: created with the first erasure. */
  'address-key': sql`address_key`,
  /** What inbox sessions are signed with: created with the first of them. */
  'inbox-key': sql`inbox_key`,
} as const

/** Sealed columns of the environment's own row, beside the first signing secret. */
const sealedKeys = { ...lateKeys, 'audit-key': sql`audit_key` } as const

export type LateKey = keyof typeof lateKeys

const lateKeyBytes = 32

/** Undefined where it was never needed. */
export async function findLateKey(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  purpose: LateKey,
): Promise<Buffer | undefined> {
  const row = await db.row<{ sealed: Buffer | null }>(
    prepared(purpose, sql`select ${lateKeys[purpose]} as sealed from environments where id = ${environment.id}`),
  )
  return row?.sealed == null
    ? undefined
    : Buffer.from(sealer.open(environment.id, purpose, ownRow, row.sealed), 'base64')
}

/** Two calls at once find the same one: the second waits for the first, and keeps its key. */
export async function ensureLateKey(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  purpose: LateKey,
): Promise<Buffer> {
  const found = await findLateKey(tx, sealer, environment, purpose)
  if (found !== undefined) return found
  const column = lateKeys[purpose]
  const sealed = sealer.seal(environment.id, purpose, ownRow, randomBytes(lateKeyBytes).toString('base64'))
  const row = await tx.row<{ sealed: Buffer }>(sql`
    update environments set ${column} = coalesce(${column}, ${sealed}::bytea) where id = ${environment.id}
    returning ${column} as sealed`)
  if (row === undefined) throw new Error('The environment of a call is missing')
  return Buffer.from(sealer.open(environment.id, purpose, ownRow, row.sealed), 'base64')
}

/** False when there is none, or it is sealed with the current key already. */
export async function resealLateKey(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  purpose: keyof typeof sealedKeys,
): Promise<boolean> {
  const column = sealedKeys[purpose]
  const row = await tx.row<{ sealed: Buffer }>(sql`
    select ${column} as sealed from environments
    where id = ${environment.id} and ${isSealedOtherwise(column, sealer)} for update`)
  if (row === undefined) return false
  const sealed = resealed(sealer, environment, { purpose, record: ownRow }, row.sealed)
  await tx.run(sql`update environments set ${column} = ${sealed} where id = ${environment.id}`)
  return true
}

export const findAddressKey = (db: Sql, sealer: Sealer, environment: Environment): Promise<Buffer | undefined> =>
  findLateKey(db, sealer, environment, 'address-key')

export const ensureAddressKey = (tx: Tx, sealer: Sealer, environment: Environment): Promise<Buffer> =>
  ensureLateKey(tx, sealer, environment, 'address-key')
