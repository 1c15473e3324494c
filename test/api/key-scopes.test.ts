// The scope that every route needs: one table, checked for completeness and held against the routes themselves.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Scope } from '../../src/domain/environment.ts'
import { scopes } from '../../src/domain/environment.ts'
import { routes } from '../../src/http/registry.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { inApp } from '../support/workflow-scene.ts'

/** Every operation by the scope that it needs. A new route is added here, by whoever has thought about it. */
const operations: Readonly<Record<Scope, string>> = {
  trigger: 'broadcastEvent cancelEvent triggerEvent triggerEventsInBulk',
  read: `exportConfiguration checkTopicSubscriber countUnread countUnseen explainNotification explainSubscriber getRetention
    listActiveIntegrations listActivity listBuried listContexts listEnvironmentTags listEnvironments listEvents listFeeds listIntegrations listLayouts
    listLayoutsV2 listMessages listNotificationGroups listProviders listFailureCauses listFailures listQueue listRedrives listSubscriberPreferences
    listSubscriberSubscriptions listSuppressions listTenants listTopicSubscriptions listTopics listTranslations
    listWebhookDeliveries listWebhookEndpoints listWebhookEventTypes retrieveWebhookDelivery retrieveWebhookEndpoint
    listWorkflowOverrides listWorkflows listWorkflowsV2 previewStep previewWorkflowStep retrieveActivity streamActivity retrieveContext
    retrieveCounts retrieveDeliveryTimes retrieveEventProgress retrieveFailureCounts retrieveFeed retrieveIntegration
    retrieveLayout retrieveLayoutUsage retrieveLayoutV2 retrieveNotificationGroup retrieveOwnEnvironment
    retrieveQueueCounts retrieveRedrive retrieveRetraction retrieveStep retrieveSubscriber
    retrieveSubscriberGlobalPreferences retrieveSubscriberPreferences retrieveSubscriberWorkflowPreference retrieveTenant
    retrieveTenantWorkflowOverride retrieveTopic retrieveTranslation retrieveWorkflow retrieveWorkflowOverride
    retrieveWorkflowV2 searchSubscribers simulateEvent
    countSubscriberNotifications listEnvironmentVariables listSubscriberNotifications previewLayout
    retrieveEnvironmentVariable retrieveEnvironmentVariableUsage retrieveMasterTranslation retrieveOwnTranslation
    retrieveOwnTranslationGroup retrieveTopicSubscription listWorkflowVersions compareWorkflowVersions
    retrieveWorkflowFiles listExecutionDetails listNotificationTemplates listSubscriberPreferencesByLevel listSubscribersV1 listTopicsV1
    retrieveInAppStatus retrieveNotificationTemplate retrieveSubscriberV1 retrieveTopicV1 retrieveWebhookStatus`,
  'outbox:read': 'listOutbox retrieveEmlFromOutbox retrieveFromOutbox retrieveHtmlFromOutbox waitForOutbox',
  'workflows:write': `applyConfiguration createFeed createLayout createLayoutV2 createNotificationGroup createWorkflow createWorkflowOverride
    createWorkflowV2 deleteFeed deleteLayout deleteLayoutV2 deleteNotificationGroup deleteTenantWorkflowOverride
    deleteTranslation deleteWorkflow deleteWorkflowOverride deleteWorkflowV2 duplicateLayoutV2 makeLayoutDefault
    putTranslation replaceWorkflow replaceWorkflowV2 updateLayout updateLayoutV2 updateNotificationGroup
    updateTenantWorkflowOverride updateWorkflow updateWorkflowOverride updateWorkflowStatus updateWorkflowV2
    deleteOwnTranslation deleteOwnTranslationGroup importMasterTranslation putOwnTranslation restoreWorkflowVersion
    createNotificationTemplate deleteNotificationTemplate replaceNotificationTemplate updateNotificationTemplateStatus`,
  'inbox:write': `answerMessageButton archiveNotification markAllMessages markMessages markMessagesBySeenAndRead
    markNotificationRead markNotificationUnread revokeSubscriberSessions snoozeNotification unarchiveNotification
    unsnoozeNotification archiveReadSubscriberNotifications archiveSubscriberNotifications completeNotificationAction
    deleteSubscriberNotification deleteSubscriberNotifications readSubscriberNotifications revertNotificationAction
    seeSubscriberNotifications`,
  'integrations:write': 'createIntegration deleteIntegration setPrimaryIntegration updateIntegration',
  'subscribers:write': `addSuppression addSuppressions appendSubscriberCredentials createContext createSubscriber
    createSubscribersInBulk createTenant createTopic deleteContext deleteSubscriber deleteSubscriberCredentials deleteTenant
    deleteTopic removeSuppression subscribeToTopic unsubscribeFromTopic updateContext updateSubscriber
    updateSubscriberCredentials updateSubscriberGlobalPreferences updateSubscriberOnlineStatus updateSubscriberPreferences
    updateSubscriberPreferencesInBulk updateSubscriberWorkflowPreference updateTenant updateTopic
    updateTopicSubscription addTopicSubscribers createSubscriberV1 createTopicV1 deleteSubscriberV1 deleteTopicV1
    removeTopicSubscribers updateSubscriberV1 updateTopicV1`,
  full: `rotateSigningSecret createEnvironment updateEnvironment deleteEnvironment listEnvironmentDeletions cancelNotification changeOwnEnvironment clearOutbox createApiKey deleteMessage deleteMessagesOfTransaction
    createAuditStream deleteAuditStream eraseSubscriber exportSubscriber getErasure listApiKeys listAuditEntries
    listAuditStreams redriveBuried redriveEvent redriveNotification
    removeFromOutbox retractEvent retractNotification retrieveAuditEntry revokeApiKey rotateApiKey startRedrive stopRedrive
    createWebhookEndpoint deleteWebhookEndpoint redriveWebhookDeliveries redriveWebhookDelivery rotateWebhookSecret
    testWebhookEndpoint updateWebhookEndpoint testWorkflow updateApiKey verifyAuditLog createEnvironmentVariable
    deleteEnvironmentVariable updateEnvironmentVariable
    createUser listUsers resetUserPassword retrieveUser updateUser releaseSending retrieveSendingHold`,
}
const stated = new Map(
  scopes.flatMap((scope) => operations[scope].split(/\s+/).map((operation) => [operation, scope] as const)),
)

