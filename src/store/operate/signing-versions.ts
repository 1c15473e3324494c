// The signing_versions table: what an environment signs with after a rotation, sealed.
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { SigningVersion } from '../../domain/operate/signing-keys.ts'
import { SigningKeys } from '../../domain/operate/signing-keys.ts'
import { isSealedOtherwise, resealed, signingRecord } from './sealed-columns.ts'

interface Row {
  readonly version: number
  readonly sealed: Buffer
  readonly created_at: Date
}

/** Undefined if there is no such environment. The first version is stored with the environment. */
export async function findSigningKeys(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
): Promise<SigningKeys | undefined> {
  const rows = await db.rows<Row>(sql`
    select 1 as version, signing_secret as sealed, created_at from environments where id = ${environment.id}
    union all
    select version, secret, created_at from signing_versions where environment_id = ${environment.id}
    order by version`)
  if (rows.length === 0) return undefined
  return new SigningKeys(
    rows.map(({ version, sealed, created_at }) => ({
      version,
      secret: sealer.open(environment.id, 'signing-secret', signingRecord(version), sealed),
      createdAt: created_at,
    })),
  )
}

export async function insertSigningVersion(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  { version, secret, createdAt }: SigningVersion,
): Promise<void> {
  await tx.run(sql`
    insert into signing_versions (environment_id, version, secret, created_at)
    values (${environment.id}, ${version}, ${sealer.seal(environment.id, 'signing-secret', signingRecord(version), secret)}, ${createdAt})`)
}

/** How many were sealed with another key. */
export async function resealSigningVersions(tx: Tx, sealer: Sealer, environment: Environment): Promise<number> {
  const rows = await tx.rows<{ version: number; secret: Buffer }>(sql`
    select version, secret from signing_versions
    where environment_id = ${environment.id} and ${isSealedOtherwise(sql`secret`, sealer)} for update`)
  for (const { version, secret } of rows) {
    await tx.run(sql`
      update signing_versions set secret = ${resealed(sealer, environment, { purpose: 'signing-secret', record: signingRecord(version) }, secret)}
      where environment_id = ${environment.id} and version = ${version}`)
  }
  return rows.length
}
