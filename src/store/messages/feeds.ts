// Which feed a message belongs to: its step says so.
import type { Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

/** For a row called `m`. Undefined means no filter: every message matches. */
export function inFeeds(environment: Environment, feedIds: readonly string[] | undefined): Statement {
  if (feedIds === undefined) return sql`true`
  // By key, a row at a time: joined, the planner would read every version of the environment.
  return sql`(
    select v.definition->'steps'->(m.step::int)->'template'->>'feedId' from workflow_versions v
    where v.environment_id = ${environment.id} and v.id = m.version_id) = any(${feedIds}::text[])`
}
