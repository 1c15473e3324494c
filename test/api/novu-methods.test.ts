// Every method of the public client @novu/api that is served, called as published: its own models parse each answer.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Novu } from '@novu/api'
import { HTTPClient } from '@novu/api/lib/http.js'
import type { ClientMethod } from '../../scripts/client-methods.ts'
import { clientMethods, exceptionOf, staleExceptions } from '../../scripts/client-methods.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
let novu: Novu
let sent: { verb: string; path: string; status: number }[] = []
/** Ids that one call makes and another needs. */
const ids: Record<string, string> = {}

before(async () => {
  app = await createTestApp({ vendor: 'novu' })
  const serverURL = await app.app.listen({ port: 0, host: '127.0.0.1' })
  const fetcher: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const reply = await fetch(request)
    sent.push({ verb: request.method, path: new URL(request.url).pathname, status: reply.status })
    return reply
  }
  const httpClient = new HTTPClient({ fetcher })
  novu = new Novu({ secretKey: app.developmentKey, serverURL, httpClient, retryConfig: { strategy: 'none' } })
  await app.call('POST', '/v2/subscribers', { body: { subscriberId } })
})
after(() => app.close())

const subscriberId = 'ada'
const idOf = (name: string): string => ids[name] ?? assert.fail(`${name} was not made`)
const one = () => ({ subscriberId, notificationId: idOf('notification') })
const resource = { resourceType: 'workflow', resourceId: 'orders' } as const
const controlValues = { body: 'Hello', primaryAction: { label: 'Yes', redirect: { url: '/x' } } } as const
const bell = { name: 'Bell', type: 'in_app', controlValues } as const
const inFuture = (): Date => new Date(app.world.now().getTime() + 60_000)

type Calls = Readonly<Record<string, () => Promise<unknown>>>

const peopleAndEvents: Calls = {
  'workflows.create': () =>
    novu.workflows.create({ name: 'Orders', workflowId: 'orders', active: true, steps: [bell] }),
  'workflows.get': async () => {
    const { result } = await novu.workflows.get('orders')
    Object.assign(ids, { workflow: result.id, step: result.steps[0]?.id })
  },
  'workflows.list': () => novu.workflows.list({}),
  'workflows.update': () =>
    novu.workflows.update({ name: 'Orders', steps: [bell], preferences: { user: null }, active: true }, 'orders'),
  'workflows.patch': () => novu.workflows.patch({ tags: ['shop'] }, 'orders'),
  'workflows.steps.retrieve': () => novu.workflows.steps.retrieve('orders', 'bell'),
  'workflows.steps.generatePreview': () =>
    novu.workflows.steps.generatePreview({ workflowId: 'orders', stepId: 'bell', generatePreviewRequestDto: {} }),
  'subscribers.create': () => novu.subscribers.create({ subscriberId: 'grace', email: 'grace@example.com' }),
  'subscribers.createBulk': () => novu.subscribers.createBulk({ subscribers: [{ subscriberId: 'bob' }] }),
  'subscribers.patch': () => novu.subscribers.patch({ firstName: 'Grace' }, 'grace'),
  'subscribers.retrieve': () => novu.subscribers.retrieve('grace'),
  'subscribers.search': () => novu.subscribers.search({ email: 'grace@', limit: 5 }),
  'subscribers.credentials.update': () =>
    novu.subscribers.credentials.update({ providerId: 'fcm', credentials: { deviceTokens: ['t1'] } }, 'grace'),
  'subscribers.credentials.append': () =>
    novu.subscribers.credentials.append({ providerId: 'fcm', credentials: { deviceTokens: ['t2'] } }, 'grace'),
  'subscribers.credentials.delete': () => novu.subscribers.credentials.delete('grace', 'fcm'),
  'subscribers.properties.updateOnlineFlag': () =>
    novu.subscribers.properties.updateOnlineFlag({ isOnline: true }, 'grace'),
  'subscribers.preferences.list': () => novu.subscribers.preferences.list({ subscriberId }),
  'subscribers.preferences.update': () =>
    novu.subscribers.preferences.update({ channels: { email: false } }, subscriberId),
  'subscribers.preferences.bulkUpdate': () => {
    const preferences = [{ workflowId: 'orders', channels: { inApp: true } }]
    return novu.subscribers.preferences.bulkUpdate({ preferences }, subscriberId)
  },
  trigger: async () => {
    for (const transactionId of ['first', 'second']) {
      await novu.trigger({ workflowId: 'orders', to: subscriberId, transactionId })
    }
    await app.pipeline.work()
    const [second, first] = (await app.call('GET', '/v1/messages')).body.data
    Object.assign(ids, { notification: first._id, second: second._id, event: first._notificationId })
  },
  triggerBulk: () => novu.triggerBulk({ events: [{ workflowId: 'orders', to: 'grace' }] }),
  triggerBroadcast: () => novu.triggerBroadcast({ name: 'orders', payload: {} }),
  cancel: () => novu.cancel('first'),
  'notifications.list': () => novu.notifications.list({}),
  'notifications.retrieve': () => novu.notifications.retrieve(idOf('event')),
  'subscribers.notifications.feed': () => novu.subscribers.notifications.feed({ subscriberId }),
  'subscribers.notifications.unseenCount': () => novu.subscribers.notifications.unseenCount({ subscriberId }),
  'subscribers.notifications.list': () => novu.subscribers.notifications.list({ subscriberId }),
  'subscribers.notifications.count': () => novu.subscribers.notifications.count(subscriberId, '[{"read":false}]'),
  'subscribers.notifications.markAsRead': () => novu.subscribers.notifications.markAsRead(one()),
  'subscribers.notifications.markAsUnread': () => novu.subscribers.notifications.markAsUnread(one()),
  'subscribers.notifications.archive': () => novu.subscribers.notifications.archive(one()),
  'subscribers.notifications.unarchive': () => novu.subscribers.notifications.unarchive(one()),
  'subscribers.notifications.snooze': () => {
    const snoozeSubscriberNotificationDto = { snoozeUntil: inFuture() }
    return novu.subscribers.notifications.snooze({ ...one(), snoozeSubscriberNotificationDto })
  },
  'subscribers.notifications.unsnooze': () => novu.subscribers.notifications.unsnooze(one()),
}

