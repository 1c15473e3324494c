// Several writes as one statement: one text, one name, and the values in their order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneStatement } from './one-statement.ts'
import { listed, prepared, sql, statementNameMax } from './sql.ts'

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

test('of two statements with one name each keeps its own text, however often they were sent', () => {
  const one = (value: number) => prepared('shared-name', sql`select ${value}`)
  const other = (value: number) => prepared('shared-name', sql`select ${value}, 2`)
  for (let value = 0; value < 200; value += 1) {
    assert.deepEqual([one(value).text, other(value).text], ['select $1', 'select $1, 2'])
    assert.deepEqual([one(value).values, other(value).values], [[value], [value]])
  }
  assert.equal(one(0).name, 'shared-name')
  assert.notEqual(other(0).name, 'shared-name')
  assert.equal(other(1).name, other(2).name)
})

test('the text follows what is spliced in, where it stands, and which lists stand twice', () => {
  const list = ['a']
  const shapes = [
    () => sql`select ${sql`now()`}, ${1}`,
    () => sql`select ${1}, ${sql`now()`}`,
    () => sql`select ${list}, ${list}`,
    () => sql`select ${list}, ${[...list]}`,
    () => sql`select ${sql`${1}`}, ${2}`,
    () => sql`select ${1}, ${sql`${2}`}`,
  ]
  for (let round = 0; round < 3; round += 1) {
    for (const shape of shapes) {
      const plain = shape()
      const { text, values } = prepared('many-shapes', shape())
      assert.deepEqual([text, values], [plain.text, plain.values])
    }
  }
})

test('a name with very many texts is given up: they are sent without one', () => {
  for (let count = 1; count < 40; count += 1) {
    const all = listed(Array.from({ length: count }, (_, value) => sql`${value}`))
    const { text, name } = prepared('growing', sql`select ${all}`)
    assert.equal(text.split(',').length, count)
    assert.equal(name === undefined, count > 16)
  }
})
