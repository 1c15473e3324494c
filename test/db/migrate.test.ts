// Migrations: once, in order, each of them all or nothing, and never against a database that does not fit.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Migration } from '../../src/db/migrate.ts'
import { MigrationError, migrate, readMigrations } from '../../src/db/migrate.ts'
import { sql } from '../../src/db/sql.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

async function emptyDatabase(t: TestContext): Promise<TestDatabase> {
  const database = await createTestDatabase({ empty: true })
  t.after(() => database.drop())
  return database
}

function migration(number: number, text: string): Migration {
  const checksum = createHash('sha256').update(text).digest('hex')
  return { number, name: `000${number}-test.sql`, text, checksum }
}

const first = migration(1, 'create table steps (step integer); insert into steps values (1)')
const second = migration(2, 'alter table steps add column note text; insert into steps values (2)')

test('migrations are applied once and in order', async (t) => {
  const { db } = await emptyDatabase(t)
  assert.deepEqual(await migrate(db, [first]), ['0001-test.sql'])
  assert.deepEqual(await migrate(db, [first, second]), ['0002-test.sql'])
  assert.deepEqual(await migrate(db, [first, second]), [])
  assert.deepEqual(await db.rows(sql`select step from steps`), [{ step: 1 }, { step: 2 }])
  const recorded = await db.rows(sql`select number, checksum from schema_migrations order by number`)
  assert.deepEqual(recorded, [
    { number: 1, checksum: first.checksum },
    { number: 2, checksum: second.checksum },
  ])
})

test('a migration that was changed after it was applied is refused', async (t) => {
  const { db } = await emptyDatabase(t)
  await migrate(db, [first])
  await assert.rejects(migrate(db, [migration(1, 'select 1'), second]), (error: Error) => {
    assert.ok(error instanceof MigrationError)
    assert.match(error.message, /0001-test\.sql was changed after it was applied/)
    return true
  })
  assert.equal((await db.rows(sql`select from schema_migrations`)).length, 1, 'nor is the next one applied')
})

test('a database that a newer Posthorn migrated is refused, with what to do', async (t) => {
  const { db } = await emptyDatabase(t)
  await migrate(db, [first, second])
  await assert.rejects(migrate(db, [first]), (error: Error) => {
    assert.ok(error instanceof MigrationError)
    assert.match(error.message, /newer version of Posthorn \(0002-test\.sql is unknown to this one\)/)
    return true
  })
})

test('a migration that would come after a later one is refused', async (t) => {
  const { db } = await emptyDatabase(t)
  await migrate(db, [first, migration(3, 'select 1')])
  await assert.rejects(migrate(db, [first, second, migration(3, 'select 1')]), /0002-test\.sql was never applied/)
})

test('a migration that fails in an empty database leaves nothing behind, nor do those before it', async (t) => {
  const { db } = await emptyDatabase(t)
  const failing = migration(2, 'create table half (id integer); select no_such_function()')
  await assert.rejects(migrate(db, [first, failing]), /no_such_function/)
  assert.deepEqual(await db.rows(sql`select tablename from pg_tables where schemaname = 'public'`), [])
  assert.deepEqual(await migrate(db, [first, second]), ['0001-test.sql', '0002-test.sql'])
})

test('a migration that fails later leaves nothing of itself, and those before it are applied', async (t) => {
  const { db } = await emptyDatabase(t)
  await migrate(db, [first])
  const failing = migration(3, 'create table half (id integer); select no_such_function()')
  await assert.rejects(migrate(db, [first, second, failing]), /no_such_function/)
  const tables = await db.rows(sql`select tablename from pg_tables where schemaname = 'public' order by 1`)
  assert.deepEqual(tables, [{ tablename: 'schema_migrations' }, { tablename: 'steps' }])
  assert.deepEqual(await db.rows(sql`select step from steps`), [{ step: 1 }, { step: 2 }])
  assert.deepEqual(await migrate(db, [first, second, migration(3, 'select 1')]), ['0003-test.sql'])
})

test('a table that one migration had for itself is free again while the next one runs', async (t) => {
  const database = await emptyDatabase(t)
  const node = database.another({ poolSize: 2 })
  await migrate(node, [first])
  const long = migration(
    3,
    `do $$ begin
       assert not exists (select from pg_locks where relation = 'steps'::regclass and granted), 'steps is locked';
     end $$`,
  )
  assert.deepEqual(await migrate(node, [first, second, long]), ['0002-test.sql', '0003-test.sql'])
})

test('of five nodes that upgrade a database at once, one does each migration', async (t) => {
  const database = await emptyDatabase(t)
  await migrate(database.db, [first])
  const nodes = Array.from({ length: 5 }, () => database.another({ poolSize: 2 }))
  const later = [2, 3, 4, 5, 6].map((step) => migration(step, `insert into steps values (${step})`))
  const applied = await Promise.all(nodes.map((node) => migrate(node, [first, ...later])))
  assert.deepEqual(
    applied.flat().sort(),
    later.map((one) => one.name),
  )
  const steps = await database.db.rows<{ step: number }>(sql`select step from steps`)
  assert.deepEqual(
    steps.map(({ step }) => step),
    [1, 2, 3, 4, 5, 6],
  )
})

