// The list of tenants, newest first.

import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Tenant } from '../../domain/people/tenant.ts'
import { listTenants } from '../../store/people/tenants.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { listedPage } from '../page/offset-page.ts'

export function tenantsPage(
  db: Sql,
  environment: Environment,
  page: { page: number; limit: number },
): Promise<OffsetPage<Tenant>> {
  const from = sql`from tenants where environment_id = ${environment.id}`
  const weight = sql`select length(data::text) as characters ${from} order by id desc`
  return listedPage(db, page, (part) => listTenants(db, environment, part), from, weight)
}
