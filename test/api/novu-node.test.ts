// Every method of the older public client @novu/node that is served: its requests, as its last version sends them. With
// the package installed in the folder NOVU_PACKAGES, the package sends them itself, and must send exactly these.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { nodeClientMethods, nodeExceptionOf } from '../../scripts/node-client-methods.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { inApp } from '../support/workflow-scene.ts'

const folder = process.env['NOVU_PACKAGES'] ?? ''
const isInstalled = existsSync(join(folder, 'node_modules/@novu/node'))

let app: TestApp
let address = ''
let novu: Json
/** What the package sent last. */
let sent: Json
/** Ids that one call makes and another needs. */
const ids: Record<string, string> = {}
const idOf = (name: string): string => ids[name] ?? assert.fail(`${name} was not made`)

before(async () => {
  app = await createTestApp()
  await app.call('POST', '/v1/layouts', { body: { name: 'Other', identifier: 'other', content: '{{{body}}}' } })
  address = await app.app.listen({ port: 0, host: '127.0.0.1' })
  if (!isInstalled) return
  const { Novu } = createRequire(join(folder, 'package.json'))('@novu/node')
  novu = new Novu(app.developmentKey, { backendUrl: address })
  novu.http.interceptors.request.use((config: Json) => {
    sent = { verb: config.method.toUpperCase(), url: novu.http.getUri(config), body: config.data }
    return config
  })
})
after(() => app.close())

interface Method {
  /** What a caller gives the method. */
  readonly args: readonly unknown[]
  /** What it sends: the path with its query, and the body. */
  readonly path: string
  readonly body?: object
  /** Instead of that of Development. */
  readonly key?: string
  /** Keeps ids of the answer for later calls. */
  readonly keep?: (answer: Json) => Promise<void> | void
}

type Methods = Readonly<Record<string, () => Method>>

const at =
  (name: string) =>
  (answer: Json): void => {
    ids[name] = answer._id
  }
const ada = '/v1/subscribers/ada'
const template = { name: 'Orders', active: true, steps: [inApp()] }
const credentials = { apiKey: 'SG.x', from: 'a@example.com', senderName: 'A' }
const account = { channel: 'email', name: 'Mail', active: true, credentials }
const workflows: Methods = {
  'notificationGroups.create': () => ({
    args: ['Shop'],
    path: '/v1/notification-groups',
    body: { name: 'Shop' },
    keep: at('group'),
  }),
  'notificationGroups.get': () => ({ args: [], path: '/v1/notification-groups' }),
  'notificationGroups.getOne': () => ({ args: [idOf('group')], path: `/v1/notification-groups/${idOf('group')}` }),
  'notificationGroups.update': () => ({
    args: [idOf('group'), { name: 'Store' }],
    path: `/v1/notification-groups/${idOf('group')}`,
    body: { name: 'Store' },
  }),
  'notificationTemplates.create': () => {
    const body = { ...template, notificationGroupId: idOf('group') }
    const keep = (answer: Json) => {
      Object.assign(ids, { workflow: answer._id, trigger: answer.triggers[0].identifier })
    }
    return { args: [body], path: '/v1/notification-templates', body, keep }
  },
  'notificationTemplates.getAll': () => ({ args: [], path: '/v1/notification-templates?page=0&limit=10' }),
  'notificationTemplates.getOne': () => ({
    args: [idOf('workflow')],
    path: `/v1/notification-templates/${idOf('workflow')}`,
  }),
  'notificationTemplates.update': () => {
    const body = { ...template, description: 'Of the shop', notificationGroupId: idOf('group') }
    return { args: [idOf('workflow'), body], path: `/v1/notification-templates/${idOf('workflow')}`, body }
  },
  'notificationTemplates.updateStatus': () => ({
    args: [idOf('workflow'), true],
    path: `/v1/notification-templates/${idOf('workflow')}/status`,
    body: { active: true },
  }),
}

