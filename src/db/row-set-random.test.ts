// Rows of every kind and any list of columns, against a set that is put together again each time: the same text, the same values.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Random } from '../../test/support/random.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../../test/support/random.ts'
import type { Column } from './row-set.ts'
import { namesOf, rowSet } from './row-set.ts'
import type { Statement } from './sql.ts'
import { listed, sql, valuesBetween } from './sql.ts'

type Row = Readonly<Record<string, unknown>>

/** A text as it is, for names and types. */
const written = (text: string): Statement => valuesBetween([text], [])

/** As the rule says it, with nothing kept between two calls. */
function plainRowSet(rows: readonly Row[], columns: readonly Column<Row>[], lookedAt: readonly Column<Row>[]) {
  const all = [...columns, ...lookedAt]
  const textOf = (value: unknown): unknown => (value instanceof Date ? `at ${value.getTime()}` : (value ?? null))
  const isSame = ({ read }: Column<Row>) => new Set(rows.map((row) => textOf(read(row)))).size <= 1
  const isUsual = all.filter((column) => column.isUsuallySame === true).every(isSame)
  const isOnce = (column: Column<Row>): boolean => isUsual && column.isUsuallySame === true
  const one = ({ read, type, writtenAs = type }: Column<Row>): Statement =>
    sql`${rows[0] === undefined ? null : (read(rows[0]) ?? null)}::${writtenAs}::${type}`
  const valueIn = (column: Column<Row>): Statement =>
    isOnce(column) ? one(column) : sql`r.${column.name}::${column.type}`
  const lists = all.filter((column) => !isOnce(column))
  const list = ({ read, type, writtenAs = type }: Column<Row>): Statement => sql`${rows.map(read)}::${writtenAs}[]`
  return {
    shape: isUsual ? 'usual' : 'full',
    values: listed(columns.map(valueIn)),
    from: sql`unnest(${listed(lists.map(list))}) as r (${listed(lists.map(({ name }) => name))})`,
    valueIn,
  }
}

const valuesOf: readonly unknown[] = [null, undefined, 0, 1, '', 'a', true, false]

function randomValue(random: Random): unknown {
  return random.chance(0.3) ? new Date(random.integer(3)) : random.oneOf(valuesOf)
}

function randomColumns(random: Random): Column<Row>[] {
  return Array.from({ length: 1 + random.integer(6) }, (_, index) => {
    const name = `c${index}`
    return {
      name: written(name),
      type: written(random.oneOf(['int', 'text[]', 'timestamptz'])),
      ...(random.chance(0.3) ? { writtenAs: written('text') } : {}),
      ...(random.chance(0.5) ? { isUsuallySame: true as const } : {}),
      read: (row) => row[name],
    }
  })
}

function randomRows(random: Random, columns: readonly Column<Row>[]): Row[] {
  const usual = Object.fromEntries(columns.map(({ name }) => [name.text, randomValue(random)]))
  return Array.from({ length: random.integer(5) }, () => {
    const own = columns.filter(() => random.chance(0.15)).map(({ name }) => [name.text, randomValue(random)])
    return { ...usual, ...Object.fromEntries(own) }
  })
}

const sentAs = ({ text, values }: Statement) => ({ text, values: [...values] })

test('a set of rows says what one says that is put together each time', () => {
  const seed = fuzzSeed()
  const random = createRandom(seed)
  for (let round = 0; round < fuzzRounds(500); round += 1) {
    const all = randomColumns(random)
    const split = 1 + random.integer(all.length)
    const [columns, lookedAt] = [all.slice(0, split), all.slice(split)]
    // Several times with the same lists: what a shape says is made with the first.
    for (let use = 0; use < 3; use += 1) {
      const rows = randomRows(random, all)
      // The same columns, now and then with others that are only looked at.
      const looked = random.chance(0.2) ? [] : lookedAt
      const [set, plain] = [rowSet(rows, columns, looked), plainRowSet(rows, columns, looked)]
      const whole = (of: typeof plain | typeof set) =>
        sql`insert (${namesOf(columns)}) select ${of.values} from ${of.from}`
      assert.equal(set.shape, plain.shape, `POSTHORN_FUZZ_SEED=${seed}`)
      assert.deepEqual(sentAs(whole(set)), sentAs(whole(plain)), `POSTHORN_FUZZ_SEED=${seed}`)
      for (const column of [...columns, ...looked]) {
        assert.deepEqual(sentAs(set.valueIn(column)), sentAs(plain.valueIn(column)))
      }
    }
  }
})
