// Every route that changes the configuration writes what it changed to the audit log, and no other route does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { routes } from '../../src/http/registry.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { added } from '../support/audit-scene.ts'
import { sendingScenarios } from '../support/audit-sending-scenarios.ts'
import { tenantScenarios } from '../support/audit-tenant-scenarios.ts'
import type { Scenarios } from '../support/audit-things.ts'
import { translationScenarios } from '../support/audit-translation-scenarios.ts'
import { workflowScenarios } from '../support/audit-workflow-scenarios.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

/** Tags of which every route is data, with what it is. A route under another tag is reported below, one by one. */
const dataTags: Readonly<Record<string, string>> = {
  Activity: 'what ran, and recovering it',
  Events: 'what happened',
  Recovery: 'what runs again, or no more',
  Messages: 'what was said',
  Outbox: 'what was kept instead of sent',
  Subscribers: 'people, and what they chose',
  Topics: 'who is in them',
}

const dataRoutes: Readonly<Record<string, string>> = {
  markMessages: 'a mark of a subscriber',
  markAllMessages: 'a mark of a subscriber',
  markMessagesBySeenAndRead: 'a mark of a subscriber',
  answerMessageButton: 'a mark of a subscriber',
  markNotificationRead: 'a mark of a subscriber',
  markNotificationUnread: 'a mark of a subscriber',
  archiveNotification: 'a mark of a subscriber',
  unarchiveNotification: 'a mark of a subscriber',
  snoozeNotification: 'a mark of a subscriber',
  unsnoozeNotification: 'a mark of a subscriber',
  readSubscriberNotifications: 'marks of a subscriber',
  archiveSubscriberNotifications: 'marks of a subscriber',
  archiveReadSubscriberNotifications: 'marks of a subscriber',
  seeSubscriberNotifications: 'marks of a subscriber',
  deleteSubscriberNotifications: 'messages of a subscriber',
  deleteSubscriberNotification: 'a message of a subscriber',
  completeNotificationAction: 'a mark of a subscriber',
  revertNotificationAction: 'a mark of a subscriber',
  testWorkflow: 'an event',
  testWebhookEndpoint: 'a delivery',
  redriveWebhookDelivery: 'a delivery',
  redriveWebhookDeliveries: 'deliveries',
  previewWorkflowStep: 'changes nothing',
  previewStep: 'changes nothing',
  previewLayout: 'changes nothing',
  createUser: 'needs the session of an owner: users.test.ts has it',
  updateUser: 'needs the session of an owner: users.test.ts has it',
  resetUserPassword: 'needs the session of an owner: users.test.ts has it',
  releaseSending: 'needs an environment that is held: sending-hold.test.ts has it',
  deleteEnvironment: 'needs a key of another environment: environments.test.ts has it',
}

const scenarios: Scenarios = { ...workflowScenarios, ...sendingScenarios, ...tenantScenarios, ...translationScenarios }

test('every route that writes is known: as configuration that is audited, or as data', () => {
  const writes = routes.filter(({ method }) => method !== 'GET')
  const unknown = writes.filter(
    ({ tag, operationId }) =>
      dataTags[tag] === undefined && dataRoutes[operationId] === undefined && scenarios[operationId] === undefined,
  )
  assert.deepEqual(
    unknown.map(({ operationId }) => operationId),
    [],
    'A route that changes the configuration calls `audit` and has a scenario here; one that does not is listed as data',
  )
})

test('removed routes are not reported, and none is reported twice', () => {
  const known = new Map(routes.map((route) => [route.operationId, route]))
  assert.deepEqual(
    [...Object.keys(scenarios), ...Object.keys(dataRoutes)].filter((id) => !known.has(id)),
    [],
  )
  const exempt = (id: string): boolean =>
    dataRoutes[id] !== undefined || dataTags[known.get(id)?.tag ?? ''] !== undefined
  assert.deepEqual(Object.keys(scenarios).filter(exempt), [])
})

for (const [operationId, { kind, action, call, says, entries = 1 }] of Object.entries(scenarios)) {
  test(`${operationId} writes ${entries === 1 ? 'one entry' : `${entries} entries`}: ${action} of ${kind}`, async () => {
    const requestId = `request-of-${operationId}`
    const all = await added(app, { ...(await call(app)), headers: { 'x-request-id': requestId } })
    // An answer may show secrets, which is distinguished from the change.
    const written = all.filter((entry) => entry.action !== 'read')
    assert.equal(written.length, entries)
    for (const entry of written) {
      assert.equal(entry.action, action)
      assert.equal(entry.resourceKind, kind)
      assert.ok(entry.resourceId !== '' && entry.resourceName !== '')
      assert.equal(entry.keyName, 'POSTHORN_API_KEY')
      assert.equal(entry.address, '127.0.0.1')
      assert.equal(entry.requestId, requestId)
      says(entry)
    }
  })
}

test('what all of them wrote is one whole chain', async () => {
  const { body } = await app.call('GET', '/v1/audit/verify')
  assert.equal(body.ok, true)
  assert.equal(body.complete, true)
  assert.ok(body.checked > Object.keys(scenarios).length)
})
