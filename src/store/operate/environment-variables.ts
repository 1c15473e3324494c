// The environment_variables table: values that templates print, sealed.
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { EnvironmentVariable } from '../../domain/workflows/environment-variable.ts'
import { isSealedOtherwise, resealed } from './sealed-columns.ts'

interface VariableRow {
  readonly id: string
  readonly key: string
  readonly is_secret: boolean
  readonly sealed: Buffer
  readonly created_at: Date
  readonly updated_at: Date
}

const purpose = 'environment-variable'
const columns = sql`id, key, is_secret, sealed, created_at, updated_at`

/** By key. There are at most a hundred. */
export async function listVariables(db: Sql, sealer: Sealer, environment: Environment): Promise<EnvironmentVariable[]> {
  const rows = await db.rows<VariableRow>(
    sql`select ${columns} from environment_variables where environment_id = ${environment.id} order by key`,
  )
  return rows.map((row) => variableOf(sealer, environment, row))
}

export async function findVariable(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  key: string,
): Promise<EnvironmentVariable | undefined> {
  const row = await db.row<VariableRow>(
    sql`select ${columns} from environment_variables where environment_id = ${environment.id} and key = ${key}`,
  )
  return row && variableOf(sealer, environment, row)
}

export interface VariableFields {
  readonly id: string
  readonly key: string
  readonly isSecret: boolean
  readonly value: string
  readonly now: Date
}

export async function insertVariable(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  { id, key, isSecret, value, now }: VariableFields,
): Promise<EnvironmentVariable> {
  const sealed = sealer.seal(environment.id, purpose, id, value)
  const row = await tx.row<VariableRow>(sql`
    insert into environment_variables (environment_id, id, key, is_secret, sealed, created_at, updated_at)
    values (${environment.id}, ${id}, ${key}, ${isSecret}, ${sealed}, ${now}, ${now}) returning ${columns}`)
  if (row === undefined) throw new Error('An insertion returned nothing')
  return variableOf(sealer, environment, row)
}

export async function updateVariable(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  { id, key, isSecret, value, now }: VariableFields,
): Promise<EnvironmentVariable> {
  const sealed = sealer.seal(environment.id, purpose, id, value)
  const row = await tx.row<VariableRow>(sql`
    update environment_variables set key = ${key}, is_secret = ${isSecret}, sealed = ${sealed}, updated_at = ${now}
    where environment_id = ${environment.id} and id = ${id} returning ${columns}`)
  if (row === undefined) throw new Error('A variable that was held is gone')
  return variableOf(sealer, environment, row)
}

export async function deleteVariable(tx: Tx, environment: Environment, id: string): Promise<void> {
  await tx.run(sql`delete from environment_variables where environment_id = ${environment.id} and id = ${id}`)
}

/** Moves the next batch of values to the current encryption key. */
export async function resealVariables(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  after: string | undefined,
  limit: number,
): Promise<{ count: number; last: string | undefined }> {
  const rows = await tx.rows<{ id: string; sealed: Buffer }>(sql`
    select id, sealed from environment_variables
    where environment_id = ${environment.id} and id > ${after ?? nilId} and ${isSealedOtherwise(sql`sealed`, sealer)}
    order by id limit ${limit} for no key update`)
  const sealed = rows.map((row) => resealed(sealer, environment, { purpose, record: row.id }, row.sealed))
  await tx.run(sql`
    update environment_variables v set sealed = again.sealed
    from unnest(${rows.map((row) => row.id)}::uuid[], ${sealed}::bytea[]) as again (id, sealed)
    where v.environment_id = ${environment.id} and v.id = again.id`)
  return { count: rows.length, last: rows.at(-1)?.id }
}

const variableOf = (sealer: Sealer, environment: Environment, row: VariableRow): EnvironmentVariable => ({
  _id: row.id,
  key: row.key,
  isSecret: row.is_secret,
  value: sealer.open(environment.id, purpose, row.id, row.sealed),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
