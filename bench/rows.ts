// Rows of subscribers and topics for benches that need very many, made by the database itself.
import type { Db, Statement, Tx } from '../src/db/sql.ts'
import { sql } from '../src/db/sql.ts'
import type { Environment } from '../src/domain/environment.ts'

/** A hundred names, each borne by one subscriber in a hundred. */
export const firstNames = Array.from(
  { length: 100 },
  (_, index) => `Name${String.fromCharCode(65 + (index % 26))}${index}x`,
)

export const topicId = '00000000-0000-7000-8000-0000000000aa'
const firstMs = Date.parse('2026-01-01T00:00:00.000Z')

/** Row n was created n milliseconds after the first; its id says so, as a UUIDv7 does. */
export function idOfRow(row: number): string {
  const time = (firstMs + row).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${row.toString(16).padStart(12, '0')}`
}

export const updatedAtOfRow = (row: number): string => new Date(firstMs + row).toISOString()

const id = sql`(lpad(to_hex(${firstMs}::bigint + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid`
const at = sql`to_timestamp((${firstMs}::bigint + n) / 1000.0)`
const numbers = (rows: number): Statement => sql`generate_series(0, ${rows - 1}::bigint) n`

export async function fillRows(db: Db, environment: Environment, rows: number): Promise<void> {
  await db.transaction(async (tx) => {
    await insertEnvironment(tx, environment)
    await withoutSearch(tx, async () => {
      await insertPeople(tx, environment.id, rows)
      await tx.run(sql`insert into topics (environment_id, id, key, name, created_at, updated_at)
        select ${environment.id}, ${id}, 'topic-' || n, 'Topic number ' || n || '.', ${at}, ${at} from ${numbers(rows)}`)
    })
  })
  await settle(db)
}

/** An environment and its subscribers, all of them in one topic. */
export async function fillPeople(db: Db, environment: Environment, rows: number): Promise<void> {
  await db.transaction((tx) => insertEnvironment(tx, environment))
  await fillTopic(db, environment.id, rows)
}

async function insertEnvironment(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(
    sql`insert into organizations (id, name, created_at) values (${environment.organizationId}, 'Bench', now())`,
  )
  await tx.run(sql`insert into environments (id, organization_id, name, identifier, signing_secret, created_at)
                   values (${environment.id}, ${environment.organizationId}, 'Bench', 'bench', '', now())`)
}

/** Subscribers, all of them in one topic. */
export async function fillTopic(db: Db, environmentId: string, rows: number): Promise<void> {
  await db.transaction((tx) => withoutSearch(tx, () => insertPeople(tx, environmentId, rows)))
  await settle(db)
}

async function insertPeople(tx: Tx, environmentId: string, rows: number): Promise<void> {
  await tx.run(sql`
    insert into subscribers (environment_id, id, subscriber_id, first_name, last_name, email, phone, created_at, updated_at)
    select ${environmentId}, ${id}, 'user-' || n, (${firstNames}::text[])[n % 100 + 1], 'Surname' || n || 'e',
           'person-' || n || '@example.com', '+44' || lpad(n::text, 8, '0'), ${at}, ${at}
    from ${numbers(rows)}`)
  await tx.run(sql`insert into topics (environment_id, id, key, name, created_at, updated_at)
                   values (${environmentId}, ${topicId}, 'everyone', 'Everyone', now(), now())`)
  await tx.run(sql`insert into topic_subscriptions (environment_id, topic_id, subscriber_id, id, created_at)
    select ${environmentId}, ${topicId}, ${id}, ${id}, ${at} from ${numbers(rows)}`)
}

/** Loading with the search indexes in place takes eight times as long: they are built again afterwards. */
async function withoutSearch(tx: Tx, load: () => Promise<void>): Promise<void> {
  const indexes = await tx.rows<{ name: string; definition: string }>(sql`
    select indexname as name, indexdef as definition from pg_indexes
    where schemaname = 'public' and tablename in ('subscribers', 'topics') and indexdef like '%USING gin%'`)
  for (const index of indexes) await tx.run({ text: `drop index ${index.name}`, values: [] })
  await load()
  await tx.run(sql`set local maintenance_work_mem = '1GB'`)
  for (const index of indexes) await tx.run({ text: index.definition, values: [] })
  // As the migration has them.
  await tx.run(sql`alter index subscribers_search alter column 2 set statistics 0`)
  await tx.run(sql`alter index topics_search alter column 2 set statistics 0`)
}

/** What the load left to be written must not be written while something is timed. */
export async function settle(db: Db): Promise<void> {
  await db.run(sql`vacuum analyze`)
  await db.run(sql`checkpoint`)
}
