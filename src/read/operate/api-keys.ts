// The list of an environment's API keys, newest first, revoked ones included.

import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { ApiKey } from '../../domain/operate/api-key.ts'
import { listApiKeys } from '../../store/operate/api-keys.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { listedPage } from '../page/offset-page.ts'

export function apiKeysPage(
  db: Sql,
  environment: Environment,
  page: { page: number; limit: number },
): Promise<OffsetPage<ApiKey>> {
  const from = sql`from api_keys where environment_id = ${environment.id}`
  return listedPage(db, page, (part) => listApiKeys(db, environment, part), from)
}
