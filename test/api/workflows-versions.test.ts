// The versions of workflows: one for each definition, none for anything else, in order under concurrency.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { findVersions, findWorkflowsByIdentifier } from '../../src/store/workflows/workflows.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { create, currentVersion, email, inApp, versionsOf } from '../support/workflow-scene.ts'

let app: TestApp
let environment: Environment
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
})
after(() => app.close())

test('a changed definition makes a version, and the workflow points to it', async () => {
  const made = await create(app, { name: 'Versions', workflowId: 'versions', steps: [inApp('one')] })
  const changes = [
    { name: 'Renamed' },
    { tags: ['a'] },
    { steps: [inApp('two')] },
    { critical: true },
    { data: { a: 1 } },
  ]
  for (const body of changes) assert.equal((await app.call('PATCH', '/v1/workflows/versions', { body })).status, 200)
  const versions = await versionsOf(app, made._id)
  assert.deepEqual(
    versions.map(({ number }) => number),
    [1, 2, 3, 4, 5, 6],
  )
  assert.equal(await currentVersion(app, made._id), versions[5]?.id)
})

test('status, group and repetition make no version', async () => {
  const body = { name: 'Same', description: 'x', data: { b: 1, a: [{ d: 1, c: 2 }] }, steps: [inApp()] }
  const made = await create(app, { ...body, workflowId: 'same' })
  const group = (await app.call('POST', '/v1/notification-groups', { body: { name: 'G' } })).body
  const path = `/v1/workflows/${made._id}`
  await app.call('PUT', `${path}/status`, { body: { active: true } })
  await app.call('PATCH', path, { body: { workflowId: 'same', notificationGroupId: group._id, active: false } })
  const reordered = { ...body, data: { a: [{ c: 2, d: 1 }], b: 1 }, steps: made.steps }
  await app.call('PUT', path, { body: reordered })
  assert.equal((await versionsOf(app, made._id)).length, 1)
})

test('a new identifier makes a version that carries it, and the one before keeps its own', async () => {
  const made = await create(app, { name: 'Named', workflowId: 'named', steps: [inApp()] })
  const first = (await currentVersion(app, made._id)) ?? assert.fail('no version')
  const renamed = await app.call('PATCH', '/v1/workflows/named', { body: { workflowId: 'named-anew' } })
  assert.equal(renamed.body.triggers[0].identifier, 'named-anew')
  assert.deepEqual({ ...renamed.body, triggers: made.triggers, updatedAt: made.updatedAt }, made)
  const second = (await currentVersion(app, made._id)) ?? assert.fail('no version')
  const versions = await findVersions(app.database.db, environment, [first, second])
  assert.deepEqual(
    versions.map(({ id, identifier }) => [id, identifier]),
    [
      [first, 'named'],
      [second, 'named-anew'],
    ],
  )
})

test('a version that does not say its identifier has the workflow’s', async () => {
  const made = await create(app, { name: 'Older', workflowId: 'older', steps: [inApp()] })
  const id = (await currentVersion(app, made._id)) ?? assert.fail('no version')
  await app.database.db.run(sql`
    update workflow_versions set definition = definition - 'identifier'
    where environment_id = ${environment.id} and id = ${id}`)
  const [version] = await findVersions(app.database.db, environment, [id])
  assert.equal(version?.identifier, 'older')
  assert.deepEqual((await app.call('GET', '/v1/workflows/older')).body, made)
})

test('a call that changes nothing leaves updatedAt as it was; a status does not', async () => {
  const made = await create(app, { name: 'Quiet', active: true, steps: [inApp()] })
  app.world.advance(1000)
  const same = await app.call('PATCH', `/v1/workflows/${made._id}`, { body: { name: 'Quiet', active: true } })
  assert.equal(same.body.updatedAt, made.updatedAt)
  const off = await app.call('PUT', `/v1/workflows/${made._id}/status`, { body: { active: false } })
  assert.notEqual(off.body.updatedAt, made.updatedAt)
})

test('calls at once make one version each, numbered without a gap', async () => {
  const made = await create(app, { name: 'Raced', steps: [inApp('0')] })
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      app.call('PUT', `/v1/workflows/${made._id}`, { body: { name: 'Raced', steps: [inApp(`text ${index}`)] } }),
    ),
  )
  assert.deepEqual([...new Set(replies.map((reply) => reply.status))], [200])
  const versions = await versionsOf(app, made._id)
  assert.deepEqual(
    versions.map(({ number }) => number),
    Array.from({ length: 11 }, (_, index) => index + 1),
  )
  assert.equal(await currentVersion(app, made._id), versions.at(-1)?.id)
})

test('creations at once with one identifier leave one workflow; with one name they all succeed', async () => {
  const at = (body: object) => Promise.all([1, 2, 3, 4].map(() => app.call('POST', '/v1/workflows', { body })))
  const named = (await at({ name: 'Contended', workflowId: 'contended' })).map((reply) => reply.status)
  assert.deepEqual(named.sort(), [201, 409, 409, 409])
  const slugged = await at({ name: 'Crowded' })
  assert.deepEqual([...new Set(slugged.map((reply) => reply.status))], [201])
  assert.equal(new Set(slugged.map((reply) => reply.body.triggers[0].identifier)).size, 4)
})

test('two workflows renamed to one identifier at once: one gets it, the other is answered 409', async () => {
  const made = [await create(app, { name: 'R1' }), await create(app, { name: 'R2' })]
  const body = { workflowId: 'the-prize' }
  const replies = await Promise.all(made.map(({ _id }) => app.call('PATCH', `/v1/workflows/${_id}`, { body })))
  assert.deepEqual(replies.map((reply) => reply.status).sort(), [200, 409])
})

test('triggers find workflows that are not deleted; versions are found for good', async () => {
  const { db } = app.database
  const made = await create(app, {
    name: 'Pinned',
    workflowId: 'pinned',
    active: true,
    steps: [inApp('first'), email()],
  })
  const before = await findWorkflowsByIdentifier(db, environment, ['pinned', 'nobody', 'pinned'])
  const versionId = (await currentVersion(app, made._id)) ?? assert.fail('no version')
  const found = { id: made._id, identifier: 'pinned', active: true, versionId }
  assert.deepEqual(before, [found, found])
  await app.call('PATCH', '/v1/workflows/pinned', { body: { steps: [inApp('second')] } })
  await app.call('DELETE', '/v1/workflows/pinned')
  assert.deepEqual(await findWorkflowsByIdentifier(db, environment, ['pinned']), [])
  const [version] = await findVersions(db, environment, [versionId, '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21'])
  assert.deepEqual([version?.id, version?.workflowId, version?.identifier], [versionId, made._id, 'pinned'])
  assert.equal(version?.definition.steps[0]?.template.content, 'first')
  assert.deepEqual(
    version?.definition.steps.map((step) => step._id),
    made.steps.map((step: { _id: string }) => step._id),
  )
  assert.deepEqual(await findVersions(db, await environmentOf(app, 'Production'), [versionId]), [])
})
