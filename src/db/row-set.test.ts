// Rows for one insert: columns that usually agree are sent once, and the shape distinguishes the statements.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Column } from './row-set.ts'
import { rowSet } from './row-set.ts'
import { sql } from './sql.ts'

interface Row {
  readonly id: number
  readonly name: string
  readonly at: Date
}

const id: Column<Row> = { name: sql`id`, type: sql`int`, read: (row) => row.id }
const name: Column<Row> = { name: sql`name`, type: sql`text`, isUsuallySame: true, read: (row) => row.name }
const at: Column<Row> = { name: sql`at`, type: sql`timestamptz`, isUsuallySame: true, read: (row) => row.at }
const timestamp = new Date('2026-01-02T03:04:05.678Z')
const row = (number: number, called: string): Row => ({ id: number, name: called, at: new Date(timestamp) })

const statementOf = (rows: readonly Row[], lookedAt: readonly Column<Row>[] = []) => {
  const { values, from, shape, valueIn } = rowSet(rows, [id, name], lookedAt)
  return { statement: sql`select ${values} from ${from}`, shape, valueIn }
}

test('a column travels as an array, one that is usually the same as a single value', () => {
  const { statement } = statementOf([row(1, 'same'), row(2, 'same')])
  assert.deepEqual(statement.values, ['same', [1, 2]])
  assert.match(statement.text, /^select r\.id::int, \$1::text::text from unnest\(\$2::int\[\]\) as r \(id\)$/)
})

test('a column that usually differs travels as an array even where it does not', () => {
  const { statement } = statementOf([row(1, 'same'), row(1, 'same')])
  assert.deepEqual(statement.values, ['same', [1, 1]])
})

test('timestamps are the same when they are the same time', () => {
  const columns = [id, at]
  const same = rowSet([row(1, 'a'), row(2, 'b')], columns)
  const other = rowSet([row(1, 'a'), { ...row(2, 'b'), at: new Date(0) }], columns)
  assert.notEqual(same.shape, other.shape)
  assert.deepEqual(sql`${same.values} ${same.from}`.values.length, 2)
})

test('the same shape has the same text, another shape another', () => {
  const one = statementOf([row(1, 'a'), row(2, 'a')])
  const two = statementOf([row(3, 'b'), row(4, 'b')])
  const three = statementOf([row(3, 'b'), row(4, 'c')])
  assert.deepEqual([one.shape, one.statement.text], [two.shape, two.statement.text])
  assert.notEqual(one.shape, three.shape)
  assert.notEqual(one.statement.text, three.statement.text)
})

test('a column that is only looked at is no value of the rows, and can be asked for', () => {
  const { statement, valueIn } = statementOf([row(1, 'a'), row(2, 'a')], [at])
  assert.doesNotMatch(statement.text.split(' from ')[0] ?? '', /at/)
  assert.deepEqual(valueIn(at).values, [timestamp])
  assert.equal(valueIn(id).text, 'r.id::int')
})

test('where one of those that are usually the same differs, all travel as arrays: there is no third shape', () => {
  const { statement, shape, valueIn } = statementOf([row(1, 'a'), row(2, 'b')], [at])
  assert.equal(shape, 'full')
  assert.equal(statement.values.length, 3)
  assert.equal(valueIn(at).text, 'r.at::timestamptz')
})