const notifications: Calls = {
  'subscribers.notifications.completeAction': () =>
    novu.subscribers.notifications.completeAction({ ...one(), actionType: 'primary' }),
  'subscribers.notifications.revertAction': () =>
    novu.subscribers.notifications.revertAction({ ...one(), actionType: 'primary' }),
  'subscribers.notifications.markAsSeen': () =>
    novu.subscribers.notifications.markAsSeen({ notificationIds: [idOf('second')] }, subscriberId),
  'subscribers.notifications.markAllAsRead': () => novu.subscribers.notifications.markAllAsRead({}, subscriberId),
  'subscribers.notifications.archiveAll': () => novu.subscribers.notifications.archiveAll({}, subscriberId),
  'subscribers.notifications.archiveAllRead': () => novu.subscribers.notifications.archiveAllRead({}, subscriberId),
  'subscribers.messages.markAllAs': () =>
    novu.subscribers.messages.markAllAs({ messageId: idOf('notification'), markAs: 'seen' }, subscriberId),
  'subscribers.messages.markAll': () => novu.subscribers.messages.markAll({ markAs: 'read' }, subscriberId),
  'subscribers.messages.updateAsSeen': () => {
    const markMessageActionAsSeenDto = { status: 'done' } as const
    const messageId = idOf('notification')
    return novu.subscribers.messages.updateAsSeen({
      subscriberId,
      messageId,
      type: 'primary',
      markMessageActionAsSeenDto,
    })
  },
  'messages.retrieve': () => novu.messages.retrieve({ subscriberId }),
  'subscribers.notifications.delete': () =>
    novu.subscribers.notifications.delete({ subscriberId, notificationId: idOf('second') }),
  'messages.delete': () => novu.messages.delete(idOf('notification')),
  'messages.deleteByTransactionId': async () => {
    await novu.trigger({ workflowId: 'orders', to: 'grace', transactionId: 'deleted' })
    await app.pipeline.work()
    return novu.messages.deleteByTransactionId('deleted', 'in_app')
  },
  'subscribers.notifications.deleteAll': () => novu.subscribers.notifications.deleteAll({}, subscriberId),
  'topics.create': () => novu.topics.create({ key: 'news', name: 'News' }),
  'topics.get': () => novu.topics.get('news'),
  'topics.list': () => novu.topics.list({}),
  'topics.update': () => novu.topics.update({ name: 'All news' }, 'news'),
  'topics.subscriptions.create': () =>
    novu.topics.subscriptions.create({ subscriptions: [{ subscriberId, identifier: 'own' }, 'bob'] }, 'news'),
  'topics.subscriptions.list': () => novu.topics.subscriptions.list({ topicKey: 'news' }),
  'topics.subscriptions.getSubscription': () => novu.topics.subscriptions.getSubscription('news', 'own'),
  'topics.subscriptions.update': () =>
    novu.topics.subscriptions.update({
      topicKey: 'news',
      identifier: 'tk_news:si_bob',
      updateTopicSubscriptionRequestDto: { name: 'Mine' },
    }),
  'topics.subscribers.retrieve': () => novu.topics.subscribers.retrieve(subscriberId, 'news'),
  'subscribers.topics.list': () => novu.subscribers.topics.list({ subscriberId }),
  'topics.subscriptions.delete': () => novu.topics.subscriptions.delete({ subscriptions: [subscriberId] }, 'news'),
  'topics.delete': () => novu.topics.delete('news'),
  'integrations.create': async () => {
    const credentials = { apiKey: 'SG.x', from: 'a@example.com', senderName: 'A' }
    const account = { providerId: 'sendgrid', channel: 'email', name: 'Mail', active: true, credentials } as const
    ids['integration'] = (await novu.integrations.create(account)).result.id ?? ''
  },
  'integrations.update': () => novu.integrations.update({ name: 'Post' }, idOf('integration')),
  'integrations.list': () => novu.integrations.list(),
  'integrations.listActive': () => novu.integrations.listActive(),
}

