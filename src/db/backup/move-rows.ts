// Moves every row of one database to another that has the same schema and is empty, in one transaction.
import pg from 'pg'
import type { Connection } from '../connect.ts'
import { connectionSettings } from '../connect.ts'
import { copyBetween } from './copy-between.ts'

/** It cannot be moved there; the message says why. Nothing was moved. */
export class MoveError extends Error {
  override readonly name = 'MoveError'
}

export interface MovedTable {
  readonly table: string
  readonly rows: number
}

/** `rows` so far; `isDone` with the last. */
export type MoveProgress = (table: string, rows: number, isDone: boolean) => void

interface Table {
  readonly name: string
  readonly columns: readonly string[]
  /** The tables that its rows refer to. */
  readonly refersTo: readonly string[]
}

/** The book of migrations is the target's own. */
const ownTables = ['schema_migrations']
/** Transaction ids of the server on which they were written: the target has others, and its default until `reopenInboxes`. */
const ownColumns = ['opened_in']
const progressEveryRows = 50_000
/** Both write and read values alike, whatever their settings. */
const sameWords = `set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres'; set timezone = 'UTC'; set extra_float_digits = 1;
  set statement_timeout = 0; set idle_in_transaction_session_timeout = 0`

/** Throws, and leaves the target without a row, unless every table has as many rows afterwards as before. */
export async function moveRows(from: Connection, to: Connection, progress: MoveProgress): Promise<MovedTable[]> {
  const [source, target] = [clientOf(from), clientOf(to)]
  await Promise.all([source.connect(), target.connect()])
  try {
    await Promise.all([source.query(sameWords), target.query(sameWords)])
    const tables = inOrder(await tablesOf(source))
    await refuseDifferent(tables, await tablesOf(target))
    await makeMonths(source, target)
    await target.query('begin')
    const moved: MovedTable[] = []
    for (const table of tables)
      moved.push({ table: table.name, rows: await moveTable(source, target, table, progress) })
    await moveSequences(source, target)
    await target.query('commit')
    await target.query('analyze')
    return moved
  } finally {
    await Promise.all([source.end(), target.end()].map((ended) => ended.catch(() => undefined)))
  }
}

function clientOf(connection: Connection): pg.Client {
  const client = new pg.Client({ ...connectionSettings(connection), application_name: 'posthorn move' })
  // The statement in progress, or the next one, fails as well.
  client.on('error', () => undefined)
  return client
}

/** Of partitioned tables the parent alone. Months that were detached and not dropped yet belong to none. */
async function tablesOf(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname as name,
       array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
             and a.attgenerated = '' and not a.attname = any($2) order by a.attnum) as columns,
       array(select distinct t.relname::text from pg_constraint f join pg_class t on t.oid = f.confrelid
             where f.conrelid = c.oid and f.contype = 'f' and f.conparentid = 0) as "refersTo"
     from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and not c.relname = any($1) and c.relname not in (select name from detached_months())
     order by 1`,
    [ownTables, ownColumns],
  )
  return rows
}

/** Each after those that it refers to. */
function inOrder(tables: readonly Table[]): Table[] {
  const ordered: Table[] = []
  const isPlaced = (name: string): boolean => ordered.some((table) => table.name === name)
  while (ordered.length < tables.length) {
    const next = tables.find(
      ({ name, refersTo }) => !isPlaced(name) && refersTo.every((other) => other === name || isPlaced(other)),
    )
    if (next === undefined) throw new Error('Tables refer to each other in a circle')
    ordered.push(next)
  }
  return ordered
}

function refuseDifferent(source: readonly Table[], target: readonly Table[]): void {
  const columnsOf = new Map(target.map(({ name, columns }) => [name, [...columns].sort().join()]))
  const other = source.find(({ name, columns }) => columnsOf.get(name) !== [...columns].sort().join())
  if (other !== undefined) throw new MoveError(`The table ${other.name} is another one in the target.`)
}

/** The same months as partitions, so that no row goes to the default one. */
async function makeMonths(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await source.query<{ name: string }>(
    `select distinct right(name, 7) as name from month_partitions() order by 1`,
  )
  for (const { name } of rows)
    await target.query(`select make_partitions($1, 1)`, [`${name.replace('_', '-')}-15T00:00:00Z`])
}

async function moveTable(source: pg.Client, target: pg.Client, table: Table, progress: MoveProgress): Promise<number> {
  const { name } = table
  const [quoted, columns] = [pg.escapeIdentifier(name), table.columns.map((one) => pg.escapeIdentifier(one)).join(', ')]
  // Migrations write some rows of their own.
  if ((await countOf(target, quoted)) > 0) await target.query(`delete from ${quoted}`)
  let rows = 0
  await copyBetween(source, target, {
    from: `copy (select ${columns} from ${quoted}) to stdout`,
    into: `copy ${quoted} (${columns}) from stdin`,
    onRow: () => {
      rows += 1
      if (rows % progressEveryRows === 0) progress(name, rows, false)
    },
  })
  const [before, after] = [await countOf(source, quoted), await countOf(target, quoted)]
  if (before !== after)
    throw new MoveError(`${name} has ${before} rows here and ${after} in the target. Nothing was moved.`)
  progress(name, after, true)
  return after
}

async function countOf(client: pg.Client, quoted: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`select count(*)::float8 as count from ${quoted}`)
  return rows[0]?.count ?? 0
}

/** They go on where they were. */
async function moveSequences(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await source.query<{ name: string; last: string | null }>(
    `select sequencename as name, last_value::text as last from pg_sequences where schemaname = 'public'`,
  )
  for (const { name, last } of rows) {
    if (last !== null) await target.query(`select setval($1::regclass, $2::bigint)`, [pg.escapeIdentifier(name), last])
  }
}
