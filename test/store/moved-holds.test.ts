// Migration 0037: what a move had marked in the time of the backup gets a column of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { sql } from '../../src/db/sql.ts'
import { createTestDatabase } from '../support/database.ts'

test('holds of restores stay as they are, and those of moves get the time of the move', async (t) => {
  const database = await createTestDatabase({ empty: true })
  t.after(() => database.drop())
  const { db } = database
  const all = await readMigrations()
  await migrate(
    db,
    all.filter(({ number }) => number < 37),
  )
  const organization = '00000000-0000-7000-8000-0000000000aa'
  await db.run(sql`insert into organizations (id, name, created_at) values (${organization}, 'Test', now())`)
  const given = { restored: '2026-01-04', moved: '2026-01-05', both: '2026-01-06' }
  for (const [name, backupAt] of Object.entries(given)) {
    await db.run(sql`
      with made as (
        insert into environments (id, organization_id, name, identifier, signing_secret, created_at)
        values (gen_random_uuid(), ${organization}, ${name}, ${name}, '', now()) returning id)
      insert into sending_holds (environment_id, held_at, backup_at)
      select id, '2026-01-05T00:00:00Z', ${new Date(backupAt)} from made`)
  }
  await migrate(db, all)
  const found = await db.rows(sql`
    select e.name, extract(day from h.held_at at time zone 'utc')::int as held,
      extract(day from h.backup_at at time zone 'utc')::int as backup,
      extract(day from h.moved_at at time zone 'utc')::int as moved
    from sending_holds h join environments e on e.id = h.environment_id order by 1`)
  assert.deepEqual(found, [
    { name: 'both', held: 5, backup: 4, moved: 5 },
    { name: 'moved', held: 5, backup: null, moved: 5 },
    { name: 'restored', held: 5, backup: 4, moved: null },
  ])
})
