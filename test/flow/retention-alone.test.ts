// Retention is one node's work at a time, counts nothing, and has time of its own.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/db/connect.ts'
import type { Sql, Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { applyRetention } from '../../src/manage/operate/retention.ts'
import type { RetentionScene } from '../support/retention-scene.ts'
import { createScene } from '../support/retention-scene.ts'
import { eventually } from '../support/service.ts'
import { inApp } from '../support/workflow-scene.ts'

let scene: RetentionScene
let db: Database
before(async () => {
  scene = await createScene()
  db = scene.app.database.db
  const name = await scene.flow.workflow([inApp('Old')])
  await scene.flow.run(name, 'ann')
})
after(() => scene.app.close())

const isOld = (month: string) => ({ month })
const months = (list: readonly { month: string }[]) => list.map((one) => isOld(one.month))

/** Shows every statement to `look`, also those of transactions. */
function watched(on: Database, look: (statement: Statement) => Promise<void> | void): Database {
  const shown = <On extends Sql>(one: On): On => ({
    ...one,
    row: async (statement: Statement) => {
      await look(statement)
      return one.row(statement)
    },
    rows: async (statement: Statement) => {
      await look(statement)
      return one.rows(statement)
    },
    run: async (statement: Statement) => {
      await look(statement)
      return one.run(statement)
    },
  })
  return {
    ...shown(on),
    transaction: (work, limits) => on.transaction((tx) => work(shown(tx)), limits),
  }
}

const run = { progress: () => {} }

test('while one node is at it another does nothing and says so', async () => {
  await scene.until('2026-03-20')
  const { world, database } = scene.app
  const other = database.another()
  let inBetween: Awaited<ReturnType<typeof applyRetention>> | undefined
  const first = await applyRetention(
    watched(db, async ({ text }) => {
      if (text.includes('is_unsent') && inBetween === undefined) inBetween = await applyRetention(other, world, 30, run)
    }),
    world,
    30,
    run,
  )
  assert.equal(inBetween?.isElsewhere, true)
  assert.deepEqual([inBetween?.dropped, inBetween?.kept, inBetween?.busy], [[], [], []])
  assert.equal(first.isElsewhere, false)
  assert.deepEqual(months(first.dropped), [isOld('2026-01')])
  assert.equal((await applyRetention(other, world, 30, run)).isElsewhere, false, 'it is free again at once')
})

test('a run whose node was away for too long is taken over, and goes no further when it comes back', async () => {
  await scene.until('2026-04-20')
  const { world, database } = scene.app
  const other = database.another()
  let isTaken = false
  const frozen = applyRetention(
    watched(db, async ({ text }) => {
      if (!text.includes('is_unsent') || isTaken) return
      isTaken = true
      await db.run(sql`update retention_progress set run_until = statement_timestamp() - interval '1 second'`)
      const second = await applyRetention(other, world, 30, run)
      assert.deepEqual(months(second.dropped), [isOld('2026-02')])
      // And a third one is at it when the first comes back.
      await db.run(sql`update retention_progress
        set run_id = gen_random_uuid(), run_until = statement_timestamp() + interval '1 hour'`)
    }),
    world,
    30,
    run,
  )
  await assert.rejects(frozen, /Another node has taken over/)
  assert.ok(isTaken)
  const held = await db.row(sql`select run_id is not null as held from retention_progress`)
  assert.deepEqual(held, { held: true }, 'it releases only what is its own')
  await db.run(sql`update retention_progress set run_id = null, run_until = null`)
})

test('a run counts no rows and asks for no more than a page of messages at a time', async () => {
  await scene.until('2026-05-20')
  const texts: string[] = []
  const result = await applyRetention(
    watched(db, ({ text }) => void texts.push(text)),
    scene.app.world,
    30,
    run,
  )
  assert.deepEqual(months(result.dropped), [isOld('2026-03')])
  assert.equal(result.dropped[0]?.rows, null)
  for (const text of texts) {
    assert.doesNotMatch(text, /count\(\*\)\s+from (events|notifications|jobs|messages)\b/, text)
    if (/\bfrom messages\b/.test(text)) assert.match(text, /\blimit\b/, text)
  }
  assert.ok(texts.some((text) => text.includes('is_unsent')))
})

test('what takes longer than a request may wait is not cut off', async () => {
  await scene.until('2026-06-20')
  const { world, database } = scene.app
  const short = database.another({ statementTimeoutMs: 1_500 })
  const holder = database.another({ poolSize: 1, statementTimeoutMs: 60_000 })
  let retaining: ReturnType<typeof applyRetention> | undefined
  await holder.transaction(async (tx) => {
    await tx.run(sql`lock table digest_events in access exclusive mode`)
    retaining = applyRetention(short, world, 30, run)
    retaining.catch(() => {})
    const waiting = sql`select 1 from pg_locks where relation = 'digest_events'::regclass and not granted`
    await eventually(async () => (await db.rows(waiting)).length > 0)
    const waitsLong = sql`
      select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and clock_timestamp() - query_start > interval '1.6 seconds'`
    await eventually(async () => (await db.rows(waitsLong)).length > 0)
  })
  assert.deepEqual(months((await retaining)?.dropped ?? []), [isOld('2026-04')])
})
