// The order of members that the database keeps, against the database: random documents come back as they were foreseen.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { inStoredOrder } from '../../src/domain/stored-order.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import type { Random } from '../support/random.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../support/random.ts'

const seed = fuzzSeed()

let database: TestDatabase
before(async () => {
  database = await createTestDatabase({ empty: true })
})
after(() => database.drop())

/** Of one to four bytes each; digits too, as names of digits have an order of their own in JavaScript. */
const letters = ['a', 'b', 'Z', '_', '0', '7', 'é', 'ß', '€', '\uffee', '🎺', '🦆']
const nameOf = (random: Random): string =>
  random.integer(40) === 0
    ? '__proto__'
    : Array.from({ length: random.integer(5) }, () => random.oneOf(letters)).join('')

function documentOf(random: Random, depth: number): unknown {
  const kind = depth === 0 ? 2 + random.integer(2) : random.integer(4)
  if (kind === 3) return random.oneOf([0, -0, 7, 1.5, 1e21, true, null])
  if (kind === 2) return nameOf(random)
  // Few members, or more than are sorted in the quick way.
  const count = random.integer(5) === 0 ? 30 : random.integer(6)
  if (kind === 1) return Array.from({ length: count }, () => documentOf(random, depth - 1))
  // As a parser makes it: a member called __proto__ is one.
  return JSON.parse(
    `{${Array.from({ length: count }, () => `${JSON.stringify(nameOf(random))}:${JSON.stringify(documentOf(random, depth - 1))}`).join()}}`,
  )
}

test('random documents have the order in which they are stored', async (t) => {
  t.diagnostic(`POSTHORN_FUZZ_SEED=${seed}`)
  const random = createRandom(seed)
  const documents = Array.from({ length: fuzzRounds(300) }, () => documentOf(random, 3))
  const rows = await database.db.rows<{ stored: string }>(sql`
    select one::jsonb::text as stored from unnest(${documents.map((one) => JSON.stringify(one))}::text[])
    with ordinality as d (one, place) order by place`)
  for (const [place, document] of documents.entries()) {
    const read = JSON.stringify(JSON.parse(rows[place]?.stored ?? ''))
    assert.equal(JSON.stringify(inStoredOrder(document)), read, `${JSON.stringify(document)}, seed ${seed}`)
  }
  const others = documents.filter((one) => JSON.stringify(one) !== JSON.stringify(inStoredOrder(one)))
  assert.ok(others.length > documents.length / 10, 'many were given in another order')
})
