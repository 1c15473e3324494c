// Rows for one insert: columns that are the same in all of them are said once, the others as arrays to unnest.
import type { Statement } from './sql.ts'
import { sql } from './sql.ts'

export interface Column<Row> {
  readonly name: Statement
  /** Of one value. */
  readonly type: Statement
  /** What an element of the array is written as, where that is not the type itself: arrays of arrays would be flattened. */
  readonly writtenAs?: Statement
  read(row: Row): unknown
}

export interface RowSet<Row> {
  /** The expressions of the columns, in their order. */
  readonly values: Statement
  /** A `from` clause; absent when all columns are the same and one row is meant. */
  readonly from: Statement
  /** Which columns differ: statements of the same shape have the same text, and may share a name. */
  readonly shape: string
  /** The value of one of the columns, or of one of those that are only looked at. */
  valueIn(column: Column<Row>): Statement
}

/** Of a batch of messages two thirds of the columns are the same: a third of the bytes, and of the work to read them. */
export function rowSet<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  lookedAt: readonly Column<Row>[] = [],
): RowSet<Row> {
  const expressions: Statement[] = []
  const arrays: Statement[] = []
  const names: Statement[] = []
  let shape = ''
  const all = [...columns, ...lookedAt]
  for (const column of all) {
    const values = rows.map((row) => column.read(row))
    // The first column always differs: the rows must come from somewhere.
    const isSame = names.length > 0 && values.every((value) => isEqual(value, values[0]))
    shape += isSame ? '0' : '1'
    const written = column.writtenAs ?? column.type
    if (isSame) expressions.push(sql`${values[0] ?? null}::${written}::${column.type}`)
    else {
      arrays.push(sql`${values}::${written}[]`)
      names.push(column.name)
      expressions.push(sql`r.${column.name}::${column.type}`)
    }
  }
  const from = sql`unnest(${listed(arrays)}) as r (${listed(names)})`
  return {
    values: listed(expressions.slice(0, columns.length)),
    from,
    shape: Number.parseInt(shape, 2).toString(36),
    valueIn: (column) => expressions[all.indexOf(column)] ?? sql`null`,
  }
}

/**
 * For an update that gives each row its own values: where its id stands among `ids`, as `at`, by which the other lists are
 * read. A join with the lists would leave it to the planner, who takes them for ten rows and compares all with all: the
 * statement that records 200 outcomes took 48 ms with it, and takes 25 without. `offset 0` keeps it from being looked for
 * once a column.
 */
export function placeIn(ids: readonly string[], id: Statement): Statement {
  return sql`(select array_position(${ids}::uuid[], ${id}) as at offset 0) as place`
}

export interface OwnValues {
  /** The value of the row whose place is `at`, as placeIn calls it; said once, where all rows have the same. */
  of(values: readonly unknown[], type: Statement, at?: Statement): Statement
  /** Which of them differ: statements of the same shape have the same text. */
  shape(): string
}

/** For the values of an update that go by `placeIn`: most columns of a batch are the same in all rows. */
export function ownValues(): OwnValues {
  let shape = '1'
  return {
    of: (values, type, at = sql`at`) => {
      const isSame = values.every((value) => isEqual(value, values[0]))
      shape += isSame ? '0' : '1'
      return isSame ? sql`${values[0] ?? null}::${type}` : sql`(${values}::${type}[])[${at}]`
    },
    shape: () => Number.parseInt(shape, 2).toString(36),
  }
}

/** Joins with commas. */
export function listed(parts: readonly Statement[]): Statement {
  return parts.reduce((all, part) => sql`${all}, ${part}`)
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one instanceof Date && other instanceof Date) return one.getTime() === other.getTime()
  return one === other
}