let app: TestApp
/** A key of each scope. */
const keys = new Map<Scope, string>()

async function newKey(held: readonly Scope[]): Promise<string> {
  const reply = await app.call('POST', '/v1/environments/api-keys', { body: { scopes: held } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.key
}

before(async () => {
  app = await createTestApp()
  for (const scope of scopes) keys.set(scope, await newKey([scope]))
})
after(() => app.close())

const key = (scope: Scope): string => keys.get(scope) ?? assert.fail(scope)

test('every route states its scope, and the table is as long as the API', () => {
  const found = new Map(routes.map(({ operationId, scope }) => [operationId, scope]))
  assert.deepEqual(
    [...found].filter(([operation, scope]) => stated.get(operation) !== scope),
    [],
    'a route is missing in the table, or has another scope there',
  )
  assert.deepEqual(
    [...stated.keys()].filter((operation) => !found.has(operation)),
    [],
    'the table names routes that are no more',
  )
})

const nowhere = '019b7ca9-0000-7000-8000-000000000001'
const pathOf = ({ path, operationId }: { path: string; operationId: string }): string =>
  `${path.replaceAll(/\{\w+\}/g, nowhere)}${operationId === 'waitForOutbox' ? '?timeout=never' : ''}`

test('a key of any other scope is refused by every route, with the scope it needs', async () => {
  for (const route of routes) {
    const opens = new Set<Scope>([route.scope, 'full', ...(route.scope === 'outbox:read' ? ['read' as const] : [])])
    for (const other of scopes.filter((scope) => !opens.has(scope))) {
      const reply = await app.call(route.method, pathOf(route), { key: key(other) })
      assert.equal(reply.status, 403, `${route.operationId} with ${other}`)
      assert.equal(reply.body.message, `This API key is not allowed to do this: it needs the scope "${route.scope}"`)
    }
  }
})

test('a key of the very scope, or of one that includes it, passes', async () => {
  for (const route of routes.filter(({ scope }) => scope !== 'full')) {
    for (const scope of route.scope === 'outbox:read' ? (['outbox:read', 'read'] as const) : [route.scope]) {
      const body = route.method === 'GET' ? {} : { body: {} }
      const reply = await app.call(route.method, pathOf(route), { key: key(scope), ...body })
      assert.ok(
        reply.status !== 401 && reply.status !== 403 && reply.status < 500,
        `${route.operationId}: ${reply.text}`,
      )
    }
  }
})

test('several scopes of one key add up', async () => {
  const both = await newKey(['subscribers:write', 'trigger'])
  assert.equal((await app.call('POST', '/v1/tenants', { key: both, body: { identifier: 'both' } })).status, 201)
  assert.notEqual((await app.call('POST', '/v1/events/trigger', { key: both, body: {} })).status, 403)
  assert.equal((await app.call('GET', '/v1/tenants', { key: both })).status, 403)
})

const secret = 'hush-this-is-a-secret'

async function withoutSecret(call: Promise<Json>, status: number): Promise<Json> {
  const reply = await call
  assert.equal(reply.status, status, reply.text)
  assert.ok(!reply.text.includes(secret), reply.text)
  return reply.body
}

test('a key that writes subscribers does not see their credentials, not even in a stored answer', async () => {
  const path = '/v1/subscribers/ann/credentials'
  const body = { providerId: 'slack', credentials: { webhookUrl: `https://hooks.slack.com/${secret}` } }
  const headers = { 'idempotency-key': 'the-same-for-both' }
  await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'ann' } })
  const full = await app.call('PUT', path, { body, headers })
  assert.ok(full.text.includes(secret), full.text)
  const writer = key('subscribers:write')
  await withoutSecret(app.call('PUT', path, { key: writer, body, headers }), 200)
  await withoutSecret(app.call('POST', '/v2/subscribers', { key: writer, body: { subscriberId: 'ann' } }), 201)
  await withoutSecret(app.call('PATCH', '/v2/subscribers/ann', { key: writer, body: { firstName: 'Ada' } }), 200)
  const online = { key: writer, body: { isOnline: true } }
  await withoutSecret(app.call('PATCH', '/v1/subscribers/ann/online-status', online), 200)
})