const topicsAndAccounts: Calls = {
  'integrations.setAsPrimary': () => novu.integrations.setAsPrimary(idOf('integration')),
  'integrations.delete': () => novu.integrations.delete(idOf('integration')),
  'layouts.create': () => novu.layouts.create({ layoutId: 'frame', name: 'Frame' }),
  'layouts.update': () => {
    const email = { body: '<main>{{content}}</main>', editorType: 'html' } as const
    return novu.layouts.update({ name: 'Frame', controlValues: { email } }, 'frame')
  },
  'layouts.retrieve': () => novu.layouts.retrieve('frame'),
  'layouts.list': () => novu.layouts.list({}),
  'layouts.generatePreview': async () => {
    const { result } = await novu.layouts.generatePreview({}, 'frame')
    assert.match(result.result.preview?.body ?? '', /<main><p>/)
  },
  'layouts.usage': () => novu.layouts.usage('frame'),
  'layouts.duplicate': () => novu.layouts.duplicate({ name: 'Twin', layoutId: 'twin' }, 'frame'),
  'layouts.delete': () => novu.layouts.delete('twin'),
  'translations.create': () =>
    novu.translations.create({ ...resource, locale: 'en', content: { title: 'Order {{ payload.id }}' } }),
  'translations.retrieve': () => novu.translations.retrieve({ ...resource, locale: 'en' }),
  'translations.groups.retrieve': () => novu.translations.groups.retrieve('workflow', 'orders'),
  'translations.master.import': () =>
    novu.translations.master.import({ locale: 'de', masterJson: { workflows: { orders: { title: 'B' } } } }),
  'translations.master.retrieve': () => novu.translations.master.retrieve('de'),
  'translations.delete': () => novu.translations.delete({ ...resource, locale: 'en' }),
  'translations.groups.delete': () => novu.translations.groups.delete('workflow', 'orders'),
  'contexts.create': () => novu.contexts.create({ type: 'app', id: 'web', data: { plan: 'team' } }),
  'contexts.retrieve': () => novu.contexts.retrieve('web', 'app'),
  'contexts.update': () =>
    novu.contexts.update({ id: 'web', type: 'app', updateContextRequestDto: { data: { plan: 'solo' } } }),
  'contexts.list': () => novu.contexts.list({}),
  'contexts.delete': () => novu.contexts.delete('web', 'app'),
  'environments.create': async () => {
    const { result } = await novu.environments.create({ name: 'Staging', color: '#ff8800' })
    Object.assign(ids, { environment: result.id, key: result.apiKeys?.[0]?.key })
  },
  'environments.list': () => novu.environments.list(),
  'environments.getTags': async () => {
    const [own] = (await novu.environments.list()).result
    const { result } = await novu.environments.getTags(own?.id ?? '')
    assert.ok(result.some(({ name }) => name === 'shop'))
  },
  'environments.update': () => another().environments.update({ name: 'Preview' }, idOf('environment')),
  'environments.delete': () => another().environments.delete(idOf('environment')),
  'subscribers.delete': () => novu.subscribers.delete('bob'),
  'workflows.delete': () => novu.workflows.delete('orders'),
}

const variables: Calls = {
  'environmentVariables.create': async () => {
    const [own] = (await novu.environments.list()).result
    const values = [{ environmentId: own?.id ?? '', value: 'https://shop.example' }]
    const { result } = await novu.environmentVariables.create({ key: 'SHOP_URL', values })
    assert.equal(result.values[0]?.value, 'https://shop.example')
  },
  'environmentVariables.retrieve': () => novu.environmentVariables.retrieve('SHOP_URL'),
  'environmentVariables.list': () => novu.environmentVariables.list('SHOP'),
  'environmentVariables.update': () => novu.environmentVariables.update({ isSecret: true }, 'SHOP_URL'),
  'environmentVariables.usage': () => novu.environmentVariables.usage('SHOP_URL'),
  'environmentVariables.delete': () => novu.environmentVariables.delete('SHOP_URL'),
}

/** In this order: later calls need what earlier ones made. */
const calls: Calls = { ...peopleAndEvents, ...notifications, ...topicsAndAccounts, ...variables }

/** With the key of the environment that was made. */
const another = (): Novu => new Novu({ ...novu._options, secretKey: idOf('key') })

const methods = clientMethods()
const answers = ({ verb, path }: ClientMethod) => {
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
  return (request: { verb: string; path: string }) => request.verb === verb && pattern.test(request.path)
}

test('each method is called here or is an exception with a reason, and no exception is stale', () => {
  const served = methods.filter(({ name }) => exceptionOf(name) === undefined).map(({ name }) => name)
  assert.deepEqual(Object.keys(calls).sort(), served)
  assert.deepEqual(staleExceptions(methods), [])
})

for (const [name, call] of Object.entries(calls)) {
  test(`${name} sends what its path says, and parses the answer`, async () => {
    const method = methods.find((one) => one.name === name) ?? assert.fail('there is no such method')
    sent = []
    await call()
    assert.ok(
      sent.some((request) => answers(method)(request) && request.status < 300),
      JSON.stringify(sent),
    )
  })
}