const people: Methods = {
  'subscribers.identify': () => ({
    args: ['ada', { firstName: 'Ada' }],
    path: '/v1/subscribers',
    body: { subscriberId: 'ada', firstName: 'Ada' },
  }),
  'subscribers.bulkCreate': () => {
    const body = { subscribers: [{ subscriberId: 'bob' }] }
    return { args: [body.subscribers], path: '/v1/subscribers/bulk', body }
  },
  'subscribers.list': () => ({ args: [], path: '/v1/subscribers?page=0&limit=10' }),
  'subscribers.get': () => ({ args: ['ada'], path: ada }),
  'subscribers.update': () => ({ args: ['ada', { lastName: 'L' }], path: ada, body: { lastName: 'L' } }),
  'subscribers.setCredentials': () => {
    const body = { providerId: 'fcm', credentials: { deviceTokens: ['t1'] } }
    return { args: ['ada', 'fcm', body.credentials], path: `${ada}/credentials`, body }
  },
  'subscribers.unsetCredentials': () => {
    const body = { providerId: 'fcm', credentials: { deviceTokens: [] } }
    return { args: ['ada', 'fcm'], path: `${ada}/credentials`, body }
  },
  'subscribers.deleteCredentials': () => ({ args: ['ada', 'fcm'], path: `${ada}/credentials/fcm` }),
  'subscribers.updateOnlineStatus': () => ({
    args: ['ada', true],
    path: `${ada}/online-status`,
    body: { online: true },
  }),
  'subscribers.getPreference': () => ({ args: ['ada'], path: `${ada}/preferences` }),
  'subscribers.getGlobalPreference': () => ({ args: ['ada'], path: `${ada}/preferences/global` }),
  'subscribers.getPreferenceByLevel': () => ({ args: ['ada', 'template'], path: `${ada}/preferences/template` }),
  'subscribers.updatePreference': () => {
    const body = { channel: { type: 'in_app', enabled: true } }
    return { args: ['ada', idOf('workflow'), body], path: `${ada}/preferences/${idOf('workflow')}`, body }
  },
  'subscribers.updateGlobalPreference': () => {
    const body = { enabled: true, preferences: [{ type: 'email', enabled: false }] }
    return { args: ['ada', body], path: `${ada}/preferences`, body }
  },
}

const events: Methods = {
  'events.trigger': () => {
    const body = { name: idOf('trigger'), to: 'ada', payload: { id: 7 }, transactionId: 'order-7', overrides: {} }
    const { name, ...data } = body
    const keep = async () => {
      await app.pipeline.work()
      const [message] = (await app.call('GET', '/v1/messages')).body.data
      Object.assign(ids, { message: message._id, notification: message._notificationId })
    }
    return { args: [name, data], path: '/v1/events/trigger', body, keep }
  },
  'events.bulkTrigger': () => {
    const body = { events: [{ name: idOf('trigger'), to: 'bob', transactionId: 'order-8' }] }
    return { args: [body.events], path: '/v1/events/trigger/bulk', body, keep: work }
  },
  'events.broadcast': () => {
    const body = { name: idOf('trigger'), payload: {}, transactionId: 'order-9', overrides: {} }
    return { args: [body.name, { transactionId: 'order-9' }], path: '/v1/events/trigger/broadcast', body }
  },
  'events.cancel': () => ({ args: ['order-9'], path: '/v1/events/trigger/order-9' }),
  'executionDetails.get': () => ({
    args: [{ notificationId: idOf('notification'), subscriberId: 'ada' }],
    path: `/v1/execution-details?notificationId=${idOf('notification')}&subscriberId=ada`,
    keep: (details) => assert.ok(details.length > 1 && details.every((one: Json) => one.status !== undefined)),
  }),
  'subscribers.getNotificationsFeed': () => ({
    args: ['ada', { payload: { id: 7 }, page: 0, limit: 5 }],
    path: `${ada}/notifications/feed?payload=${Buffer.from('{"id":7}').toString('base64')}&page=0&limit=5`,
    keep: ({ data }) => assert.equal(data.length, 1),
  }),
  'subscribers.getUnseenCount': () => ({ args: ['ada', false], path: `${ada}/notifications/unseen?seen=false` }),
  'subscribers.markMessageSeen': () => marked({ seen: true }),
  'subscribers.markMessageRead': () => marked({ read: true }),
  'subscribers.markMessageAs': () => {
    const mark = { seen: true, read: true }
    return { ...marked(mark), args: ['ada', idOf('message'), mark] }
  },
  'subscribers.markAllMessagesAs': () => ({
    args: ['ada', 'read'],
    path: `${ada}/messages/mark-all`,
    body: { markAs: 'read' },
  }),
  'subscribers.markMessageActionSeen': () => ({
    args: ['ada', idOf('message'), 'primary', { status: 'done' }],
    path: `${ada}/messages/${idOf('message')}/actions/primary`,
    body: { status: 'done' },
  }),
}

