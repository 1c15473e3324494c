// The list of tenants' overrides of workflows, newest first.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredOverride } from '../../domain/workflows/workflow-override.ts'
import { listOverrides } from '../../store/workflows/workflow-overrides.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { cappedCount, offsetPage } from '../page/offset-page.ts'

export async function overridesPage(
  db: Sql,
  environment: Environment,
  page: { page: number; limit: number },
): Promise<OffsetPage<StoredOverride>> {
  const [rows, count] = await Promise.all([
    listOverrides(db, environment, { offset: page.page * page.limit, limit: page.limit + 1 }),
    // As the list: those of a deleted workflow or tenant are not there.
    cappedCount(
      db,
      sql`from workflow_overrides o
        cross join lateral (select 1 from workflows
          where environment_id = ${environment.id} and id = o.workflow_id and deleted_at is null limit 1) as w
        cross join lateral (select 1 from tenants
          where environment_id = ${environment.id} and id = o.tenant_id limit 1) as t
        where o.environment_id = ${environment.id}`,
    ),
  ])
  return offsetPage(rows, page, count)
}