test('a key that writes integrations sees no secrets and cannot send a hidden one elsewhere', async () => {
  const credentials = { accountSid: 'AC1', token: secret, from: '+14155550100' }
  const body = { providerId: 'twilio', channel: 'sms', active: true, credentials }
  const writer = key('integrations:write')
  const made = await withoutSecret(app.call('POST', '/v1/integrations', { key: writer, body }), 201)
  const path = `/v1/integrations/${made._id}`
  await withoutSecret(app.call('PUT', path, { key: writer, body: { name: 'Other' } }), 200)
  await withoutSecret(app.call('POST', `${path}/set-primary`, { key: writer }), 200)
  const elsewhere = { credentials: { ...credentials, token: '[hidden]', baseUrl: 'https://example.org' } }
  await withoutSecret(app.call('PUT', path, { key: writer, body: elsewhere }), 422)
  assert.ok((await app.call('GET', path)).text.includes(secret), 'it is still there')
  await withoutSecret(app.call('DELETE', path, { key: writer }), 200)
})

test('a key that writes workflows sees no secrets of steps, and does not overwrite them with what stands in their place', async () => {
  const metadata = (header: string) => ({ type: 'http', url: 'https://example.com/hook', headers: { 'x-key': header } })
  const custom = (header: string) => ({ template: { type: 'custom' }, metadata: metadata(header) })
  const writer = key('workflows:write')
  const body = { name: 'Signed', steps: [custom(secret), inApp()] }
  const made = await withoutSecret(app.call('POST', '/v1/workflows', { key: writer, body }), 201)
  const path = `/v1/workflows/${made._id}`
  await withoutSecret(app.call('PATCH', path, { key: writer, body: { description: 'other' } }), 200)
  await withoutSecret(app.call('PUT', `${path}/status`, { key: writer, body: { active: true } }), 200)
  await withoutSecret(app.call('PATCH', `/v2/workflows/${made._id}`, { key: writer, body: { name: 'Other' } }), 200)
  const refused = await withoutSecret(app.call('PATCH', path, { key: writer, body: { steps: made.steps } }), 422)
  assert.deepEqual(Object.keys(refused.errors), ['steps.0'])
  assert.ok((await app.call('GET', path)).text.includes(secret), 'it is still there')
})
