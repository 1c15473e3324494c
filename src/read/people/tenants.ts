// The list of tenants, newest first.

import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Tenant } from '../../domain/people/tenant.ts'
import { listTenants } from '../../store/people/tenants.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { cappedCount, offsetPage } from '../page/offset-page.ts'

export async function tenantsPage(
  db: Sql,
  environment: Environment,
  page: { page: number; limit: number },
): Promise<OffsetPage<Tenant>> {
  const [rows, count] = await Promise.all([
    listTenants(db, environment, { offset: page.page * page.limit, limit: page.limit + 1 }),
    cappedCount(db, sql`from tenants where environment_id = ${environment.id}`),
  ])
  return offsetPage(rows, page, count)
}
