// The tenants table.

import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, prepared, sql, unseen } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { NewTenant, Tenant } from '../../domain/people/tenant.ts'

interface TenantRow {
  readonly id: string
  readonly identifier: string
  readonly name: string | null
  readonly data: Record<string, unknown> | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = sql`id, identifier, name, data, created_at, updated_at`

export async function insertTenant(
  tx: Tx,
  environment: Environment,
  tenant: NewTenant & { id: string; now: Date },
): Promise<Tenant | undefined> {
  const row = await tx.row<TenantRow>(sql`
    insert into tenants (environment_id, id, identifier, name, data, created_at, updated_at)
    values (${environment.id}, ${tenant.id}, ${tenant.identifier}, ${tenant.name ?? null}, ${json(tenant.data)},
            ${tenant.now}, ${tenant.now})
    on conflict (environment_id, identifier) do nothing returning ${columns}`)
  return row && tenantOf(environment, row)
}

/** Changes what is given; undefined if there is no such tenant. */
export async function updateTenant(
  tx: Tx,
  environment: Environment,
  identifier: string,
  change: Partial<NewTenant> & { now: Date },
): Promise<Tenant | undefined> {
  const row = await tx.row<TenantRow>(sql`
    update tenants set
      identifier = coalesce(${change.identifier ?? null}, identifier),
      name = case when ${change.name !== undefined} then ${change.name ?? null} else name end,
      data = case when ${change.data !== undefined} then ${json(change.data)}::jsonb else data end,
      updated_at = ${change.now}
    where environment_id = ${environment.id} and identifier = ${identifier}
    returning ${columns}`)
  return row && tenantOf(environment, row)
}

/**
 * Changes many; missing ones are ignored. Locked in the order of their identifiers: two requests then wait and do not
 * deadlock. Written as an insert, which finds each row by its key: before the first analyze an update joined to a list
 * reads the whole environment.
 */
export async function updateTenants(
  tx: Tx,
  environment: Environment,
  changes: readonly NewTenant[],
  now: Date,
): Promise<void> {
  if (changes.length === 0) return
  await tx.run(sql`
    with change as (
      select * from unnest(${changes.map((change) => change.identifier)}::text[],
        ${changes.map((change) => change.name ?? null)}::text[], ${changes.map((change) => json(change.data))}::text[])
        as given (identifier, name, data)
      order by identifier),
    locked as materialized (
      select there.id, change.identifier, change.name, change.data from change
      cross join lateral (select id from tenants
        where environment_id = ${environment.id} and identifier = change.identifier limit 1 for update) as there)
    insert into tenants (environment_id, id, identifier, name, data, created_at, updated_at)
    select ${environment.id}, id, identifier, name, data::jsonb, ${now}, ${now} from locked
    on conflict (environment_id, identifier) do update set
      name = coalesce(excluded.name, tenants.name), data = coalesce(excluded.data, tenants.data),
      updated_at = excluded.updated_at`)
}

/** The tenant as it was. */
export async function deleteTenant(tx: Tx, environment: Environment, identifier: string): Promise<Tenant | undefined> {
  const row = await tx.row<TenantRow>(sql`
    delete from tenants where environment_id = ${environment.id} and identifier = ${identifier} returning ${columns}`)
  return row && tenantOf(environment, row)
}

/** As `findTenant`; no one else changes it before the transaction ends. */
export async function lockTenant(tx: Tx, environment: Environment, identifier: string): Promise<Tenant | undefined> {
  const row = await tx.row<TenantRow>(sql`
    select ${columns} from tenants
    where environment_id = ${environment.id} and identifier = ${identifier} for no key update`)
  return row && tenantOf(environment, row)
}

export async function findTenant(db: Sql, environment: Environment, identifier: string): Promise<Tenant | undefined> {
  const row = await db.row<TenantRow>(
    sql`select ${columns} from tenants where environment_id = ${environment.id} and identifier = ${identifier}`,
  )
  return row && tenantOf(environment, row)
}

/** By the caller's identifier, by our id, or by either; each by its key. */
export async function findTenants(
  db: Sql,
  environment: Environment,
  named: { identifiers?: readonly string[]; ids?: readonly string[] },
): Promise<Tenant[]> {
  const { identifiers = [], ids = [] } = named
  const [byIdentifier, byId] = await Promise.all([
    identifiers.length === 0 ? [] : rowsBy(db, environment, 'identifier', sql`${identifiers}::text[]`),
    ids.length === 0 ? [] : rowsBy(db, environment, 'id', sql`${ids}::uuid[]`),
  ])
  const rows = new Map([...byIdentifier, ...byId].map((row) => [row.id, row]))
  return [...rows.values()].map((row) => tenantOf(environment, row))
}

const keyColumns = { identifier: sql`identifier`, id: sql`id` }

function rowsBy(
  db: Sql,
  environment: Environment,
  key: keyof typeof keyColumns,
  values: Statement,
): Promise<TenantRow[]> {
  const statement = sql`
    select ${columns} from unnest(${unseen(values)}) as asked (value)
    cross join lateral (select * from tenants
      where environment_id = ${environment.id} and ${keyColumns[key]} = asked.value limit 1) as found`
  return db.rows<TenantRow>(prepared(`tenants-by-${key}`, statement))
}

export async function listTenants(
  db: Sql,
  environment: Environment,
  page: { offset: number; limit: number },
): Promise<Tenant[]> {
  const rows = await db.rows<TenantRow>(sql`
    select ${columns} from tenants where environment_id = ${environment.id}
    order by id desc offset ${page.offset} limit ${page.limit}`)
  return rows.map((row) => tenantOf(environment, row))
}

function tenantOf(environment: Environment, row: TenantRow): Tenant {
  return {
    _id: row.id,
    identifier: row.identifier,
    ...(row.name === null ? {} : { name: row.name }),
    ...(row.data === null ? {} : { data: row.data }),
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