const messages: Methods = {
  'messages.list': () => ({
    args: [{ subscriberId: 'ada', channel: 'in_app', limit: 5, transactionIds: ['order-7'] }],
    path: '/v1/messages?limit=5&subscriberId=ada&channel=in_app&transactionId[]=order-7',
    keep: ({ data }) => assert.equal(data.length, 1),
  }),
  'messages.deleteById': () => ({ args: [idOf('message')], path: `/v1/messages/${idOf('message')}` }),
  'messages.deleteByTransactionId': () => ({ args: ['order-8'], path: '/v1/messages/transaction/order-8' }),
}

const topics: Methods = {
  'topics.create': () => {
    const body = { key: 'news', name: 'News' }
    return { args: [body], path: '/v1/topics', body }
  },
  'topics.addSubscribers': () => {
    const body = { subscribers: ['ada', 'nix'] }
    const keep = (answer: Json) => assert.deepEqual(answer, { succeeded: ['ada'], failed: { notFound: ['nix'] } })
    return { args: ['news', body], path: '/v1/topics/news/subscribers', body, keep }
  },
  'topics.getSubscriber': () => ({ args: ['news', 'ada'], path: '/v1/topics/news/subscribers/ada' }),
  'topics.checkSubscriber': () => ({ args: ['news', 'ada'], path: '/v1/topics/news/subscribers/ada' }),
  'topics.list': () => ({
    args: [{ page: 0, pageSize: 5, key: 'news' }],
    path: '/v1/topics?page=0&pageSize=5&key=news',
    keep: ({ data, totalCount }) => assert.deepEqual([data[0].key, totalCount], ['news', 1]),
  }),
  'topics.get': () => ({ args: ['news'], path: '/v1/topics/news' }),
  'topics.rename': () => ({ args: ['news', 'All news'], path: '/v1/topics/news', body: { name: 'All news' } }),
  'topics.removeSubscribers': () => {
    const body = { subscribers: ['ada', 'nix'] }
    return { args: ['news', body], path: '/v1/topics/news/subscribers/removal', body }
  },
  'topics.delete': () => ({ args: ['news'], path: '/v1/topics/news' }),
}

const work = async (): Promise<void> => {
  await app.pipeline.work()
}

const marked = (mark: object): Method => ({
  args: ['ada', idOf('message')],
  path: `${ada}/messages/markAs`,
  body: { messageId: idOf('message'), mark },
})

