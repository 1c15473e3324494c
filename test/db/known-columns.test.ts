// Prepared statements are described once on each connection, and answer the same afterwards.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { knownColumnsAnswer } from '../../src/db/known-columns.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

let database: TestDatabase
let pool: pg.Pool
let described = 0
before(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 1, pipeline: true } as pg.PoolConfig)
  pool.on('connect', (client) => {
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter }
    connection.on('rowDescription', () => {
      described += 1
    })
  })
})
after(async () => {
  await pool.end()
  await database.drop()
})

const answer = (name: string, text: string, values: unknown[]) =>
  knownColumnsAnswer(pool, { name, text, values }, 5_000)

test('the second answer has the rows of the first, without another description', async () => {
  const text = `select n, null::text as empty, 'a,"b' as words, '{"a": [1]}'::jsonb as data, $1::timestamptz as at, '{x,y}'::text[] as list
    from generate_series(1, $2::int) as n`
  const ask = (count: number) => answer('several', text, [new Date('2026-01-02T03:04:05.678Z'), count])
  const first = await ask(2)
  assert.equal(described, 1)
  const [second, none, third] = await Promise.all([ask(2), ask(0), ask(3)])
  assert.equal(described, 1)
  assert.deepEqual(second.rows, first.rows)
  assert.deepEqual([none.rows, none.rowCount, third.rows.length, third.rows[2].n], [[], 0, 3, 3])
  assert.deepEqual(Object.keys(third.rows[2]), ['n', 'empty', 'words', 'data', 'at', 'list'])
})

test('a statement without columns, and one that fails, disturb nothing', async () => {
  await answer('made', 'create temporary table if not exists some_numbers (n int)', [])
  const insert = (n: unknown) => answer('insert', 'insert into some_numbers values ($1)', [n])
  assert.deepEqual([(await insert(1)).rowCount, (await insert(2)).rowCount], [1, 1])
  await assert.rejects(insert('no number'), { code: '22P02' })
  const divide = (by: number) => answer('divide', 'select 6 / $1::int as result', [by])
  assert.equal((await divide(3)).rows[0].result, 2)
  const settled = await Promise.allSettled([divide(0), divide(2)])
  assert.deepEqual(
    settled.map((one) => (one.status === 'fulfilled' ? one.value.rows[0].result : one.reason.code)),
    ['22012', 3],
  )
})

test('columns that changed are rejected by the server, not misread', async () => {
  await pool.query('create temporary table some_words (word text); insert into some_words values (1)')
  const ask = () => answer('words', 'select * from some_words', [])
  assert.deepEqual((await ask()).rows, [{ word: '1' }])
  await pool.query('alter table some_words add column n int default 7')
  await assert.rejects(ask(), { message: 'cached plan must not change result type' })
})
