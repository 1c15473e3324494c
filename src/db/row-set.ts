// Rows for one insert: columns that usually have the same value are passed once, the others as arrays to unnest.
import type { Statement } from './sql.ts'
import { listed, sql, valueBetween } from './sql.ts'

export interface Column<Row> {
  readonly name: Statement
  /** Of one value. */
  readonly type: Statement
  /** The type of an array element, if that is not the type itself: arrays of arrays would be flattened. */
  readonly writtenAs?: Statement
  /** Of most batches: it is then said once, if all columns of this kind are the same. */
  readonly isUsuallySame?: true
  read(row: Row): unknown
}

export interface RowSet<Row> {
  /** The expressions of the columns, in their order. */
  readonly values: Statement
  /** A `from` clause; absent when all columns are the same and one row is meant. */
  readonly from: Statement
  /** Statements of the same shape have the same text, and may share a name. */
  readonly shape: 'usual' | 'full'
  /** The value of one of the columns, or of one of those that are only looked at. */
  valueIn(column: Column<Row>): Statement
}

/**
 * Of a batch of messages two thirds of the columns are the same: a third of the bytes, and of the work to read them. There are
 * two shapes and no more, as every connection keeps the plan of each.
 */
export function rowSet<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  lookedAt: readonly Column<Row>[] = [],
): RowSet<Row> {
  const all = lookedAt.length === 0 ? columns : [...columns, ...lookedAt]
  const lists = all.map((column) => rows.map((row) => column.read(row)))
  const isUsual = all.every((column, place) => column.isUsuallySame !== true || areSame(lists[place] ?? []))
  const expressions: Statement[] = []
  const arrays: Statement[] = []
  const names: Statement[] = []
  for (const [place, column] of all.entries()) {
    const { asOne, asList, read } = textsOf(column)
    if (isUsual && column.isUsuallySame === true) {
      expressions.push(valueBetween('', lists[place]?.[0] ?? null, asOne))
    } else {
      arrays.push(valueBetween('', lists[place], asList))
      names.push(column.name)
      expressions.push(read)
    }
  }
  return {
    values: listed(expressions.slice(0, columns.length)),
    from: sql`unnest(${listed(arrays)}) as r (${listed(names)})`,
    shape: isUsual ? 'usual' : 'full',
    valueIn: (column) => expressions[all.indexOf(column)] ?? sql`null`,
  }
}

interface ColumnTexts {
  /** What follows a value that is passed once. */
  readonly asOne: string
  /** What follows the list of values. */
  readonly asList: string
  /** One of the list. */
  readonly read: Statement
}

const columnTexts = new WeakMap<object, ColumnTexts>()

function textsOf<Row>(column: Column<Row>): ColumnTexts {
  const known = columnTexts.get(column)
  if (known !== undefined) return known
  const type = column.type.text
  const written = column.writtenAs?.text ?? type
  const texts = {
    asOne: `::${written}::${type}`,
    asList: `::${written}[]`,
    read: sql`r.${column.name}::${column.type}`,
  }
  columnTexts.set(column, texts)
  return texts
}

/**
 * For an update that gives each row its own values: the position of its id among `ids`, as `at`, by which the other
 * lists are read. A join with the lists would be left to the planner, which estimates ten rows and compares all with
 * all: the statement that records 200 outcomes took 48 ms with it, and takes 25 without. `offset 0` keeps it from being
 * evaluated once per column.
 */
export function placeIn(ids: readonly string[], id: Statement): Statement {
  return sql`(select array_position(${ids}::uuid[], ${id}) as at offset 0) as place`
}

/** Whether all of them are: then they can be said once. */
export function areSame(values: readonly unknown[]): boolean {
  return values.every((value) => isEqual(value, values[0]))
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one instanceof Date && other instanceof Date) return one.getTime() === other.getTime()
  return one === other
}
