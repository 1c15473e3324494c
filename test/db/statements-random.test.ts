// What is sent and read in a shorter way, against the driver's own: random values, the same answers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import type { ListType } from '../../src/db/array-bytes.ts'
import { arrayBytes } from '../../src/db/array-bytes.ts'
import { arrayText } from '../../src/db/array-text.ts'
import { knownColumnsAnswer } from '../../src/db/known-columns.ts'
import { timestampText } from '../../src/db/timestamp-text.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import type { Random } from '../support/random.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../support/random.ts'

const seed = fuzzSeed()
const repeat = `POSTHORN_FUZZ_SEED=${seed}`

let database: TestDatabase
let pool: pg.Pool
before(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 2, pipeline: true } as pg.PoolConfig)
})
after(async () => {
  await pool.end()
  await database.drop()
})

/** Any time that PostgreSQL and JavaScript both have, the ends of what is written here among them. */
function randomTime(random: Random): Date {
  const edges = [
    '0001-01-01T00:00:00.000Z',
    '0099-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59.999Z',
    '1970-01-01T00:00:00Z',
  ]
  if (random.chance(0.1)) return new Date(Date.parse(random.oneOf(edges)) + random.integer(3) - 1)
  const [from, to] = random.chance(0.5) ? ['2020-01-01', '2040-01-01'] : ['-000100-01-01', '+012000-01-01']
  const [fromMs, toMs] = [Date.parse(from as string), Date.parse(to as string)]
  return new Date(fromMs + Math.floor((random.integer(2 ** 31) / 2 ** 31) * (toMs - fromMs)))
}

test('a time means what it means as the driver writes it', async () => {
  const random = createRandom(seed)
  for (let round = 0; round < fuzzRounds(200); round += 1) {
    const time = randomTime(random)
    // A text, or the Date itself where it is left to the driver.
    const { rows } = await pool.query('select $1::timestamptz = $2::timestamptz as same', [timestampText(time), time])
    assert.deepEqual(rows, [{ same: true }], `${time.toISOString()} ${repeat}`)
  }
  const none = new Date(Number.NaN)
  assert.equal(timestampText(none), none, 'what is no time is left to the driver, and refused by the server')
})

const letters = ['a', 'é', '😀', '"', '\\', ',', '{', '}', ' ', '\n', 'NULL', "'", '$1']

const randomText = (random: Random): string =>
  Array.from({ length: random.integer(6) }, () => random.oneOf(letters)).join('')

const randomHex = (random: Random, digits: number): string =>
  Array.from({ length: digits }, () => random.integer(16).toString(16)).join('')

const elements: Readonly<Record<ListType, (random: Random) => unknown>> = {
  uuid: (random) => [8, 4, 4, 4, 12].map((digits) => randomHex(random, digits)).join('-'),
  text: randomText,
  json: (random) => JSON.stringify({ [randomText(random)]: [randomText(random), random.integer(9)] }),
  jsonb: (random) => JSON.stringify({ [randomText(random)]: [randomText(random), null] }),
  bytea: (random) => Buffer.from(randomHex(random, 2 * random.integer(5)), 'hex'),
}

test('a list that travels as bytes is the list that its text says', async () => {
  const random = createRandom(seed)
  const types = Object.keys(elements) as ListType[]
  for (let round = 0; round < fuzzRounds(200); round += 1) {
    const type = random.oneOf(types)
    const list = Array.from({ length: 1 + random.integer(5) }, () =>
      random.chance(0.15) ? random.oneOf([null, undefined]) : elements[type](random),
    )
    const bytes = arrayBytes(list, type)
    assert.ok(bytes !== undefined, `${type} ${repeat}`)
    const same = `select $1::${type}[]::text[] is not distinct from $2::${type}[]::text[] as same`
    const { rows } = await pool.query(same, [bytes, arrayText(list)])
    assert.deepEqual(rows, [{ same: true }], `${type} ${JSON.stringify(list)} ${repeat}`)
  }
})

const expressions = [
  '$1::int',
  '$1::int::text',
  'null::text',
  'array[$1::int, null]',
  `jsonb_build_object('n', $1::int)`,
  `timestamptz '2026-01-02 03:04:05.678+00' + make_interval(secs => $1::int)`,
  '$1::int > 3',
  '$1::int::bigint',
]

/** Some columns of some rows, perhaps none; perhaps an error with its first row. */
function randomSelect(random: Random): string {
  const columns = Array.from({ length: 1 + random.integer(5) }, (_, at) => `${random.oneOf(expressions)} as c${at}`)
  const fails = random.chance(0.1) ? [`1 / ($1::int - $1::int) as failed`] : []
  return `select ${[...columns, ...fails].join(', ')} from generate_series(1, $1::int) as n`
}

test('a statement whose columns are known answers what the driver answers', async () => {
  const random = createRandom(seed)
  const texts = Array.from({ length: 12 }, () => randomSelect(random))
  const answerOf = async (asked: Promise<pg.QueryResult>) => {
    const [one] = await Promise.allSettled([asked])
    return one.status === 'rejected'
      ? one.reason.code
      : [one.value.rows, one.value.rowCount, one.value.command, one.value.fields.map(({ name }) => name)]
  }
  for (let round = 0; round < fuzzRounds(30); round += 1) {
    // Several at once on each connection, so that one is answered while another is being prepared.
    const asked = Array.from({ length: 8 }, () => [random.integer(texts.length), random.integer(4)] as const)
    const answers = await Promise.all(
      asked.map(([at, n]) =>
        answerOf(knownColumnsAnswer(pool, { name: `known ${at}`, text: texts[at] as string, values: [n] }, 5_000)),
      ),
    )
    const plain = await Promise.all(asked.map(([at, n]) => answerOf(pool.query(texts[at] as string, [n]))))
    assert.deepEqual(answers, plain, repeat)
  }
})
