// What the planner is given to go by until a partition is analyzed for the first time.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'

interface Presumed {
  /** How many different values there are: a number, or as a fraction of the rows if negative. */
  readonly distinct: number
  /** The part of the rows that has no value. */
  readonly empty?: number
}

/** Of the columns that rows are found by. Rough, but in the right order: few channels, some messages for each person. */
const presumed: Readonly<Record<string, Readonly<Record<string, Presumed>>>> = {
  notifications: {
    environment_id: { distinct: 2 },
    id: { distinct: -1 },
    event_id: { distinct: -0.5 },
    subscriber_id: { distinct: -0.02 },
    version_id: { distinct: 20 },
  },
  messages: {
    environment_id: { distinct: 2 },
    id: { distinct: -1 },
    job_id: { distinct: -0.9 },
    subscriber_id: { distinct: -0.02 },
    channel: { distinct: 5 },
    status: { distinct: 3, empty: 0.02 },
    context_keys: { distinct: 20, empty: 0.9 },
    snoozed_until: { distinct: -0.001, empty: 0.999 },
    deleted_at: { distinct: -0.001, empty: 0.999 },
  },
}

/**
 * A new partition has no statistics until autovacuum looks at it, up to a minute later. Until then every condition counts
 * as selective: a page of a person's feed may then be searched for among all messages of its channel. Does nothing to
 * tables that have been analyzed, and nothing before PostgreSQL 18, which first lets statistics be given.
 */
export async function presumeStatistics(db: Sql): Promise<void> {
  const server = await db.row<{ accepts: boolean }>(
    sql`select to_regproc('pg_catalog.pg_restore_attribute_stats') is not null as accepts`,
  )
  if (server?.accepts !== true) return
  const columns = Object.entries(presumed).flatMap(([parent, named]) =>
    Object.entries(named).map(([name, { distinct, empty = 0 }]) => ({ parent, name, distinct, empty })),
  )
  await db.run(sql`
    select pg_restore_attribute_stats('schemaname', n.nspname::text, 'relname', c.relname::text, 'attname', k.name,
             'inherited', false, 'null_frac', k.empty, 'avg_width', 16, 'n_distinct', k.distinct_values)
    from unnest(${columns.map((column) => column.parent)}::text[], ${columns.map((column) => column.name)}::text[],
                ${columns.map((column) => column.distinct)}::real[], ${columns.map((column) => column.empty)}::real[])
      as k (parent, name, distinct_values, empty)
    join pg_inherits i on i.inhparent = k.parent::regclass
    join pg_class c on c.oid = i.inhrelid and c.reltuples < 0
    join pg_namespace n on n.oid = c.relnamespace
    where not exists (select from pg_stats s where s.schemaname = n.nspname and s.tablename = c.relname)`)
}
