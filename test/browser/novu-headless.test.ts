// The public package @novu/headless, unchanged, in a real browser: a page of another origin that has its own interface.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { Browser, chromium } from '../support/browser.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { hmac, identifierOf } from '../support/inbox-scene.ts'
import { bundled, PackagePage } from '../support/package-page.ts'
import { hasPackage, withoutPackage } from '../support/public-packages.ts'
import { addressOf } from '../support/stream-scene.ts'

const name = '@novu/headless'
const skip = chromium === undefined ? 'there is no Chromium on this machine' : withoutPackage(name)

/** Each call of the service as a promise, and what its listeners heard. */
const script = `
  import { HeadlessService } from '${name}'
  const service = new HeadlessService({ ...globalThis.options, config: { retry: 0 } })
  globalThis.heard = { messages: [], unseen: [], unread: [] }
  globalThis.ask = (method, args = {}) =>
    new Promise((resolve, reject) => service[method]({ ...args, listener: () => {}, onSuccess: resolve, onError: reject }))
  globalThis.ready = globalThis.ask('initializeSession').then(() => {
    service.listenNotificationReceive({ listener: (message) => globalThis.heard.messages.push(message.subject) })
    service.listenUnseenCountChange({ listener: (count) => globalThis.heard.unseen.push(count) })
    service.listenUnreadCountChange({ listener: (count) => globalThis.heard.unread.push(count) })
    return true
  })`

let app: TestApp
let scene: FlowScene
let base: string
let browser: Browser
const page = new PackagePage()
before(async () => {
  if (chromium === undefined || !hasPackage(name)) return
  page.script = await bundled(script)
  app = await createTestApp({ works: true })
  scene = new FlowScene(app)
  base = await addressOf(app)
  await page.listen()
  browser = new Browser(chromium)
})
after(async () => {
  await browser?.close()
  page.close()
  await app?.close()
})

async function openPage(subscriberId: string, more: object = {}): Promise<void> {
  const applicationIdentifier = await identifierOf(app)
  page.options = { applicationIdentifier, subscriberId, backendUrl: base, socketUrl: base, ...more }
  await browser.open(page.url)
  assert.equal(await browser.value('globalThis.ready'), true)
}

const ask = (method: string, args: object = {}) => browser.value(`globalThis.ask('${method}', ${JSON.stringify(args)})`)

test('session, feed, counts, marks, preferences and three events', { skip }, async () => {
  const template = { type: 'in_app', subject: 'Order {{ payload.id }}', content: 'Sent' }
  const workflow = await scene.workflow([{ template }])
  for (const id of [1, 2]) await scene.run(workflow, 'ada', { payload: { id } })
  await openPage('ada', { subscriberHash: hmac(app.developmentKey, 'ada') })
  const { data: feed } = await ask('fetchNotifications', { page: 0 })
  assert.deepEqual(
    feed.map(({ subject }: { subject: string }) => subject),
    ['Order 2', 'Order 1'],
  )
  assert.equal((await ask('fetchUnseenCount')).count, 2)
  assert.equal((await ask('markNotificationsAsRead', { messageId: feed[0]._id }))[0].read, true)
  await browser.until(`globalThis.heard.unread.at(-1) === 1`)
  await scene.run(workflow, 'ada', { payload: { id: 3 } })
  await browser.until(`globalThis.heard.messages.join() === 'Order 3' && globalThis.heard.unseen.at(-1) === 2`)
  assert.equal(await ask('markAllMessagesAsRead'), 2)
  await browser.until(`globalThis.heard.unread.at(-1) === 0`)
  const [preference] = await ask('fetchUserPreferences')
  const change = { templateId: preference.template._id, channelType: 'in_app', checked: false }
  assert.equal((await ask('updateUserPreferences', change)).preference.channels.in_app, false)
  await ask('removeNotification', { messageId: feed[0]._id })
  assert.equal((await ask('fetchNotifications', { page: 0, storeId: 'again' })).data.length, 2)
})

test('what comes while the service is away is heard of after its restart', { skip }, async () => {
  const workflow = await scene.workflow([{ template: { type: 'in_app', subject: '{{ payload.id }}', content: 'x' } }])
  const first = await createTestApp({ nodeOf: app })
  const address = await addressOf(first)
  await openPage('bea', { backendUrl: address, socketUrl: address })
  await browser.until(`globalThis.heard.unread.length > 0`)
  await first.close()
  await scene.run(workflow, 'bea', { payload: { id: 'missed' } })
  const second = await createTestApp({ nodeOf: app })
  await addressOf(second, Number(new URL(address).port))
  await browser.until(`globalThis.heard.messages.join() === 'missed'`)
  await browser.open('about:blank')
  await second.close()
})
