// posthorn/inbox as it is built, against the API: session, list, counts, marks, preferences, and the stream across a restart.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { identifierOf } from '../support/inbox-scene.ts'
import { projectRoot } from '../support/project-root.ts'
import { addressOf, until } from '../support/stream-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let url: string
let application: string
let workflow: string
let openInbox: (options: object) => Json
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  url = await addressOf(app)
  application = await identifierOf(app)
  workflow = await scene.workflow([inApp('Order {{ payload.id }}')], { tags: ['orders'] })
  openInbox = (await import(pathToFileURL(join(projectRoot, 'dist', 'inbox', 'client.js')).href)).openInbox
})
after(() => app.close())

const inboxOf = (subscriber: string): Json => openInbox({ url, application, subscriber })
const run = (subscriber: string, id: number): Promise<Json> => scene.run(workflow, subscriber, { payload: { id } })

test('lists by pages and filters, and counts', async () => {
  const inbox = inboxOf('ada')
  assert.equal((await inbox.session()).unreadCount.total, 0)
  for (const id of [1, 2, 3]) await run('ada', id)
  const first = await inbox.list({ limit: 2, archived: false, tags: ['orders'], severity: 'none' })
  assert.deepEqual([first.data.map((one: Json) => one.body), first.hasMore], [['Order 3', 'Order 2'], true])
  const rest = await inbox.list({ limit: 2, after: first.data[1].id })
  assert.deepEqual([rest.data.map((one: Json) => one.body), rest.hasMore], [['Order 1'], false])
  assert.deepEqual((await inbox.list({ tags: ['other'] })).data, [])
  await inbox.mark(first.data[0].id, 'read')
  assert.deepEqual(await inbox.counts([{ read: false }, { read: true }, { tags: ['other'] }]), [2, 1, 0])
})

test('marks one or all, snoozes and deletes', async () => {
  const inbox = inboxOf('bea')
  await run('bea', 1)
  await run('bea', 2)
  const [second, first] = (await inbox.list()).data
  const states = [
    (await inbox.mark(first.id, 'read')).isRead,
    (await inbox.mark(first.id, 'unread')).isRead,
    (await inbox.mark(first.id, 'archive')).isArchived,
    (await inbox.mark(first.id, 'unarchive')).isArchived,
    (await inbox.snooze(first.id, new Date(app.world.now().getTime() + 3_600_000))).isSnoozed,
    (await inbox.mark(first.id, 'unsnooze')).isSnoozed,
  ]
  assert.deepEqual(states, [true, false, true, false, true, false])
  await inbox.seen([second.id])
  await inbox.markAll('read', { tags: ['orders'] })
  assert.deepEqual(await inbox.counts([{ read: false }]), [0])
  await inbox.remove(first.id)
  assert.deepEqual(
    (await inbox.list()).data.map((one: Json) => one.id),
    [second.id],
  )
  await assert.rejects(inbox.mark(first.id, 'read'), { name: 'InboxError', status: 404 })
})

test('reads and changes preferences, of all workflows and of one', async () => {
  const inbox = inboxOf('cleo')
  const [everything, ...others] = await inbox.preferences()
  assert.equal(everything.level, 'global')
  const one = others.find((preference: Json) => preference.workflow.identifier === workflow)
  assert.deepEqual(one.channels, { in_app: true })
  assert.equal((await inbox.setPreference(one.workflow.id, { in_app: false })).channels.in_app, false)
  assert.equal((await inbox.setPreference(undefined, { in_app: false })).channels.in_app, false)
})

test('a session that is refused is an error, and a token that is revoked is replaced once', async () => {
  await assert.rejects(openInbox({ url, application: 'nothing', subscriber: 'dora' }).list(), { status: 400 })
  const inbox = inboxOf('dora')
  await inbox.list()
  await scene.expect(204, 'DELETE', '/v2/subscribers/dora/sessions')
  // Nodes keep for a second what they know of sessions.
  app.world.advance(2_000)
  assert.deepEqual((await inbox.list()).data, [])
})

test('the stream goes on without a gap when the service restarts', async (context) => {
  const first = await createTestApp({ nodeOf: app })
  const address = await addressOf(first)
  const heard: string[] = []
  const inbox = openInbox({ url: address, application, subscriber: 'eve' })
  await inbox.session()
  const stream = inbox.stream({
    onReceived: (one: Json) => heard.push(one.body),
    onReady: (isResumed: boolean) => heard.push(`ready ${isResumed}`),
    onLost: () => heard.push('lost'),
  })
  context.after(() => stream.close())
  await until(() => heard.includes('ready false'))
  await run('eve', 1)
  await until(() => heard.includes('Order 1'))
  await first.close()
  await until(() => heard.includes('lost'))
  await run('eve', 2)
  const second = await createTestApp({ nodeOf: app })
  await addressOf(second, Number(new URL(address).port))
  await run('eve', 3)
  await until(() => heard.includes('Order 3'))
  stream.close()
  await second.close()
  assert.deepEqual(
    heard.filter((one) => one !== 'lost'),
    ['ready false', 'Order 1', 'ready true', 'Order 2', 'Order 3'],
  )
})
