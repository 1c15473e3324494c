// The list of layouts, newest first.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Layout } from '../../domain/workflows/layout.ts'
import { listLayouts } from '../../store/workflows/layouts.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { listedPage } from '../page/offset-page.ts'

export function layoutsPage(
  db: Sql,
  environment: Environment,
  page: { page: number; limit: number },
): Promise<OffsetPage<Layout>> {
  const from = sql`from layouts where environment_id = ${environment.id} and deleted_at is null`
  return listedPage(db, page, (part) => listLayouts(db, environment, part), from)
}
