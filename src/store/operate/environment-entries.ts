// Environments as they are shown, from the environments table.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { environmentsMax } from './installation.ts'

export interface EnvironmentEntry {
  readonly _id: string
  readonly name: string
  readonly identifier: string
  readonly _organizationId: string
  readonly _parentId?: string
  /** As dashboards show it. */
  readonly color?: string
  readonly configurations: EnvironmentConfigurations
  readonly createdAt: string
}

export interface EnvironmentConfigurations {
  /** Whether everything that would go out is kept in the outbox instead. */
  readonly capture: boolean
}

interface EnvironmentRow {
  readonly id: string
  readonly name: string
  readonly identifier: string
  readonly organization_id: string
  readonly parent_id: string | null
  readonly captures: boolean
  readonly color: string | null
  readonly created_at: Date
}

const columns = sql`id, name, identifier, organization_id, parent_id, captures, color, created_at`

/** Oldest first: Development, then Production. */
export async function listEnvironmentEntries(db: Sql, environment: Environment): Promise<EnvironmentEntry[]> {
  const rows = await db.rows<EnvironmentRow>(sql`
    select ${columns} from environments
    where organization_id = ${environment.organizationId} and deleted_at is null
    order by id limit ${environmentsMax}`)
  return rows.map(entryOf)
}

export async function findEnvironmentEntry(db: Sql, { id }: Environment): Promise<EnvironmentEntry> {
  const row = await db.row<EnvironmentRow>(sql`select ${columns} from environments where id = ${id}`)
  if (row === undefined) throw new Error(`The environment ${id} is missing`)
  return entryOf(row)
}

function entryOf(row: EnvironmentRow): EnvironmentEntry {
  return {
    _id: row.id,
    name: row.name,
    identifier: row.identifier,
    _organizationId: row.organization_id,
    ...(row.parent_id === null ? {} : { _parentId: row.parent_id }),
    ...(row.color === null ? {} : { color: row.color }),
    configurations: { capture: row.captures },
    createdAt: row.created_at.toISOString(),
  }
}
