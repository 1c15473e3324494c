// The notification_groups table.
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { NotificationGroup } from '../../domain/workflows/workflow.ts'

interface GroupRow {
  readonly id: string
  readonly name: string
}

/** Undefined when the name is taken. */
export async function insertGroup(
  tx: Tx,
  environment: Environment,
  group: { id: string; name: string; now: Date },
): Promise<NotificationGroup | undefined> {
  const row = await tx.row<GroupRow>(sql`
    insert into notification_groups (environment_id, id, name, created_at, updated_at)
    values (${environment.id}, ${group.id}, ${group.name}, ${group.now}, ${group.now})
    on conflict (environment_id, name) do nothing returning id, name`)
  return row && groupOf(environment, row)
}

export async function findGroup(db: Sql, environment: Environment, id: string): Promise<NotificationGroup | undefined> {
  const row = await db.row<GroupRow>(
    sql`select id, name from notification_groups where environment_id = ${environment.id} and id = ${id}`,
  )
  return row && groupOf(environment, row)
}

export async function findGroupByName(
  db: Sql,
  environment: Environment,
  name: string,
): Promise<NotificationGroup | undefined> {
  const row = await db.row<GroupRow>(
    sql`select id, name from notification_groups where environment_id = ${environment.id} and name = ${name}`,
  )
  return row && groupOf(environment, row)
}

/** Undefined when there is none. The name must be free. */
export async function renameGroup(
  tx: Tx,
  environment: Environment,
  group: { id: string; name: string; now: Date },
): Promise<NotificationGroup | undefined> {
  const row = await tx.row<GroupRow>(sql`
    update notification_groups set name = ${group.name}, updated_at = ${group.now}
    where environment_id = ${environment.id} and id = ${group.id} returning id, name`)
  return row && groupOf(environment, row)
}

/** No workflow is added to it, and no one deletes it, before the transaction ends. */
export async function lockGroup(tx: Tx, environment: Environment, id: string): Promise<NotificationGroup | undefined> {
  const row = await tx.row<GroupRow>(
    sql`select id, name from notification_groups where environment_id = ${environment.id} and id = ${id} for update`,
  )
  return row && groupOf(environment, row)
}

/** As `findGroup`; it is not deleted before the transaction ends. */
export async function holdGroup(tx: Tx, environment: Environment, id: string): Promise<NotificationGroup | undefined> {
  const row = await tx.row<GroupRow>(
    sql`select id, name from notification_groups where environment_id = ${environment.id} and id = ${id} for key share`,
  )
  return row && groupOf(environment, row)
}

/** No workflow may be in it, deleted ones included. */
export async function deleteGroup(tx: Tx, environment: Environment, id: string): Promise<void> {
  await tx.run(sql`delete from notification_groups where environment_id = ${environment.id} and id = ${id}`)
}

/** Oldest first. */
export async function listGroups(
  db: Sql,
  environment: Environment,
  page: { offset: number; limit: number },
): Promise<NotificationGroup[]> {
  const rows = await db.rows<GroupRow>(sql`
    select id, name from notification_groups where environment_id = ${environment.id}
    order by id offset ${page.offset} limit ${page.limit}`)
  return rows.map((row) => groupOf(environment, row))
}

export function groupOf(environment: Environment, row: GroupRow): NotificationGroup {
  return {
    _id: row.id,
    name: row.name,
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
  }
}
