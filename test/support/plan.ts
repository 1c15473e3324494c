// What a statement costs the database: its plan, and how much it really looked at.
import assert from 'node:assert/strict'
import type { Db, Sql, Statement, Tx } from '../../src/db/sql.ts'

export interface Plan {
  /** Rows that scans read, those they threw away included; entries of bitmap index scans count too. */
  readonly rowsExamined: number
  /** Pages touched: shows an index that is walked from end to end even where few rows come out of it. */
  readonly pagesTouched: number
  readonly hasSequentialScan: boolean
  readonly indexes: readonly string[]
  /** The plan as text, for the message of an assertion. */
  readonly text: string
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

/** Runs the statement and tells how. Tables must have been analyzed, or the plan is a guess. */
export async function explain(db: Sql, statement: Statement): Promise<Plan> {
  const row = await db.row<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({
    text: `explain (analyze, buffers, timing off, format json) ${statement.text}`,
    values: statement.values,
  })
  if (row === undefined) throw new Error('The database explained nothing')
  const [{ Plan: root }] = row['QUERY PLAN']
  const nodes = allNodes(root)
  return {
    rowsExamined: nodes.filter(readsTable).reduce((sum, node) => sum + examined(node), 0),
    pagesTouched: (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0),
    hasSequentialScan: nodes.some((node) => node['Node Type'].includes('Seq Scan')),
    indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
    text: JSON.stringify(root, undefined, 1),
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
