// Several writes as one statement: one text, one name, and the values in their order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneStatement } from './one-statement.ts'
import { prepared, sql, statementNameMax } from './sql.ts'

const part = (name: string, value: number) => ({
  as: sql`first`,
  name,
  statement: sql`insert into t values (${value})`,
})

test('parts are joined with what the whole answers', () => {
  const { text, values, name } = oneStatement(
    [part('a', 1), { ...part('b', 2), as: sql`second` }],
    sql`select id from first`,
  )
  assert.equal(
    text,
    'with first as (insert into t values ($1)), second as (insert into t values ($2)) select id from first',
  )
  assert.deepEqual([values, name], [[1, 2], 'a b'])
})

test('long names are cut to what the server keeps, and still differ where only their ends do', () => {
  const long = 'settled-'.repeat(10)
  const [one, other] = [oneStatement([part(`${long}1`, 1)]).name, oneStatement([part(`${long}2`, 1)]).name]
  assert.notEqual(one, other)
  assert.deepEqual([one?.length, other?.length], [statementNameMax, statementNameMax])
  assert.equal(oneStatement([part(`${long}1`, 9)]).name, one)
})

test('a name that the server would cut is refused elsewhere', () => {
  assert.throws(() => prepared('x'.repeat(statementNameMax + 1), sql`select 1`), /too long/)
})

test('nothing at all is no statement', () => {
  assert.throws(() => oneStatement([]), /at least one part/)
})

test('a prepared statement whose text is known has the same text and values as one that is written out', () => {
  const ids = ['a', 'b']
  const statement = (value: number) =>
    sql`select ${value}, ${sql`${ids}::text[]`}, ${sql`array_length(${ids}, 1)`}, ${null}`
  const written = prepared('known-text', statement(0))
  for (let value = 1; value < 200; value += 1) {
    const { text, values } = prepared('known-text', statement(value))
    assert.deepEqual([text, values], [written.text, [value, ids, null]])
  }
})

test('two statements with different texts cannot share a name', () => {
  prepared('shared-name', sql`select ${1}`)
  assert.throws(() => prepared('shared-name', sql`select ${1}, 2`), /share the name/)
})

test('a known statement with more or fewer values is refused', () => {
  for (let count = 0; count < 100; count += 1) prepared('counted-values', sql`select ${1}`)
  assert.throws(() => prepared('counted-values', sql`select ${1}, ${2}`), /share the name/)
})
