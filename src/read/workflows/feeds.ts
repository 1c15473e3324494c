// The list of feeds, oldest first.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Feed } from '../../domain/workflows/feed.ts'
import { listFeeds } from '../../store/workflows/feeds.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { cappedCount, offsetPage } from '../page/offset-page.ts'

export async function feedsPage(
  db: Sql,
  environment: Environment,
  page: { page: number; limit: number },
): Promise<OffsetPage<Feed>> {
  const [rows, count] = await Promise.all([
    listFeeds(db, environment, { offset: page.page * page.limit, limit: page.limit + 1 }),
    cappedCount(db, sql`from feeds where environment_id = ${environment.id}`),
  ])
  return offsetPage(rows, page, count)
}