const integrations: Methods = {
  'integrations.create': () => ({
    args: ['sendgrid', account],
    path: '/v1/integrations',
    body: { providerId: 'sendgrid', ...account },
    keep: at('integration'),
  }),
  'integrations.getAll': () => ({ args: [], path: '/v1/integrations' }),
  'integrations.getActive': () => ({ args: [], path: '/v1/integrations/active' }),
  'integrations.getInAppStatus': () => ({
    args: [],
    path: '/v1/integrations/in-app/status',
    keep: (answer) => assert.deepEqual(answer, { active: true }),
  }),
  'integrations.getWebhookProviderStatus': () => ({
    args: ['sendgrid'],
    path: '/v1/integrations/webhook/provider/sendgrid/status',
    keep: (answer) => assert.equal(answer, true),
  }),
  'integrations.update': () => ({
    args: [idOf('integration'), { name: 'Post' }],
    path: `/v1/integrations/${idOf('integration')}`,
    body: { name: 'Post' },
  }),
  'integrations.setIntegrationAsPrimary': () => ({
    args: [idOf('integration')],
    path: `/v1/integrations/${idOf('integration')}/set-primary`,
    body: {},
  }),
  'integrations.delete': () => ({ args: [idOf('integration')], path: `/v1/integrations/${idOf('integration')}` }),
}

const feedsAndLayouts: Methods = {
  'feeds.create': () => ({ args: ['Shop'], path: '/v1/feeds', body: { name: 'Shop' }, keep: at('feed') }),
  'feeds.get': () => ({ args: [], path: '/v1/feeds' }),
  'feeds.delete': () => ({ args: [idOf('feed')], path: `/v1/feeds/${idOf('feed')}` }),
  'layouts.create': () => {
    const body = { name: 'Frame', identifier: 'frame', description: 'All', content: '<main>{{{body}}}</main>' }
    return { args: [body], path: '/v1/layouts', body, keep: at('layout') }
  },
  'layouts.list': () => ({
    args: [{ page: 0, pageSize: 5 }],
    path: '/v1/layouts?page=0&pageSize=5',
    keep: ({ pageSize }) => assert.equal(pageSize, 5),
  }),
  'layouts.get': () => ({ args: ['frame'], path: '/v1/layouts?layoutId=frame' }),
  'layouts.update': () => ({
    args: [idOf('layout'), { name: 'Edge' }],
    path: `/v1/layouts/${idOf('layout')}`,
    body: { name: 'Edge' },
  }),
  'layouts.delete': () => ({ args: [idOf('layout')], path: `/v1/layouts/${idOf('layout')}` }),
  'layouts.setDefault': () => ({ args: ['other'], path: '/v1/layouts/other/default' }),
}

const tenants: Methods = {
  'tenants.create': () => ({
    args: ['acme', { name: 'Acme' }],
    path: '/v1/tenants',
    body: { identifier: 'acme', name: 'Acme' },
    keep: at('tenant'),
  }),
  'tenants.update': () => ({ args: ['acme', { name: 'A' }], path: '/v1/tenants/acme', body: { name: 'A' } }),
  'tenants.list': () => ({ args: [{ page: 0, limit: 5 }], path: '/v1/tenants?page=0&limit=5' }),
  'tenants.get': () => ({ args: ['acme'], path: '/v1/tenants/acme' }),
  'workflowOverrides.create': () => {
    const body = { workflowId: idOf('workflow'), tenantId: idOf('tenant'), active: true }
    return { args: [body], path: '/v1/workflow-overrides', body, keep: at('override') }
  },
  'workflowOverrides.getOneById': () => ({
    args: [idOf('override')],
    path: `/v1/workflow-overrides/${idOf('override')}`,
  }),
  'workflowOverrides.updateOneById': () => ({
    args: [idOf('override'), { active: false }],
    path: `/v1/workflow-overrides/${idOf('override')}`,
    body: { active: false },
  }),
  'workflowOverrides.list': () => ({ args: [], path: '/v1/workflow-overrides?page=0&limit=10' }),
  'workflowOverrides.getOneByTenantIdandWorkflowId': () => ({
    args: [idOf('workflow'), idOf('tenant')],
    path: `/v1/workflow-overrides/workflows/${idOf('workflow')}/tenants/${idOf('tenant')}`,
  }),
  'workflowOverrides.updateOneByTenantIdandWorkflowId': () => ({
    args: [idOf('workflow'), idOf('tenant'), { active: true }],
    path: `/v1/workflow-overrides/workflows/${idOf('workflow')}/tenants/${idOf('tenant')}`,
    body: { active: true },
  }),
  'workflowOverrides.delete': () => ({
    args: [idOf('override')],
    path: `/v1/workflow-overrides/${idOf('override')}`,
  }),
  'tenants.delete': () => ({ args: ['acme'], path: '/v1/tenants/acme' }),
}

