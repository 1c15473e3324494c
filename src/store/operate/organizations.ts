// The organizations table: the boundary above environments. Every environment belongs to one.
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'

export interface Organization {
  readonly id: string
  readonly name: string
}

/** Oldest first: the first is the one of the installation. */
export async function listOrganizations(db: Sql): Promise<Organization[]> {
  return db.rows<Organization>(sql`
    select id, name from organizations where deleted_at is null order by id limit ${organizationsMax}`)
}

/** Each has an environment at least, of which there are at most 100. */
const organizationsMax = 100

/** Until the transaction ends no other one creates, renames or deletes organizations. */
export async function lockOrganizations(tx: Tx): Promise<Organization[]> {
  await tx.run(sql`lock table organizations in share row exclusive mode`)
  return listOrganizations(tx)
}

export async function insertOrganization(tx: Tx, { id, name, now }: Organization & { now: Date }): Promise<void> {
  await tx.run(sql`insert into organizations (id, name, created_at) values (${id}, ${name}, ${now})`)
}

export async function updateOrganization(tx: Tx, { id, name }: Organization): Promise<void> {
  await tx.run(sql`update organizations set name = ${name} where id = ${id}`)
}

export async function markOrganizationDeleted(tx: Tx, { id }: Organization, now: Date): Promise<void> {
  await tx.run(sql`update organizations set deleted_at = ${now} where id = ${id}`)
}
