// What a statement costs the database: its plan, and how much it really looked at.
import assert from 'node:assert/strict'
import pg from 'pg'
import { arrayText } from '../../src/db/array-text.ts'
import type { Db, Sql, Statement, Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'

export interface Plan extends Cost {
  readonly hasSequentialScan: boolean
  readonly indexes: readonly string[]
  /** What each part of a `with` cost, by its name, and what was asked beside them. */
  readonly parts: ReadonlyMap<string, Cost>
  readonly rest: Cost
  /** Tables and partitions that were read, each once. */
  readonly relations: ReadonlySet<string>
  /** The plan as text, for the message of an assertion. */
  readonly text: string
}

export interface Cost {
  /** Rows that scans read, those they threw away included; entries of bitmap index scans count too. */
  readonly rowsExamined: number
  /** Pages touched: shows an index that is walked from end to end even where few rows come out of it. */
  readonly pagesTouched: number
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Relation Name'?: string
  readonly 'Subplan Name'?: string
  readonly 'Total Cost': number
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

/** Runs the statement and reports how. Tables must have been analyzed, or the plan is a guess. */
export async function explain(db: Sql, statement: Statement): Promise<Plan> {
  return planOf(await db.row<Explained>({ text: `${explaining} ${statement.text}`, values: statement.values }))
}

/** As a connection runs it that has prepared it: planned once, for whatever values come. */
export async function explainPrepared(db: Db, statement: Statement): Promise<Plan> {
  return planOf(await explained(db, statement, 'force_generic_plan'))
}

/**
 * What the planner expects of a statement planned for any values, and of one planned for these. The server compares the
 * two, and counts the planning to the second: so much for each table that the plan names.
 */
export async function estimatedCosts(db: Db, statement: Statement): Promise<{ prepared: number; once: number }> {
  const cost = (row: Explained | undefined): number => row?.['QUERY PLAN'][0].Plan['Total Cost'] ?? Number.NaN
  const once = await explained(db, statement, 'force_custom_plan')
  const planning = 2.5 * ((planOf(once).text.match(/"Relation Name"/g)?.length ?? 0) + 1)
  return { prepared: cost(await explained(db, statement, 'force_generic_plan')), once: cost(once) + planning }
}

async function explained(db: Db, { text, values }: Statement, mode: string): Promise<Explained | undefined> {
  return db.transaction(async (tx) => {
    await tx.run(sql`select set_config('plan_cache_mode', ${mode}, true)`)
    await tx.run({ text: `prepare explained as ${text}`, values: [] })
    const literals = values.map((value) => pg.escapeLiteral(Array.isArray(value) ? arrayText(value) : String(value)))
    const row = await tx.row<Explained>({ text: `${explaining} execute explained(${literals.join(', ')})`, values: [] })
    await tx.run(sql`deallocate explained`)
    return row
  })
}

const explaining = 'explain (analyze, buffers, timing off, format json)'

interface Explained {
  readonly 'QUERY PLAN': [{ Plan: PlanNode }]
}

function planOf(row: Explained | undefined): Plan {
  if (row === undefined) throw new Error('The database explained nothing')
  const [{ Plan: root }] = row['QUERY PLAN']
  const nodes = allNodes(root)
  const parts = new Map(
    nodes.flatMap((node) => {
      const name = node['Subplan Name']?.match(/^CTE (\w+)$/)?.[1]
      return name === undefined ? [] : [[name, costOf(node)] as const]
    }),
  )
  const whole = costOf(root)
  const rest = [...parts.values()].reduce(
    (left, part) => ({
      rowsExamined: left.rowsExamined - part.rowsExamined,
      pagesTouched: left.pagesTouched - part.pagesTouched,
    }),
    whole,
  )
  return {
    ...whole,
    parts,
    rest,
    // An empty table is read from its beginning to its end without touching a page.
    hasSequentialScan: nodes.some((node) => node['Node Type'].includes('Seq Scan') && costOf(node).pagesTouched > 0),
    indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
    relations: new Set(nodes.flatMap((node) => (node['Actual Loops'] > 0 ? (node['Relation Name'] ?? []) : []))),
    text: JSON.stringify(root, undefined, 1),
  }
}

function costOf(node: PlanNode): Cost {
  return {
    rowsExamined: allNodes(node)
      .filter(readsTable)
      .reduce((sum, one) => sum + examined(one), 0),
    pagesTouched: (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0),
  }
}

/** Scans of a table or an index; those of a subquery only pass on what was counted below them. */
function readsTable(node: PlanNode): boolean {
  return node['Node Type'].includes('Scan') && !/^(Subquery|CTE|Function|Values)/.test(node['Node Type'])
}

function allNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(allNodes)]
}

function examined(node: PlanNode): number {
  const each =
    node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return each * node['Actual Loops']
}

export interface RecordingDb extends Tx {
  readonly statements: Statement[]
}

/** Passes statements on and keeps them, so that a test explains exactly what a read runs. */
export function recordStatements(db: Db): RecordingDb {
  const statements: Statement[] = []
  const keep = (statement: Statement): Statement => {
    statements.push(statement)
    return statement
  }
  return {
    statements,
    rows: (statement) => db.rows(keep(statement)),
    row: (statement) => db.row(keep(statement)),
    run: (statement) => db.run(keep(statement)),
    inTransaction: true,
    afterCommit: () => {},
  }
}

export interface Bounds {
  readonly rows: number
  readonly pages: number
}

/** Runs a read and holds every statement of it but the count to the bounds. */
export async function assertBounded<Result>(
  db: Db,
  what: string,
  bounds: Bounds,
  read: (db: Sql) => Promise<Result>,
): Promise<Result> {
  const recording = recordStatements(db)
  const result = await read(recording)
  const statements = recording.statements.filter((statement) => !statement.text.startsWith('select count'))
  assert.ok(statements.length > 0, what)
  for (const statement of statements) {
    const plan = await explain(db, statement)
    const message = `${what}\n${statement.text}\n${plan.text}`
    assert.equal(plan.hasSequentialScan, false, message)
    assert.ok(plan.indexes.length > 0, message)
    assert.ok(plan.rowsExamined <= bounds.rows, `${plan.rowsExamined} rows: ${message}`)
    assert.ok(plan.pagesTouched <= bounds.pages, `${plan.pagesTouched} pages: ${message}`)
  }
  return result
}
