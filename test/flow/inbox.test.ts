// From a trigger to a page: what the pipeline writes is what an inbox lists, counts and changes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import type { InboxPage } from '../support/inbox-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let atOnce: TestApp
before(async () => {
  app = await createTestApp()
  atOnce = await createTestApp({ works: true })
})
after(async () => {
  await app.close()
  await atOnce.close()
})

async function bell(page: InboxPage): Promise<number[]> {
  const open = { read: false, archived: false, snoozed: false }
  const filters = ['high', 'medium', 'low', 'none'].map((severity) => ({ ...open, severity }))
  const counts: Json[] = await page.data(
    200,
    'GET',
    `/notifications/count?filters=${encodeURIComponent(JSON.stringify(filters))}`,
  )
  return counts.map(({ count }) => count)
}

for (const way of ['by the worker', 'with their acceptance'] as const) {
  test(`events decided ${way} ring the bell of their severity, in their contexts, under their tags`, async () => {
    const scene = new FlowScene(way === 'by the worker' ? app : atOnce)
    const to = 'ringer'
    const urgent = await scene.workflow([inApp('Now')], { tags: ['alerts'], severity: 'high' })
    const plain = await scene.workflow([inApp('Later')], { tags: ['news'] })
    await scene.run(urgent, to)
    await scene.run(urgent, to, { overrides: { severity: 'low' } })
    await scene.run(plain, to)
    await scene.run(plain, to, { context: { tenant: 'acme' } })
    const page = await inboxOf(scene.app, to)
    assert.deepEqual(await bell(page), [1, 0, 1, 1])
    assert.deepEqual(page.session.unreadCount, { total: 3, severity: { high: 1, medium: 0, low: 1, none: 1 } })
    const alerts: Json[] = await page.data(200, 'GET', '/notifications?tags[]=alerts')
    assert.deepEqual(
      alerts.map(({ severity, workflow, tags }) => [severity, workflow.identifier, tags]),
      [
        ['low', urgent, ['alerts']],
        ['high', urgent, ['alerts']],
      ],
    )
    assert.deepEqual(await bell(await inboxOf(scene.app, to, { context: { tenant: 'acme' } })), [0, 0, 0, 1])
    await page.data(204, 'POST', '/notifications/read')
    assert.deepEqual(await bell(page), [0, 0, 0, 0])
    const [newest] = await scene.feed(to)
    assert.equal(newest.read, false, 'the one of another context is still unread')
  })
}

test('what a subscriber switches off in their inbox is not sent to it', async () => {
  const scene = new FlowScene(app)
  const page = await inboxOf(app, 'chooser')
  const name = await scene.workflow([inApp('Hello')])
  await page.data(200, 'PATCH', `/preferences/${name}`, { in_app: false })
  await scene.run(name, 'chooser')
  assert.deepEqual(await page.data(200, 'GET', '/notifications'), [])
  await page.data(200, 'PATCH', `/preferences/${name}`, { in_app: true })
  await scene.run(name, 'chooser')
  assert.equal((await page.data(200, 'GET', '/notifications')).length, 1)
})

test('whoever follows a topic in their inbox hears of it, until they leave', async () => {
  const scene = new FlowScene(app)
  const page = await inboxOf(app, 'follower')
  const name = await scene.workflow([inApp('News')])
  const { identifier } = await page.data(201, 'POST', '/topics/releases/subscriptions', { identifier: '' })
  const reported = async (): Promise<number> => {
    await scene.trigger(name, { type: 'Topic', topicKey: 'releases' })
    await scene.advance(1_000)
    return (await page.data(200, 'GET', '/notifications')).length
  }
  assert.equal(await reported(), 1)
  await page.data(200, 'DELETE', `/topics/releases/subscriptions/${identifier}`)
  assert.equal(await reported(), 1)
})
