// What is stored for an idempotency-key: in the write's own transaction, sealed, and swept when its day is over.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { once } from '../../src/commit/once.ts'
import { sql } from '../../src/db/sql.ts'
import { ok } from '../../src/domain/answer.ts'
import { sweep } from '../../src/manage/operate/housekeeping.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { callWithKey, fresh, storedAnswers, subscribersNamed } from '../support/idempotency-scene.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { watchWork } from '../support/turn-cpu.ts'

const dayMs = 24 * 60 * 60 * 1000

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())
afterEach(() => app.database.db.run(sql`delete from idempotency_keys`))

const keyed = (method: string, path: string, key: string, body?: unknown) => callWithKey(app, method, path, key, body)

test('a write that fails at its commit leaves neither itself nor an answer, and runs under the same key afterwards', async () => {
  const { db } = app.database
  await db.run({
    text: `create function refuse() returns trigger language plpgsql as
           $$ begin raise exception 'refused at the commit' using errcode = 'P0001'; end $$`,
    values: [],
  })
  for (const table of ['tenants', 'subscribers']) {
    await db.run({
      text: `create constraint trigger refuse after insert on ${table} deferrable initially deferred
             for each row execute function refuse()`,
      values: [],
    })
  }
  const name = fresh('undone')
  const tenant = () => keyed('POST', '/v1/tenants', 'k1', { identifier: name })
  const subscriber = () => keyed('POST', '/v2/subscribers', 'k1', { subscriberId: name })
  for (const reply of [await tenant(), await subscriber()]) {
    assert.equal(reply.status, 500)
    assert.equal(reply.text.includes('refused'), false)
  }
  assert.equal(await storedAnswers(app), 0)
  assert.equal(await subscribersNamed(app, name), 0)
  assert.equal((await app.call('GET', `/v1/tenants/${name}`)).status, 404)
  await db.run({ text: 'drop function refuse() cascade', values: [] })
  assert.equal((await tenant()).status, 201)
  assert.equal((await subscriber()).status, 201)
})

test('an answer that cannot be stored takes its write with it', async () => {
  const { db } = app.database
  const name = fresh('unstored')
  await db.run({ text: 'alter table idempotency_keys add constraint full_disk check (false) not valid', values: [] })
  const replies = [
    await keyed('POST', '/v1/tenants', 'k1', { identifier: name }),
    await keyed('POST', '/v2/subscribers', 'k1', { subscriberId: name }),
  ]
  await db.run({ text: 'alter table idempotency_keys drop constraint full_disk', values: [] })
  assert.deepEqual(
    replies.map((reply) => reply.status),
    [500, 500],
  )
  assert.equal((await app.call('GET', `/v1/tenants/${name}`)).status, 404)
  assert.equal(await subscribersNamed(app, name), 0)
})

test('a deadlock is tried again, and its answer stored once', async () => {
  const { db } = app.database
  const identifier = fresh('deadlock')
  await db.run({ text: 'create sequence tries', values: [] })
  await db.run({
    text: `create function lose_once() returns trigger language plpgsql as $$ begin
             if nextval('tries') = 1 then raise exception 'lost' using errcode = '40P01'; end if; return new; end $$`,
    values: [],
  })
  await db.run({
    text: 'create trigger lose_once before insert on tenants for each row execute function lose_once()',
    values: [],
  })
  const first = await keyed('POST', '/v1/tenants', 'k1', { identifier })
  await db.run({ text: 'drop function lose_once() cascade', values: [] })
  assert.equal(first.status, 201)
  assert.equal((await db.row<{ last_value: number }>(sql`select last_value from tries`))?.last_value, 2)
  assert.equal(await storedAnswers(app), 1)
  const repeat = await keyed('POST', '/v1/tenants', 'k1', { identifier })
  assert.deepEqual([repeat.text, repeat.headers['idempotency-replay']], [first.text, 'true'])
})

test('answers are sealed at rest', async () => {
  const identifier = fresh('sealed')
  await keyed('POST', '/v1/tenants', 'k1', { identifier, name: 'a-name-to-look-for' })
  const row = await app.database.db.row<{ answer: Buffer }>(sql`select answer from idempotency_keys`)
  assert.ok(row !== undefined && row.answer.length > 0)
  for (const text of ['a-name-to-look-for', identifier, '_id'])
    assert.equal(row.answer.includes(text), false, `${text} stands there in clear`)
})

test('the sweep deletes expired answers in batches, and no others', async () => {
  const identifier = fresh('kept')
  await keyed('POST', '/v1/tenants', 'kept', { identifier })
  const now = app.world.now()
  await app.database.db.run(sql`
    insert into idempotency_keys (environment_id, scope_hash, request_hash, status, answer, expires_at)
    select (select environment_id from idempotency_keys limit 1), int4send(n), '', 200, '',
           ${now}::timestamptz - make_interval(secs => n)
    from generate_series(0, 5999) as n`)
  assert.equal(await sweep(app.database.db, app.world), 6000)
  assert.equal(await storedAnswers(app), 1)
  assert.equal((await keyed('POST', '/v1/tenants', 'kept', { identifier })).headers['idempotency-replay'], 'true')
  app.world.advance(dayMs)
  assert.equal(await sweep(app.database.db, app.world), 1)
  assert.equal(await storedAnswers(app), 0)
})

test('the sweep skips an answer that another transaction holds', async () => {
  await keyed('POST', '/v1/tenants', 'held', { identifier: fresh('swept') })
  app.world.advance(dayMs)
  const other = app.database.another({ poolSize: 1 })
  await other.transaction(async (tx) => {
    await tx.row(sql`select 1 as one from idempotency_keys for update`)
    assert.equal(await sweep(app.database.db, app.world), 0)
  })
  assert.equal(await sweep(app.database.db, app.world), 1)
})

test('a stored answer of a million values is read again in turns', async () => {
  const environment = await environmentOf(app)
  const hash = Buffer.alloc(32, 7)
  const idempotency = { key: 'large', scopeHash: hash, requestHash: hash }
  const rows = Array.from({ length: 200_000 }, (_, at) => ({ number: at, tags: ['a', 'b'] }))
  const call = () => once(app.database.db, app.world, environment, idempotency, () => Promise.resolve(ok({ rows })))
  await call()
  const { result, share } = await watchWork(call)
  assert.equal(result.replayed, true)
  assert.deepEqual(
    [result.body.rows.length, result.body.rows[199_999]],
    [200_000, { number: 199_999, tags: ['a', 'b'] }],
  )
  assert.ok(share < 1, `the longest turn took ${share} of what it may`)
})
