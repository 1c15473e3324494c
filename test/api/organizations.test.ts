// Organizations: keys of one see, create and delete environments of their own alone.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { NewOrganization } from '../../src/manage/operate/organizations.ts'
import { createOrganization, deleteOrganization, renameOrganization } from '../../src/manage/operate/organizations.ts'
import { listOrganizations } from '../../src/store/operate/organizations.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { logOf } from '../support/audit-scene.ts'
import { testAuthor } from '../support/test-author.ts'

const path = '/v1/environments'

let app: TestApp
let acme: NewOrganization
before(async () => {
  app = await createTestApp()
  acme = await createOrganization(app.database.db, app.world, { name: 'Acme', author: testAuthor })
})
after(() => app.close())

const keyOf = (name: string): string =>
  acme.environments.find(({ environment }) => environment.name === name)?.key ?? assert.fail(name)
const shown = async (key?: string): Promise<Json[]> =>
  (await app.call('GET', path, key === undefined ? {} : { key })).body
const organizationsOf = async (key?: string) => new Set((await shown(key)).map((one) => one._organizationId))

test('a new organization has two environments with a key each; neither organization sees the other', async () => {
  const own = await shown(keyOf('Development'))
  assert.deepEqual(
    own.map(({ name }) => name),
    ['Development', 'Production'],
  )
  assert.deepEqual(await organizationsOf(keyOf('Production')), new Set([acme.id]))
  assert.ok(!(await organizationsOf()).has(acme.id))
  assert.ok(!JSON.stringify(await shown()).includes(own[0]?._id))
  const [entry] = await logOf(app, keyOf('Development'))
  assert.deepEqual([entry.action, entry.resourceKind, entry.resourceName], ['create', 'environment', 'Development'])
  assert.ok(!(await logOf(app)).some(({ resourceId }) => resourceId === own[0]?._id))
})

test('what a key creates belongs to its organization; parents and deletions of another are unknown', async () => {
  const key = keyOf('Development')
  const [foreign] = await shown()
  const crossing = await app.call('POST', path, { key, body: { name: 'Staging', parentId: foreign?._id } })
  assert.equal(crossing.status, 422)
  const made = await app.call('POST', path, { key, body: { name: 'Staging' } })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.body._organizationId, acme.id)
  // The name is taken in its own organization only.
  assert.equal((await app.call('POST', path, { body: { name: 'Staging' } })).status, 201)
  const [staging] = made.body.apiKeys
  for (const [method, query] of [
    ['PUT', ''],
    ['DELETE', '?confirm=Staging'],
  ] as const) {
    const body = method === 'PUT' ? { body: { name: 'Other' } } : {}
    assert.equal((await app.call(method, `${path}/${made.body._id}${query}`, body)).status, 404, method)
  }
  const gone = await app.call('DELETE', `${path}/${made.body._id}?confirm=Staging`, { key: staging.key })
  assert.equal(gone.status, 200, gone.text)
  const deletions = async (by?: string): Promise<Json[]> =>
    (await app.call('GET', `${path}/deletions`, by === undefined ? {} : { key: by })).body
  assert.equal((await deletions(key)).length, 1)
  assert.deepEqual(await deletions(), [])
})

test('names are taken once; the first organization and one with environments stay', async () => {
  const { db } = app.database
  const make = (name: string) => createOrganization(db, app.world, { name, author: testAuthor })
  await assert.rejects(make('Acme'), /already/)
  const [first] = await listOrganizations(db)
  assert.ok(first)
  await assert.rejects(renameOrganization(db, acme, first.name), /already/)
  await renameOrganization(db, acme, 'Acme Ltd')
  await assert.rejects(deleteOrganization(db, first, app.world.now()), /cannot be deleted/)
  await assert.rejects(deleteOrganization(db, acme, app.world.now()), /Development, Production/)
  for (const { environment, key } of acme.environments) {
    assert.equal(
      (await app.call('DELETE', `${path}/${environment.id}?confirm=${environment.name}`, { key })).status,
      200,
    )
  }
  await deleteOrganization(db, acme, app.world.now())
  assert.deepEqual(
    (await listOrganizations(db)).map(({ name }) => name),
    [first.name],
  )
  await make('Acme Ltd')
  const kept = await db.rows(sql`select from audit_log where environment_id = ${acme.environments[0]?.environment.id}`)
  assert.ok(kept.length > 1)
})