test('of five nodes that migrate an empty database at once, one does each migration', async (t) => {
  const database = await emptyDatabase(t)
  const nodes = Array.from({ length: 5 }, () => database.another({ poolSize: 2 }))
  const known = await readMigrations()
  const applied = await Promise.all(nodes.map((node) => migrate(node, known)))
  assert.deepEqual(
    applied.flat().sort(),
    known.map((one) => one.name),
  )
  assert.equal(applied.filter((names) => names.length > 0).length, 1)
  assert.equal((await database.db.rows(sql`select from schema_migrations`)).length, known.length)
})

test('a migration may take longer than the statement and lock timeouts of the service', async (t) => {
  const database = await emptyDatabase(t)
  // A transaction that is idle for twice as long is ended: on a busy machine a shorter time would be too short for our own turns.
  const impatient = database.another({ statementTimeoutMs: 1_500, lockTimeoutMs: 200 })
  assert.deepEqual(await migrate(impatient, [migration(1, 'select pg_sleep(2)')]), ['0001-test.sql'])
})

/** Another transaction that reads the table and stays open, until it is let go. */
async function holdSteps({ db }: TestDatabase): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    let letGo = () => {}
    const released = new Promise<void>((done) => {
      letGo = done
    })
    const holding = db.transaction(async (tx) => {
      await tx.run(sql`select from steps`)
      resolve(async () => {
        letGo()
        await holding
      })
      await released
    })
    holding.catch(reject)
  })
}

test('a migration that needs a table in use tries again after a pause, in which others use the table', async (t) => {
  const database = await emptyDatabase(t)
  const node = database.another({ poolSize: 2 })
  await migrate(node, [first])
  const release = await holdSteps(database)
  const pauses: number[] = []
  const sleep = async (ms: number): Promise<void> => {
    pauses.push(ms)
    assert.equal((await database.db.rows(sql`select step from steps`)).length, 1)
    if (pauses.length === 2) await release()
  }
  const applied = await migrate(node, [first, second], { lockWaitMs: 100, pauseMs: 7, sleep })
  assert.deepEqual([applied, pauses], [['0002-test.sql'], [7, 7]])
})

test('a migration whose table stays in use gives up in the end, and says what to do', async (t) => {
  const database = await emptyDatabase(t)
  const node = database.another({ poolSize: 2 })
  await migrate(node, [first])
  const release = await holdSteps(database)
  let pauses = 0
  const sleep = async (): Promise<void> => {
    pauses += 1
  }
  const before = migration(2, 'create table others (id integer)')
  const locked = migration(3, second.text)
  await assert.rejects(
    migrate(node, [first, before, locked], { lockWaitMs: 50, triesMax: 3, sleep }),
    (error: Error) => {
      assert.ok(error instanceof MigrationError)
      assert.match(
        error.message,
        /0003-test\.sql did not get the lock .* in 3 tries of 0\.05 s.*changed nothing.*pg_stat_activity/,
      )
      return true
    },
  )
  assert.equal(pauses, 2)
  await release()
  assert.equal((await node.rows(sql`select from schema_migrations`)).length, 2, 'the one before it is applied')
  assert.deepEqual(await migrate(node, [first, before, locked]), ['0003-test.sql'])
})

test('an error that is no lock ends the migration at once', async (t) => {
  const { db } = await emptyDatabase(t)
  const sleep = () => assert.fail('it paused')
  await assert.rejects(migrate(db, [migration(1, 'select no_such_function()')], { sleep }), /no_such_function/)
})

test('migration files need a number and a name, and no number twice', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-migrations-'))
  t.after(() => rm(directory, { recursive: true }))
  const url = pathToFileURL(`${directory}/`)
  await writeFile(join(directory, '0002-b.sql'), 'select 2')
  await writeFile(join(directory, '0001-a.sql'), 'select 1')
  await writeFile(join(directory, 'notes.txt'), 'not a migration')
  assert.deepEqual(
    (await readMigrations(url)).map(({ number, name, text }) => ({ number, name, text })),
    [
      { number: 1, name: '0001-a.sql', text: 'select 1' },
      { number: 2, name: '0002-b.sql', text: 'select 2' },
    ],
  )
  await writeFile(join(directory, '0002-c.sql'), 'select 3')
  await assert.rejects(readMigrations(url), /the same number: 0002-b\.sql and 0002-c\.sql/)
  await rm(join(directory, '0002-c.sql'))
  await writeFile(join(directory, 'next.sql'), 'select 3')
  await assert.rejects(readMigrations(url), /next\.sql is not named/)
})
