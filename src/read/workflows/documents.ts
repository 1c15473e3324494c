// The whole configuration of an environment: for files, and for copying it to another environment. Never a credential.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Topic } from '../../domain/people/topic.ts'
import type { Feed } from '../../domain/workflows/feed.ts'
import type { Layout } from '../../domain/workflows/layout.ts'
import { layoutsMax } from '../../domain/workflows/layout.ts'
import type { Workflow } from '../../domain/workflows/workflow.ts'
import { type TopicRow, topicColumns, topicOf } from '../../store/people/topics.ts'
import { listFeeds } from '../../store/workflows/feeds.ts'
import { listLayouts } from '../../store/workflows/layouts.ts'
import { workflowsPage } from './workflows.ts'

const pageSize = 100
const feedsMax = 1_000
/** Beyond that topics are data, not definitions. */
export const topicsMax = 10_000

/** By identifier, in its order. */
export async function allWorkflows(db: Sql, environment: Environment): Promise<Workflow[]> {
  const all: Workflow[] = []
  for (let page = 0; ; page += 1) {
    const { data, hasMore } = await workflowsPage(db, environment, { page, limit: pageSize })
    all.push(...data)
    if (!hasMore) break
  }
  const name = (workflow: Workflow): string => workflow.triggers[0]?.identifier ?? ''
  return all.sort((a, b) => (name(a) < name(b) ? -1 : 1))
}

export const allLayouts = (db: Sql, environment: Environment): Promise<Layout[]> =>
  listLayouts(db, environment, { offset: 0, limit: layoutsMax, oldestFirst: true })

export const allFeeds = (db: Sql, environment: Environment): Promise<Feed[]> =>
  listFeeds(db, environment, { offset: 0, limit: feedsMax })

/** One more than the limit shows that there are more. */
export async function allTopics(db: Sql, environment: Environment): Promise<Topic[]> {
  const rows = await db.rows<TopicRow>(sql`
    select ${topicColumns} from topics where environment_id = ${environment.id} order by key limit ${topicsMax + 1}`)
  return rows.map(topicOf)
}
