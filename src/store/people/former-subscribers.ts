// Rows of the subscribers table, those of deleted subscribers among them.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { SubscriberRow } from './subscribers.ts'
import { subscriberColumns } from './subscribers.ts'

/** Every subscriber who has or had this id, including deleted ones: their data exists until it is erased. */
export async function findEveryoneNamed(
  db: Sql,
  environment: Environment,
  subscriberId: string,
): Promise<(SubscriberRow & { readonly deleted_at: Date | null })[]> {
  return db.rows(sql`
    select ${subscriberColumns}, s.deleted_at from subscribers s
    where s.environment_id = ${environment.id} and s.subscriber_id = ${subscriberId} and s.deleted_at is null
    union all
    select ${subscriberColumns}, s.deleted_at from subscribers s
    where s.environment_id = ${environment.id} and s.subscriber_id = ${subscriberId} and s.deleted_at is not null`)
}

/** The same by internal ids. */
export async function findEveryoneById(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<SubscriberRow[]> {
  return db.rows<SubscriberRow>(sql`
    select ${subscriberColumns} from subscribers s
    where s.environment_id = ${environment.id} and s.id = any(${ids}::uuid[]) order by s.id`)
}
