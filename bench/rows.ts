// Rows for the page bench: subscribers, topics and one topic of everybody, made by the database itself.
import type { Db } from '../src/db/sql.ts'
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

export async function fillRows(db: Db, environment: Environment, rows: number): Promise<void> {
  const id = sql`(lpad(to_hex(${firstMs}::bigint + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid`
  const at = sql`to_timestamp((${firstMs}::bigint + n) / 1000.0)`
  await db.transaction(async (tx) => {
    // Loading with the search indexes in place takes eight times as long; they are built again below.
    const indexes = await tx.rows<{ name: string; definition: string }>(sql`
      select indexname as name, indexdef as definition from pg_indexes
      where schemaname = 'public' and indexdef like '%USING gin%'`)
    for (const index of indexes) await tx.run({ text: `drop index ${index.name}`, values: [] })
    await tx.run(
      sql`insert into organizations (id, name, created_at) values (${environment.organizationId}, 'Bench', now())`,
    )
    await tx.run(sql`insert into environments (id, organization_id, name, identifier, signing_secret, created_at)
                     values (${environment.id}, ${environment.organizationId}, 'Bench', 'bench', '', now())`)
    await tx.run(sql`
      insert into subscribers (environment_id, id, subscriber_id, first_name, last_name, email, phone, created_at, updated_at)
      select ${environment.id}, ${id}, 'user-' || n, (${firstNames}::text[])[n % 100 + 1], 'Surname' || n || 'e',
             'person-' || n || '@example.com', '+44' || lpad(n::text, 8, '0'), ${at}, ${at}
      from generate_series(0, ${rows - 1}::bigint) n`)
    await tx.run(sql`insert into topics (environment_id, id, key, name, created_at, updated_at)
                     values (${environment.id}, ${topicId}, 'everyone', 'Everyone', now(), now())`)
    await tx.run(sql`insert into topics (environment_id, id, key, name, created_at, updated_at)
      select ${environment.id}, ${id}, 'topic-' || n, 'Topic number ' || n || '.', ${at}, ${at}
      from generate_series(0, ${rows - 1}::bigint) n`)
    await tx.run(sql`insert into topic_subscriptions (environment_id, topic_id, subscriber_id, id, created_at)
      select ${environment.id}, ${topicId}, ${id}, ${id}, ${at} from generate_series(0, ${rows - 1}::bigint) n`)
    await tx.run(sql`set local maintenance_work_mem = '1GB'`)
    for (const index of indexes) await tx.run({ text: index.definition, values: [] })
    // As the migration has them.
    await tx.run(sql`alter index subscribers_search alter column 2 set statistics 0`)
    await tx.run(sql`alter index topics_search alter column 2 set statistics 0`)
  })
  await db.run(sql`vacuum analyze`)
  // What the load left to be written must not be written while pages are timed.
  await db.run(sql`checkpoint`)
}
