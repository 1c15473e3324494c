// The list of layouts, newest first.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Layout } from '../../domain/workflows/layout.ts'
import { listLayouts } from '../../store/workflows/layouts.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { cappedCount, offsetPage } from '../page/offset-page.ts'

export async function layoutsPage(
  db: Sql,
  environment: Environment,
  page: { page: number; limit: number },
): Promise<OffsetPage<Layout>> {
  const [rows, count] = await Promise.all([
    listLayouts(db, environment, { offset: page.page * page.limit, limit: page.limit + 1 }),
    cappedCount(db, sql`from layouts where environment_id = ${environment.id} and deleted_at is null`),
  ])
  return offsetPage(rows, page, count)
}
