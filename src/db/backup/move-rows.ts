// Moves every row of one database to another that has the same schema and is empty, in one transaction.
import pg from 'pg'
import type { Connection } from '../connect.ts'
import { connectionSettings } from '../connect.ts'
import { copyBetween } from './copy-between.ts'

/** It cannot be moved there, or it is not known whether it was; the message says why. */
export class MoveError extends Error {
  override readonly name = 'MoveError'
}

/** The target did not answer to the commit: it has everything, or nothing. */
export class UnknownMove extends Error {
  override readonly name = 'UnknownMove'
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
/** Transaction ids of the server on which they were written: the target has others, and its default until `last`. */
const ownColumns = ['opened_in']
const progressEveryRows = 50_000
/** Both write and read values alike, whatever their settings. */
const sameWords = `set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres'; set timezone = 'UTC'; set extra_float_digits = 1;
  set statement_timeout = 0; set idle_in_transaction_session_timeout = 0`

export interface MoveOptions {
  readonly progress: MoveProgress
  /** By table: a condition on the rows that stay behind. */
  readonly staysBehind?: Readonly<Record<string, string>>
  /** Statements for the target, once all rows are there; with them or not at all. */
  readonly last?: readonly string[]
}

/**
 * Throws, and leaves the target without a row, unless every table has as many rows afterwards as before. An `UnknownMove` alone
 * says neither.
 */
export async function moveRows(from: Connection, to: Connection, options: MoveOptions): Promise<MovedTable[]> {
  const [source, target] = [clientOf(from), clientOf(to)]
  await Promise.all([source.connect(), target.connect()])
  try {
    await Promise.all([source.query(sameWords), target.query(sameWords)])
    const tables = inOrder(await tablesOf(source))
    await refuseDifferent(tables, await tablesOf(target))
    await makeMonths(source, target)
    await target.query('begin')
    const moved: MovedTable[] = []
    for (const table of tables) moved.push({ table: table.name, rows: await moveTable(source, target, table, options) })
    await moveSequences(source, target)
    for (const statement of options.last ?? []) await target.query(statement)
    await commit(target)
    // Everything is there: without fresh statistics it is only slower until PostgreSQL makes them.
    await target.query('analyze').catch(() => undefined)
    return moved
  } finally {
    await Promise.all([source.end(), target.end()].map((ended) => ended.catch(() => undefined)))
  }
}

async function commit(target: pg.Client): Promise<void> {
  try {
    await target.query('commit')
  } catch (error) {
    // An answer with a code is a refusal, which moves nothing. The end of the connection may hide either.
    if (error instanceof pg.DatabaseError && error.code !== undefined && !/^(?:08|57P)/.test(error.code)) throw error
    throw new UnknownMove((error as Error).message)
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

async function moveTable(
  source: pg.Client,
  target: pg.Client,
  table: Table,
  { progress, staysBehind }: MoveOptions,
): Promise<number> {
  const { name } = table
  const behind = staysBehind?.[name]
  const moving = behind === undefined ? '' : ` where not (${behind})`
  const [quoted, columns] = [pg.escapeIdentifier(name), table.columns.map((one) => pg.escapeIdentifier(one)).join(', ')]
  // Migrations write some rows of their own.
  if ((await countOf(target, quoted)) > 0) await target.query(`delete from ${quoted}`)
  let rows = 0
  await copyBetween(source, target, {
    from: `copy (select ${columns} from ${quoted}${moving}) to stdout`,
    into: `copy ${quoted} (${columns}) from stdin`,
    onRow: () => {
      rows += 1
      if (rows % progressEveryRows === 0) progress(name, rows, false)
    },
  })
  const [before, after] = [await countOf(source, quoted + moving), await countOf(target, quoted)]
  if (before !== after)
    throw new MoveError(`${name} has ${before} rows here and ${after} in the target. Nothing was moved.`)
  progress(name, after, true)
  return after
}

/** `rows`: the name of a table, with a condition if there is one. */
async function countOf(client: pg.Client, rows: string): Promise<number> {
  const { rows: counted } = await client.query<{ count: number }>(`select count(*)::float8 as count from ${rows}`)
  return counted[0]?.count ?? 0
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
