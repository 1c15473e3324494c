// What stands around a workflow: the group it is listed in, and whether its channels have integrations.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, email, inApp, refused } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

test('a workflow is put into the group it names; the default one is made once', async () => {
  const group = await app.call('POST', '/v1/notification-groups', { body: { name: 'Shop' } })
  assert.equal(group.status, 201)
  assert.equal((await app.call('POST', '/v1/notification-groups', { body: { name: 'Shop' } })).status, 409)
  assert.equal((await app.call('POST', '/v1/notification-groups', { body: { name: '' } })).status, 422)
  const made = await create(app, { name: 'In the shop', notificationGroupId: group.body._id })
  assert.deepEqual(made.notificationGroup, group.body)
  const errors = await refused(app, { name: 'x', notificationGroupId: '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21' })
  assert.deepEqual(Object.keys(errors), ['notificationGroupId'])
  const key = app.productionKey
  const foreign = { key, body: { name: 'x', notificationGroupId: group.body._id } }
  assert.equal((await app.call('POST', '/v1/workflows', foreign)).status, 422)
  const two = await Promise.all(
    [1, 2, 3].map((n) => app.call('POST', '/v1/workflows', { key, body: { name: `G${n}` } })),
  )
  assert.deepEqual([...new Set(two.map((reply) => reply.status))], [201])
  assert.equal(new Set(two.map((reply) => reply.body._notificationGroupId)).size, 1)
  const groups = await app.call('GET', '/v1/notification-groups', { key })
  assert.deepEqual(
    groups.body.data.map((one: { name: string }) => one.name),
    ['General'],
  )
  assert.deepEqual([groups.body.hasMore, groups.body.totalCount], [false, 1])
})

test('the status of its integrations reports which channels no one sends for', async () => {
  const key = app.productionKey
  const body = { name: 'Unsent', workflowId: 'unsent', steps: [inApp(), email()] }
  const made = (await app.call('POST', '/v1/workflows', { key, body })).body
  assert.deepEqual(made.workflowIntegrationStatus, {
    hasActiveIntegrations: false,
    channels: {
      in_app: { hasActiveIntegrations: true },
      email: { hasActiveIntegrations: false, hasPrimaryIntegrations: false },
    },
  })
  const listed = (await app.call('GET', '/v1/workflows?query=unsent', { key })).body.data[0]
  assert.deepEqual(listed, made)
})
