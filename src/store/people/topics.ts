// The topics table.

import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { NewTopic, Topic } from '../../domain/people/topic.ts'

export interface TopicRow {
  readonly id: string
  readonly key: string
  readonly name: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

export const topicColumns = sql`id, key, name, created_at, updated_at`

/** Undefined when the key is taken. */
export async function insertTopic(
  tx: Tx,
  environment: Environment,
  topic: NewTopic & { id: string; now: Date },
): Promise<Topic | undefined> {
  const row = await tx.row<TopicRow>(sql`
    insert into topics (environment_id, id, key, name, created_at, updated_at)
    values (${environment.id}, ${topic.id}, ${topic.key}, ${topic.name ?? null}, ${topic.now}, ${topic.now})
    on conflict (environment_id, key) do nothing returning ${topicColumns}`)
  return row && topicOf(row)
}

/** Undefined when there is no such topic, and when it has that name already: then it has not been updated. */
export async function renameTopic(
  tx: Tx,
  environment: Environment,
  key: string,
  change: { name: string; now: Date },
): Promise<Topic | undefined> {
  const row = await tx.row<TopicRow>(sql`
    update topics set name = ${change.name}, updated_at = ${change.now}
    where environment_id = ${environment.id} and key = ${key} and name is distinct from ${change.name}
    returning ${topicColumns}`)
  return row && topicOf(row)
}

/** The id of the topic that was deleted; its subscriptions are still there and have to be left to the sweep. */
export async function deleteTopic(tx: Tx, environment: Environment, key: string): Promise<string | undefined> {
  const row = await tx.row<{ id: string }>(
    sql`delete from topics where environment_id = ${environment.id} and key = ${key} returning id`,
  )
  return row?.id
}

export async function findTopic(db: Sql, environment: Environment, key: string): Promise<Topic | undefined> {
  const row = await db.row<TopicRow>(
    sql`select ${topicColumns} from topics where environment_id = ${environment.id} and key = ${key}`,
  )
  return row && topicOf(row)
}

export async function findTopics(db: Sql, environment: Environment, keys: readonly string[]): Promise<Topic[]> {
  if (keys.length === 0) return []
  const rows = await db.rows<TopicRow>(
    sql`select ${topicColumns} from topics where environment_id = ${environment.id} and key = any(${keys}::text[])`,
  )
  return rows.map(topicOf)
}

/** Finds a topic that then stays until the transaction ends: nothing can be added to a topic already swept. */
export async function holdTopic(tx: Tx, environment: Environment, key: string): Promise<Topic | undefined> {
  const row = await tx.row<TopicRow>(
    sql`select ${topicColumns} from topics where environment_id = ${environment.id} and key = ${key} for key share`,
  )
  return row && topicOf(row)
}

export function topicOf(row: TopicRow): Topic {
  return {
    _id: row.id,
    key: row.key,
    ...(row.name === null ? {} : { name: row.name }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

/** Of `topics as t`, beside columns of other tables. */
export const topicColumnsOf = sql`t.id as topic_id, t.key as topic_key, t.name as topic_name,
  t.created_at as topic_created_at, t.updated_at as topic_updated_at`

export interface TopicColumns {
  readonly topic_id: string
  readonly topic_key: string
  readonly topic_name: string | null
  readonly topic_created_at: Date
  readonly topic_updated_at: Date
}

export const topicOfColumns = (row: TopicColumns): Topic =>
  topicOf({
    id: row.topic_id,
    key: row.topic_key,
    name: row.topic_name,
    created_at: row.topic_created_at,
    updated_at: row.topic_updated_at,
  })
