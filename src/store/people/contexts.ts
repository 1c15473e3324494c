// The contexts table: what events were about, in the caller's own terms.
import type { Part } from '../../db/one-statement.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, prepared, sql, unseen } from '../../db/sql.ts'
import type { ContextMention } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Context } from '../../domain/people/context.ts'

/** Makes those that are not there yet; the data of one that exists is not changed by a mention. */
export async function insertContexts(
  tx: Tx,
  environment: Environment,
  mentions: readonly ContextMention[],
  now: Date,
): Promise<void> {
  if (mentions.length > 0) await tx.run(insertionOf(environment, mentions, now))
}

/** As a part of a larger statement, which is given how many there were: without those that another transaction made meanwhile. */
export const contextInsertion = (environment: Environment, mentions: readonly ContextMention[], now: Date): Part => ({
  as: sql`new_contexts`,
  name: 'context',
  statement: sql`${insertionOf(environment, mentions, now)} returning type`,
})

/** In the order of their keys: two transactions then wait and do not deadlock. */
const insertionOf = (environment: Environment, mentions: readonly ContextMention[], now: Date): Statement => sql`
    insert into contexts (environment_id, type, id, data, created_at, updated_at)
    select ${environment.id}, c.type, c.id, c.data::jsonb, ${now}, ${now}
    from unnest(${mentions.map((mention) => mention.type)}::text[], ${mentions.map((mention) => mention.id)}::text[],
                ${mentions.map((mention) => json(mention.data))}::text[]) as c (type, id, data)
    order by c.type, c.id
    on conflict (environment_id, type, id) do nothing`

export interface ContextRow {
  readonly key: string
  readonly type: string
  readonly id: string
  readonly data: Record<string, unknown> | null
}

/** By key, `type:id`. */
export async function findContexts(db: Sql, environment: Environment, keys: readonly string[]): Promise<ContextRow[]> {
  if (keys.length === 0) return []
  const statement = sql`select c.type || ':' || c.id as key, c.type, c.id, c.data from ${named(keys, environment)}`
  return db.rows<ContextRow>(prepared('contexts-by-key', statement))
}

/** Which of them exist, and the data of those that have little: what is named in a few letters may bring megabytes with it. */
export async function findSmallContexts(
  db: Sql,
  environment: Environment,
  keys: readonly string[],
  { lettersMax }: { lettersMax: number },
): Promise<(ContextRow & { readonly isWhole: boolean })[]> {
  if (keys.length === 0) return []
  // What takes more than four bytes a letter as it is stored is longer in any case: it is not even opened.
  const statement = sql`
    select c.type || ':' || c.id as key, c.type, c.id, small.data, c.data is null or small.data is not null as "isWhole"
    from ${named(keys, environment)}
    left join lateral (select c.data where
      case when pg_column_size(c.data) > ${lettersMax}::int * 4 then false else length(c.data::text) <= ${lettersMax}::int end
    ) as small on true`
  return db.rows(prepared('contexts-by-key-small', statement))
}

/** Those that exist, as `c`, each found by its key. */
function named(keys: readonly string[], environment: Environment): Statement {
  const parts = keys.map((key) => [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)] as const)
  const [types, ids] = [parts.map(([type]) => type), parts.map(([, id]) => id)]
  return sql`unnest(${unseen(sql`${types}::text[]`)}, ${ids}::text[]) as asked (type, id)
    cross join lateral (select * from contexts found
      where found.environment_id = ${environment.id} and found.type = asked.type and found.id = asked.id limit 1) c`
}

/** As it is listed. */
export interface StoredContext extends ContextRow {
  readonly created_at: Date
  readonly updated_at: Date
}

/** Of `contexts`, whatever it is called. */
export const contextColumns = sql`type || ':' || id as key, type, id, data, created_at, updated_at`

/** Undefined when there is one already. */
export async function insertContext(
  tx: Tx,
  environment: Environment,
  context: ContextMention & { now: Date },
): Promise<Context | undefined> {
  const row = await tx.row<StoredContext>(sql`
    insert into contexts (environment_id, type, id, data, created_at, updated_at)
    values (${environment.id}, ${context.type}, ${context.id}, ${json(context.data)}::jsonb, ${context.now}, ${context.now})
    on conflict (environment_id, type, id) do nothing returning ${contextColumns}`)
  return row && contextOf(row)
}

/** Replaces the data as a whole; undefined if there is no such context. */
export async function updateContext(
  tx: Tx,
  environment: Environment,
  context: { type: string; id: string; data: Readonly<Record<string, unknown>>; now: Date },
): Promise<Context | undefined> {
  const row = await tx.row<StoredContext>(sql`
    update contexts set data = ${json(context.data)}::jsonb, updated_at = ${context.now}
    where environment_id = ${environment.id} and type = ${context.type} and id = ${context.id}
    returning ${contextColumns}`)
  return row && contextOf(row)
}

/** The context as it was. */
export async function deleteContext(
  tx: Tx,
  environment: Environment,
  context: { type: string; id: string },
): Promise<Context | undefined> {
  const row = await tx.row<StoredContext>(sql`
    delete from contexts
    where environment_id = ${environment.id} and type = ${context.type} and id = ${context.id}
    returning ${contextColumns}`)
  return row && contextOf(row)
}

/** As `findContext`; no one else changes it before the transaction ends. */
export async function lockContext(
  tx: Tx,
  environment: Environment,
  context: { type: string; id: string },
): Promise<Context | undefined> {
  const row = await tx.row<StoredContext>(sql`
    select ${contextColumns} from contexts
    where environment_id = ${environment.id} and type = ${context.type} and id = ${context.id} for no key update`)
  return row && contextOf(row)
}

export async function findContext(
  db: Sql,
  environment: Environment,
  context: { type: string; id: string },
): Promise<Context | undefined> {
  const row = await db.row<StoredContext>(sql`
    select ${contextColumns} from contexts
    where environment_id = ${environment.id} and type = ${context.type} and id = ${context.id}`)
  return row && contextOf(row)
}

export function contextOf(row: StoredContext): Context {
  return {
    type: row.type,
    id: row.id,
    data: row.data ?? {},
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
