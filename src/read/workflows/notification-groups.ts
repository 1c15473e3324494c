// The list of notification groups, oldest first.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { NotificationGroup } from '../../domain/workflows/workflow.ts'
import { listGroups } from '../../store/workflows/notification-groups.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { cappedCount, offsetPage } from '../page/offset-page.ts'

export async function groupsPage(
  db: Sql,
  environment: Environment,
  page: { page: number; limit: number },
): Promise<OffsetPage<NotificationGroup>> {
  const [rows, count] = await Promise.all([
    listGroups(db, environment, { offset: page.page * page.limit, limit: page.limit + 1 }),
    cappedCount(db, sql`from notification_groups where environment_id = ${environment.id}`),
  ])
  return offsetPage(rows, page, count)
}
