// Partitions are made beside their tables: a long transaction neither holds it up for long nor, because of it, anything else.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/db/connect.ts'
import type { Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { preparePartitions } from '../../src/manage/operate/partitions.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import type { FakeWorld } from '../support/fake-world.ts'
import { createFakeWorld } from '../support/fake-world.ts'

const environmentId = randomUUID()
const monthMs = 31 * 24 * 60 * 60_000

let database: TestDatabase
let db: Database
let world: FakeWorld
before(async () => {
  database = await createTestDatabase()
  db = database.db
  world = createFakeWorld()
})
after(() => database.drop())

/** A job of now. */
function insertJob(on: Pick<Database, 'run'>): Promise<number> {
  const id = world.newId(world.now())
  return on.run(sql`
    insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, claims,
                      details, created_at, updated_at)
    values (${environmentId}, ${id}, ${id}, ${id}, ${id}, ${id}, 0, 'pending', 0, 0, '[]', ${world.now()}, ${world.now()})`)
}

/** Holds a transaction open while `meanwhile` runs. */
async function during(begin: (tx: Tx) => Promise<unknown>, meanwhile: () => Promise<void>): Promise<void> {
  const other = database.another({ poolSize: 1, statementTimeoutMs: 60_000 })
  await other.transaction(async (tx) => {
    await begin(tx)
    await meanwhile()
  })
  await other.close()
}

async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

test('the first call makes this month of all four tables, the second nothing', async () => {
  assert.deepEqual(await preparePartitions(db, world), { made: 4, busy: 0 })
  assert.deepEqual(await preparePartitions(db, world), { made: 0, busy: 0 })
  await insertJob(db)
  const place = await db.row<{ name: string }>(sql`select tableoid::regclass::text as name from jobs`)
  assert.equal(place?.name, `jobs_${world.now().toISOString().slice(0, 7).replace('-', '_')}`)
})

test('the next month is made two weeks before it begins, and not sooner', async () => {
  world.advance(Date.parse('2026-01-17T23:59:00Z') - world.now().getTime())
  assert.deepEqual(await preparePartitions(db, world), { made: 0, busy: 0 })
  world.advance(60_000)
  assert.deepEqual(await preparePartitions(db, world), { made: 4, busy: 0 })
})

test('one that was attached is like one that was made in its place: settings, columns, indexes', async () => {
  await db.run(sql`select make_partitions('2030-01-01Z', 1)`)
  const rows = await db.rows<{ parent: string; reloptions: string[] | null; definition: string; count: number }>(sql`
    select under.inhparent::regclass::text as parent, place.reloptions,
      (select string_agg(a.attname || ' ' || a.atttypid::regtype || ' ' || a.attnotnull || coalesce(pg_get_expr(d.adbin, d.adrelid), ''),
                         ', ' order by a.attnum)
         from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
         where a.attrelid = place.oid and a.attnum > 0) || '; ' ||
      (select string_agg(replace(pg_get_indexdef(i.indexrelid), place.relname, 'x') || exists (
           select from pg_inherits up where up.inhrelid = i.indexrelid), '; ' order by pg_get_indexdef(i.indexrelid))
         from pg_index i where i.indrelid = place.oid) as definition,
      (select count(*) from pg_constraint c where c.conrelid = place.oid and c.contype = 'c') as count
    from pg_inherits under join pg_class place on place.oid = under.inhrelid
    where place.relkind = 'r' and place.relname !~ '_default$' order by 1, place.relname`)
  for (const parent of ['events', 'jobs', 'messages', 'notifications']) {
    const places = rows.filter((row) => row.parent === parent)
    assert.equal(places.length, 3, parent)
    for (const place of places) assert.deepEqual(place, places[0])
    assert.match(places[0]?.definition ?? '', /true/, 'its indexes are parts of the parent’s')
  }
})

test('a long transaction that writes jobs does not keep partitions from being made', async () => {
  world.advance(monthMs)
  await during(insertJob, async () => {
    assert.deepEqual(await preparePartitions(db, world, { tries: 1 }), { made: 4, busy: 0 })
  })
})

test('a long transaction that reads all of jobs lets it be given up soon, and nothing waits behind it meanwhile', async () => {
  world.advance(monthMs)
  const writer = database.another({ poolSize: 1 })
  await during(
    (tx) => tx.rows(sql`select id from jobs where due_at is null for update`),
    async () => {
      let isOver = false
      let slowestMs = 0
      let inserts = 0
      const preparing = preparePartitions(db, world).finally(() => {
        isOver = true
      })
      while (!isOver) {
        slowestMs = Math.max(slowestMs, await tookMs(() => insertJob(writer)))
        inserts += 1
      }
      const { made, busy } = await preparing
      assert.deepEqual([made, busy], [3, 1], 'only jobs are in use')
      assert.ok(inserts > 5, String(inserts))
      // Behind a lock on the table itself each would wait for as long as that: 5 s.
      assert.ok(slowestMs < 2_000, `${slowestMs} ms`)
    },
  )
  assert.deepEqual(await preparePartitions(db, world), { made: 1, busy: 0 })
})

test('a month that has rows in the default partition stays there, and its table is not locked for it', async () => {
  world.advance(6 * monthMs)
  await insertJob(db)
  const { made, busy } = await preparePartitions(db, world)
  assert.deepEqual([made, busy], [7, 0])
  assert.equal((await preparePartitions(db, world)).made, 0)
})

test('two nodes at once make each partition once, and neither fails', async () => {
  world.advance(3 * monthMs)
  const nodes = [db, database.another(), database.another()]
  const results = await Promise.all(nodes.map((node) => preparePartitions(node, world)))
  const rest = await preparePartitions(db, world)
  assert.equal(
    results.reduce((sum, one) => sum + one.made, rest.made),
    8,
  )
  assert.deepEqual(
    world.logged.filter(({ level }) => level === 'warn'),
    [],
  )
})
