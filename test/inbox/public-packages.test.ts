// The public packages @novu/js and @novu/headless, as published, in Node against a service over real HTTP and sockets.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { identifierOf } from '../support/inbox-scene.ts'
import { hasPackage, requirePackage, versionOf, withoutPackage } from '../support/public-packages.ts'
import { addressOf, until } from '../support/stream-scene.ts'

/** The newest under its own name; older ones as aliases, such as `npm install js266@npm:@novu/js@2.6.6`. */
const versionsOfJs = ['@novu/js', 'js266', 'js303', 'js381', 'js3120']
const versionsOfHeadless = ['@novu/headless', 'headless200', 'headless0242']

let app: TestApp
let scene: FlowScene
let address: string
let applicationIdentifier: string
let workflow: string
before(async () => {
  if ([...versionsOfJs, ...versionsOfHeadless].every((name) => !hasPackage(name))) return
  app = await createTestApp({ works: true })
  scene = new FlowScene(app)
  address = await addressOf(app)
  applicationIdentifier = await identifierOf(app)
  const buttons = [{ type: 'primary', content: 'Yes' }]
  const template = { type: 'in_app', subject: 'Order {{ payload.id }}', content: 'Sent', cta: { action: { buttons } } }
  workflow = await scene.workflow([{ template }], { tags: ['orders'] })
})
after(() => app?.close())

const say = (to: string, id: number) => scene.run(workflow, to, { payload: { id } })

async function answered(call: Promise<{ data?: Json; error?: Json }>): Promise<Json> {
  const { data, error } = await call
  assert.equal(error, undefined, `${error?.message} ${error?.originalError?.message}`)
  return data
}

async function useJs(name: string): Promise<void> {
  const { Novu } = requirePackage(name)
  const subscriberId = `reader-of-${name.replace('@novu/', '')}`
  await say(subscriberId, 1)
  const places = { apiUrl: address, backendUrl: address, socketUrl: address }
  const novu: Json = new Novu({ applicationIdentifier, subscriberId, ...places })
  const count = async (filter: object): Promise<number> =>
    (await answered(novu.notifications.count({ filters: [filter] }))).counts[0].count
  const received: string[] = []
  const counts: number[] = []
  novu.on('notifications.notification_received', ({ result }: Json) => received.push(result.subject))
  novu.on('notifications.unread_count_changed', ({ result }: Json) => counts.push(result.total ?? result))
  const [item] = (await answered(novu.notifications.list({ limit: 10 }))).notifications
  assert.deepEqual([item.subject, item.isRead, item.primaryAction.label], ['Order 1', false, 'Yes'])
  assert.equal(await count({ read: false }), 1)
  assert.equal(await count({ tags: ['orders'], read: false }), 1)
  assert.equal((await answered(item.read())).isRead, true)
  assert.equal((await answered(item.unread())).isRead, false)
  assert.equal((await answered(item.completePrimary())).primaryAction.isCompleted, true)
  assert.equal((await answered(item.archive())).isArchived, true)
  assert.equal(await count({ archived: true }), 1)
  // The socket follows the session; what comes before it stands is replayed.
  await until(() => counts.length > 0)
  await say(subscriberId, 2)
  await until(() => received.length === 1)
  assert.deepEqual(received, ['Order 2'])
  await answered(novu.notifications.readAll())
  assert.equal(await count({ read: false }), 0)
  const preferences: Json[] = await answered(novu.preferences.list())
  const own = preferences.find(({ level }) => level === 'template')
  const changed = { channels: { in_app: false }, channelPreferences: { in_app: false } }
  assert.equal((await answered(own?.update(changed))).channels.in_app, false)
  const socket = novu.socket ?? novu._socket
  await socket?.disconnect?.()
}

for (const name of versionsOfJs) {
  const title = hasPackage(name) ? versionOf(name) : name
  test(`${title}: session, list, counts, marks, button, preferences and events`, { skip: withoutPackage(name) }, () =>
    useJs(name),
  )
}

async function useHeadless(name: string): Promise<void> {
  const { HeadlessService } = requirePackage(name)
  const subscriberId = `reader-of-${name.replace('@novu/', '')}`
  await say(subscriberId, 1)
  await say(subscriberId, 2)
  const service: Json = new HeadlessService({
    ...{ applicationIdentifier, subscriberId, backendUrl: address, socketUrl: address },
    config: { retry: 0 },
  })
  /** What a call comes to; a fetch also stays subscribed until it is let go. */
  const ask = (method: string, args: object = {}): Promise<Json> =>
    new Promise((resolve, reject) => {
      const listeners = { listener: () => {}, onSuccess: resolve, onError: reject }
      service[method]({ ...args, ...listeners })
    })
  await ask('initializeSession')
  const heard: Record<string, Json[]> = { message: [], unseen: [], unread: [] }
  service.listenNotificationReceive({ listener: (message: Json) => heard['message']?.push(message.subject) })
  service.listenUnseenCountChange({ listener: (count: number) => heard['unseen']?.push(count) })
  service.listenUnreadCountChange({ listener: (count: number) => heard['unread']?.push(count) })
  const feed = (await ask('fetchNotifications', { page: 0 })).data
  assert.deepEqual(
    feed.map(({ subject }: Json) => subject),
    ['Order 2', 'Order 1'],
  )
  assert.equal((await ask('fetchUnseenCount')).count, 2)
  assert.equal((await ask('fetchUnreadCount')).count, 2)
  assert.equal((await ask('markNotificationsAsRead', { messageId: feed[0]._id }))[0].read, true)
  assert.equal((await ask('markNotificationsAsSeen', { messageId: [feed[1]._id] }))[0].seen, true)
  const button = { messageId: feed[1]._id, actionButtonType: 'primary', status: 'done' }
  assert.equal((await ask('updateAction', button)).cta.action.status, 'done')
  await until(() => (heard['unread']?.length ?? 0) > 0)
  await say(subscriberId, 3)
  await until(() => heard['message']?.length === 1 && heard['unseen']?.at(-1) === 1)
  assert.deepEqual([heard['message'], heard['unread']?.at(-1)], [['Order 3'], 2])
  assert.equal(await ask('markAllMessagesAsSeen'), 1)
  assert.equal(await ask('markAllMessagesAsRead'), 2)
  const [preference] = await ask('fetchUserPreferences')
  const change = { templateId: preference.template._id, channelType: 'in_app', checked: false }
  assert.equal((await ask('updateUserPreferences', change)).preference.channels.in_app, false)
  const all = { preferences: [{ channelType: 'sms', enabled: false }] }
  assert.equal((await ask('updateUserGlobalPreferences', all)).preference.channels.sms, false)
  await ask('removeNotification', { messageId: feed[0]._id })
  await ask('removeAllNotifications')
  assert.deepEqual((await ask('fetchNotifications', { page: 0, storeId: 'again' })).data, [])
  service.socket.disconnect()
}

for (const name of versionsOfHeadless) {
  const title = hasPackage(name) ? versionOf(name) : name
  const what = 'session, feed, counts, marks, button, preferences and three events'
  test(`${title}: ${what}`, { skip: withoutPackage(name) }, () => useHeadless(name))
}
