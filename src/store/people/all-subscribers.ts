// All subscribers of an environment, one page at a time.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'

/** A page of all subscribers of the environment, by id, as topic subscribers are found. */
export async function findAllSubscribers(
  db: Sql,
  environment: Environment,
  page: { after: string | null; limit: number },
): Promise<{ id: string; subscriberId: string; topicIds: null; isThere: true }[]> {
  const rows = await db.rows<{ id: string; subscriber_id: string }>(sql`
    select id, subscriber_id from subscribers
    where environment_id = ${environment.id} and id > ${page.after ?? nilId}::uuid and deleted_at is null
    order by id limit ${page.limit}`)
  return rows.map((row) => ({ id: row.id, subscriberId: row.subscriber_id, topicIds: null, isThere: true }))
}
