// What tests of topics start from: environments by name, and subscribers put straight into the table.
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import type { TestApp } from './app.ts'

export async function environmentOf(app: TestApp, name = 'Development'): Promise<Environment> {
  const environment = await app.database.db.row<Environment>(
    sql`select id, organization_id as "organizationId", name from environments where name = ${name}`,
  )
  if (environment === undefined) throw new Error(`There is no environment ${name}`)
  return environment
}

/** The subscribers' internal ids, by subscriberId. */
export async function addSubscribers(
  app: TestApp,
  subscriberIds: readonly string[],
  environmentName = 'Development',
): Promise<Map<string, string>> {
  const environment = await environmentOf(app, environmentName)
  const now = app.world.now()
  const rows = await app.database.db.rows<{ id: string; subscriber_id: string }>(sql`
    insert into subscribers (environment_id, id, subscriber_id, first_name, email, created_at, updated_at)
    select ${environment.id}, id, subscriber_id, 'First ' || subscriber_id, subscriber_id || '@example.org', ${now}, ${now}
    from unnest(${subscriberIds.map(() => app.world.newId(now))}::uuid[], ${subscriberIds}::text[]) as new (id, subscriber_id)
    returning id, subscriber_id`)
  return new Map(rows.map((row) => [row.subscriber_id, row.id]))
}

export async function countOf(
  app: TestApp,
  table: 'topic_subscriptions' | 'deleted_topics' | 'topics',
): Promise<number> {
  const tables = {
    topic_subscriptions: sql`select count(*) as count from topic_subscriptions`,
    deleted_topics: sql`select count(*) as count from deleted_topics`,
    topics: sql`select count(*) as count from topics`,
  }
  const row = await app.database.db.row<{ count: number }>(tables[table])
  return row?.count ?? 0
}
