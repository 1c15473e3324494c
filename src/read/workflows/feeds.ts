// The list of feeds, oldest first.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Feed } from '../../domain/workflows/feed.ts'
import { listFeeds } from '../../store/workflows/feeds.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { listedPage } from '../page/offset-page.ts'

export function feedsPage(
  db: Sql,
  environment: Environment,
  page: { page: number; limit: number },
): Promise<OffsetPage<Feed>> {
  const from = sql`from feeds where environment_id = ${environment.id}`
  return listedPage(db, page, (part) => listFeeds(db, environment, part), from)
}
