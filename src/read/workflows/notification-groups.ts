// The list of notification groups, oldest first.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { NotificationGroup } from '../../domain/workflows/workflow.ts'
import { listGroups } from '../../store/workflows/notification-groups.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { listedPage } from '../page/offset-page.ts'

export function groupsPage(
  db: Sql,
  environment: Environment,
  page: { page: number; limit: number },
): Promise<OffsetPage<NotificationGroup>> {
  const from = sql`from notification_groups where environment_id = ${environment.id}`
  return listedPage(db, page, (part) => listGroups(db, environment, part), from)
}
