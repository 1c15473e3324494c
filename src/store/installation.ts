// The installation, organizations and environments tables: what exists once, before any caller.

import type { Sql, Tx } from '../db/sql.ts'
import { sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { Sealer } from '../domain/sealed.ts'
import { isSealedOtherwise, sealedAnew } from './sealed-columns.ts'

export async function findEncryptionCheck(db: Sql): Promise<Buffer | undefined> {
  const row = await db.row<{ check: Buffer }>(sql`select encryption_check as check from installation`)
  return row?.check
}

/** Also before the first migration, when there is no such table. */
export async function isInstalled(db: Sql): Promise<boolean> {
  const row = await db.row<{ exists: boolean }>(sql`select to_regclass('installation') is not null as exists`)
  return row?.exists === true && (await findEncryptionCheck(db)) !== undefined
}

export async function insertInstallation(tx: Tx, encryptionCheck: Buffer, now: Date): Promise<void> {
  await tx.run(sql`insert into installation (encryption_check, created_at) values (${encryptionCheck}, ${now})`)
}

export async function updateEncryptionCheck(tx: Tx, encryptionCheck: Buffer): Promise<void> {
  await tx.run(sql`update installation set encryption_check = ${encryptionCheck}`)
}

export async function insertOrganization(tx: Tx, organization: { id: string; name: string; now: Date }): Promise<void> {
  await tx.run(sql`insert into organizations (id, name, created_at)
                   values (${organization.id}, ${organization.name}, ${organization.now})`)
}

export interface NewEnvironment extends Environment {
  readonly parentId: string | null
  readonly identifier: string
  readonly signingSecret: Buffer
  readonly now: Date
}

export async function insertEnvironment(tx: Tx, environment: NewEnvironment): Promise<void> {
  await tx.run(sql`
    insert into environments (id, organization_id, parent_id, name, identifier, signing_secret, created_at)
    values (${environment.id}, ${environment.organizationId}, ${environment.parentId}, ${environment.name},
            ${environment.identifier}, ${environment.signingSecret}, ${environment.now})`)
}

/** The environments of the installation, oldest first: Development, then Production. */
export async function listEnvironments(db: Sql): Promise<Environment[]> {
  return db.rows<Environment>(
    sql`select id, organization_id as "organizationId", name from environments order by id limit 100`,
  )
}

export async function findEnvironments(db: Sql, ids: readonly string[]): Promise<Environment[]> {
  return db.rows<Environment>(sql`
    select id, organization_id as "organizationId", name from environments where id = any(${ids}::uuid[])`)
}

/** What the environment signs with, as its callers are shown it. */
export async function findSigningSecret(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
): Promise<string | undefined> {
  const row = await db.row<{ sealed: Buffer }>(
    sql`select signing_secret as sealed from environments where id = ${environment.id}`,
  )
  return row && sealer.open(environment.id, 'signing-secret', row.sealed)
}

export async function updateSigningSecret(tx: Tx, environment: Environment, signingSecret: Buffer): Promise<void> {
  await tx.run(sql`update environments set signing_secret = ${signingSecret} where id = ${environment.id}`)
}

/** False when the secret is sealed with the current key already. */
export async function resealSigningSecret(tx: Tx, sealer: Sealer, environment: Environment): Promise<boolean> {
  const row = await tx.row<{ sealed: Buffer }>(sql`
    select signing_secret as sealed from environments
    where id = ${environment.id} and ${isSealedOtherwise(sql`signing_secret`, sealer)} for update`)
  if (row === undefined) return false
  await updateSigningSecret(tx, environment, sealedAnew(sealer, environment, 'signing-secret', row.sealed))
  return true
}
