// The list of an organization's users, newest first, disabled ones included.

import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { User } from '../../domain/operate/user.ts'
import { listUsers } from '../../store/operate/users.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { listedPage } from '../page/offset-page.ts'

export function usersPage(
  db: Sql,
  organizationId: string,
  page: { page: number; limit: number },
): Promise<OffsetPage<User>> {
  const from = sql`from users where organization_id = ${organizationId}`
  return listedPage(db, page, (part) => listUsers(db, organizationId, part), from)
}
