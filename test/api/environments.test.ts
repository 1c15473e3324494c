// Environments come and go: who may create, rename and delete them, and that nothing of a deleted one is left but its audit log.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { eraseEnvironments } from '../../src/manage/operate/erase-environments.ts'
import { erasedTables } from '../../src/store/operate/environment-deletions.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { logOf } from '../support/audit-scene.ts'
import { worldClock } from '../support/pipeline.ts'
import { inApp } from '../support/workflow-scene.ts'

const path = '/v1/environments'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

interface Made {
  readonly id: string
  readonly key: string
}

async function made(name: string): Promise<Made> {
  const reply = await app.call('POST', path, { body: { name, color: '#ff8800' } })
  assert.equal(reply.status, 201, reply.text)
  return { id: reply.body._id, key: reply.body.apiKeys[0].key }
}

const names = async (): Promise<string[]> => (await app.call('GET', path)).body.map((one: Json) => one.name)

test('a new environment has a key, built-in integrations that capture, and an entry in the log', async () => {
  const { id, key } = await made('Staging')
  assert.deepEqual(await names(), ['Development', 'Production', 'Staging'])
  const own = await app.call('GET', `${path}/me`, { key })
  assert.deepEqual([own.body._id, own.body.name, own.body.color], [id, 'Staging', '#ff8800'])
  assert.match(own.body.signingSecret, /^[0-9a-f]{64}$/)
  const integrations = (await app.call('GET', '/v1/integrations', { key })).body
  assert.deepEqual(
    integrations.map((one: Json) => [one.channel, one.active]),
    [
      ['in_app', true],
      ['email', true],
      ['sms', true],
    ],
  )
  const [entry] = (await logOf(app)).slice(-1)
  assert.deepEqual([entry.action, entry.resourceKind, entry.resourceName], ['create', 'environment', 'Staging'])
  const [first] = await logOf(app, key)
  assert.deepEqual([first.action, first.resourceKind], ['create', 'api-key'])
  assert.equal((await app.call('GET', '/v1/audit/verify', { key })).body.keyedFrom, 1)
})

test('a name is taken once, and a parent must be of the same organization', async () => {
  assert.equal((await app.call('POST', path, { body: { name: 'Production' } })).status, 409)
  const unknown = app.world.newId(app.world.now())
  assert.equal((await app.call('POST', path, { body: { name: 'Child', parentId: unknown } })).status, 422)
  for (const body of [{}, { name: '' }, { name: 'Coloured', color: 'red' }]) {
    assert.equal((await app.call('POST', path, { body })).status, 422, JSON.stringify(body))
  }
  const [{ _id: parentId }] = (await app.call('GET', path)).body
  const child = await app.call('POST', path, { body: { name: 'Child', parentId } })
  assert.equal(child.body._parentId, parentId)
})

test('a key renames its own environment alone, and the first two keep their names', async () => {
  const { id, key } = await made('Preview 1')
  const put = (target: string, body: object, by?: string) =>
    app.call('PUT', `${path}/${target}`, { body, ...(by === undefined ? {} : { key: by }) })
  assert.equal((await put(id, { name: 'Mine now' })).status, 403)
  assert.equal((await put(app.world.newId(app.world.now()), { name: 'x' })).status, 404)
  assert.equal((await put(id, { name: 'Production' }, key)).status, 409)
  const renamed = await put(id, { name: 'Preview 2' }, key)
  assert.deepEqual([renamed.status, renamed.body.name, renamed.body.color], [200, 'Preview 2', '#ff8800'])
  assert.ok((await names()).includes('Preview 2'))
  const [{ _id: development }] = (await app.call('GET', path)).body
  assert.equal((await put(development, { name: 'Elsewhere' })).status, 409)
  assert.equal((await put(development, { color: '#0088ff' })).body.color, '#0088ff')
})

const erase = () => eraseEnvironments(app.database.db, app.world, worldClock(app.world))

async function rowsOf(id: string): Promise<Record<string, number>> {
  const rows: Record<string, number> = {}
  for (const { name } of erasedTables) {
    const text = `select count(*)::int as count from ${name} where environment_id = $1`
    const row = await app.database.db.row<{ count: number }>({ text, values: [id] })
    if (row !== undefined && row.count > 0) rows[name] = row.count
  }
  return rows
}