const environments: Methods = {
  'environments.getCurrent': () => ({ args: [], path: '/v1/environments/me' }),
  'environments.create': () => ({
    args: [{ name: 'Staging' }],
    path: '/v1/environments',
    body: { name: 'Staging' },
    keep: ({ _id, apiKeys }) => {
      Object.assign(ids, { environment: _id, environmentKey: apiKeys[0].key })
    },
  }),
  'environments.updateOne': () => ({
    args: [idOf('environment'), { name: 'Preview' }],
    path: `/v1/environments/${idOf('environment')}`,
    body: { name: 'Preview' },
    key: idOf('environmentKey'),
  }),
  'environments.getAll': () => ({ args: [], path: '/v1/environments' }),
  'environments.getApiKeys': () => ({ args: [], path: '/v1/environments/api-keys' }),
  'notificationTemplates.delete': () => ({
    args: [idOf('workflow')],
    path: `/v1/notification-templates/${idOf('workflow')}`,
  }),
  'notificationGroups.delete': () => ({ args: [idOf('group')], path: `/v1/notification-groups/${idOf('group')}` }),
  'subscribers.delete': () => ({ args: ['ada'], path: ada }),
}

/** In this order: later calls need what earlier ones made. */
const calls: Methods = {
  ...{ ...workflows, ...people, ...events, ...messages, ...topics },
  ...{ ...integrations, ...feedsAndLayouts, ...tenants, ...environments },
}

test('each method is called here or is an exception with a reason', () => {
  const served = nodeClientMethods.filter(({ name }) => nodeExceptionOf(name) === undefined).map(({ name }) => name)
  assert.deepEqual(Object.keys(calls).sort(), served.sort())
})

async function byPackage(name: string, { args, key = app.developmentKey }: Method): Promise<Json> {
  const [group = '', method = ''] = name.split('.')
  novu.http.defaults.headers.Authorization = `ApiKey ${key}`
  return (await novu[group][method](...args)).data
}

async function byRequest(verb: string, { path, body, key = app.developmentKey }: Method): Promise<Json> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) }
  // As axios does: a call without a body names a form.
  const type = body === undefined ? 'application/x-www-form-urlencoded' : 'application/json'
  const headers = { authorization: `ApiKey ${key}`, ...(verb === 'GET' ? {} : { 'content-type': type }) }
  const reply = await fetch(`${address}${path}`, { method: verb, headers, ...init })
  const text = await reply.text()
  assert.ok(reply.ok, `${verb} ${path}: ${reply.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

for (const [name, methodOf] of Object.entries(calls)) {
  test(`${name} is answered${isInstalled ? ', sent by the package itself' : ''}`, async () => {
    const { verb, path } = nodeClientMethods.find((one) => one.name === name) ?? assert.fail(`${name} is not listed`)
    const method = methodOf()
    assert.match(method.path, new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`))
    const answer = isInstalled ? await byPackage(name, method) : await byRequest(verb, method)
    if (isInstalled) {
      const given = sent.body === undefined ? undefined : JSON.parse(JSON.stringify(sent.body))
      const url = decodeURIComponent(sent.url.replace(address, '')).replace(/^\/v1integrations/, '/v1/integrations')
      assert.deepEqual([sent.verb, url, given], [verb, decodeURIComponent(method.path), method.body])
    }
    await method.keep?.(answer)
  })
}