test('a deleted environment is closed at once and erased in batches; its log stays, and others are not touched', async () => {
  const { id, key } = await made('Doomed')
  const [development] = (await app.call('GET', path)).body
  const workflow = await app.call('POST', '/v1/workflows', {
    key,
    body: { name: 'Hello', active: true, steps: [inApp()] },
  })
  const { identifier } = workflow.body.triggers[0]
  await app.call('POST', '/v1/events/trigger', { key, body: { name: identifier, to: 'ann', payload: {} } })
  await app.database.db.run(sql`
    insert into subscribers (environment_id, id, subscriber_id, created_at, updated_at)
    select ${id}, gen_random_uuid(), 'bulk-' || n, now(), now() from generate_series(1, 2500) as n`)
  const untouched = await rowsOf(development._id)
  const remove = (query: string, by = key) => app.call('DELETE', `${path}/${id}${query}`, { key: by })
  assert.equal((await remove('', app.developmentKey)).status, 403)
  assert.equal((await remove('')).status, 409, 'it holds data')
  assert.equal((await remove('?confirm=Domed')).status, 422)
  const begun = await remove('?confirm=Doomed')
  assert.deepEqual([begun.status, begun.body.status, begun.body.name], [200, 'running', 'Doomed'])
  app.world.advance(1_000)
  assert.equal((await app.call('GET', path, { key })).status, 401)
  assert.ok(!(await names()).includes('Doomed'))
  await made('Doomed')
  assert.ok((await erase()) > 2_500)
  assert.deepEqual(await rowsOf(id), {})
  const deletions = async () => (await app.call('GET', `${path}/deletions`)).body
  const [running] = await deletions()
  assert.deepEqual([running.status, running.removed.subscribers], ['running', 2_501])
  // Whatever a call that had begun writes late goes with the next pass.
  await app.database.db.run(sql`
    insert into subscribers (environment_id, id, subscriber_id, created_at, updated_at)
    values (${id}, gen_random_uuid(), 'late', now(), now())`)
  app.world.advance(60_000)
  assert.equal(await erase(), 1)
  assert.equal(await erase(), 0)
  const [done] = await deletions()
  assert.deepEqual([done.status, done.phase, done.removed.subscribers], ['completed', 'done', 2_502])
  assert.equal(await erase(), 0)
  const kept = await app.database.db.row<{ count: number }>(
    sql`select count(*)::int as count from audit_log where environment_id = ${id}`,
  )
  assert.ok((kept?.count ?? 0) >= 3)
  const { idempotency_keys: _answers, ...rest } = await rowsOf(development._id)
  const { idempotency_keys: _before, ...same } = untouched
  assert.deepEqual(rest, same)
  const deleted = (await logOf(app)).filter(({ action }) => action === 'delete')
  assert.deepEqual(
    deleted.map(({ resourceKind, resourceName }) => [resourceKind, resourceName]),
    [['environment', 'Doomed']],
  )
})

test('one that holds nothing goes without its name being repeated; the first two never go', async () => {
  const { id, key } = await made('Empty')
  assert.equal((await app.call('DELETE', `${path}/${id}`, { key })).status, 200)
  for (const first of [app.developmentKey, app.productionKey]) {
    const { _id, name } = (await app.call('GET', `${path}/me`, { key: first })).body
    assert.equal((await app.call('DELETE', `${path}/${_id}?confirm=${name}`, { key: first })).status, 409)
  }
})

test('every table that has an environment is erased, children before their parents, but for what is kept', async () => {
  const { db } = app.database
  const tables = await db.rows<{ name: string; partitioned: boolean }>(sql`
    select c.relname as name, c.relkind = 'p' as partitioned from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'environment_id'
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace`)
  const listed = new Map(erasedTables.map((table, place) => [table.name, { ...table, place }]))
  const missing = tables.filter(({ name }) => !listed.has(name)).map(({ name }) => name)
  assert.deepEqual(missing.sort(), ['audit_log', 'environment_deletions'])
  const places = ['jobs', 'sending_holds'].map((name) => erasedTables.findIndex((table) => table.name === name))
  assert.ok((places[0] ?? 0) < (places[1] ?? 0), 'a hold goes after the jobs that it holds')
  for (const { name, partitioned } of tables) {
    if (listed.has(name)) assert.equal(listed.get(name)?.isPartitioned === true, partitioned, name)
  }
  // Revoked sessions stay revoked as long as their subscriber is there: they go with them.
  const [revocations, subscribers] = [listed.get('session_revocations'), listed.get('subscribers')]
  assert.ok((revocations?.place ?? 0) > (subscribers?.place ?? Number.POSITIVE_INFINITY))
  const references = await db.rows<{ child: string; parent: string }>(sql`
    select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint
    where contype = 'f' and conrelid <> 'session_revocations'::regclass`)
  for (const { child, parent } of references) {
    const [from, to] = [listed.get(child)?.place, listed.get(parent)?.place]
    if (from !== undefined && to !== undefined) assert.ok(from < to, `${child} refers to ${parent}`)
  }
})

test('the tags of an environment’s workflows are listed, for its own keys', async () => {
  await app.call('POST', '/v1/workflows', { body: { name: 'Tagged', tags: ['b', 'a'], steps: [inApp()] } })
  await app.call('POST', '/v1/workflows', { body: { name: 'Tagged too', tags: ['b'], steps: [inApp()] } })
  const [development, production] = (await app.call('GET', path)).body
  const tags = await app.call('GET', `/v2/environments/${development._id}/tags`)
  assert.deepEqual(tags.body, [{ name: 'a' }, { name: 'b' }])
  assert.equal((await app.call('GET', `/v2/environments/${production._id}/tags`)).status, 404)
})
