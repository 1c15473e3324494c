// The notifications of an inbox over a session: lists and filters, counts, marks, snoozes, buttons, deletions.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import type { InboxPage } from '../support/inbox-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let scene: MessageScene
before(async () => {
  app = await createTestApp()
  const people = ['ada', 'pages', 'marks', 'filters', 'counts', 'snoozer', 'presser', 'bulk', 'contexts', 'many']
  scene = await MessageScene.of(app, people)
})
after(() => app.close())

const ids = (items: readonly Json[]): string[] => items.map(({ id }) => id)
const listed = async (page: InboxPage, query = ''): Promise<string[]> =>
  ids(await page.data(200, 'GET', `/notifications${query}`))
const countOf = async (page: InboxPage, ...filters: object[]): Promise<number[]> => {
  const found: Json[] = await page.data(200, 'GET', `/notifications/count?filters=${written(filters)}`)
  return found.map(({ count }) => count)
}
const written = (value: unknown): string => encodeURIComponent(JSON.stringify(value))

test('a notification has the members that public clients read', async () => {
  const page = await inboxOf(app, 'ada')
  const said = await scene.say('ada', {
    event: { severity: 'high' },
    draft: {
      subject: 'Order **7**',
      content: 'It left us today.',
      data: { orderId: 7 },
      cta: {
        data: { url: 'https://shop.example/orders/7', target: '_blank' },
        action: {
          buttons: [
            { type: 'primary', content: 'Track', redirect: { url: '/orders/7', target: '_self' } },
            { type: 'secondary', content: 'Later', redirect: { url: 'javascript:alert(1)' } },
          ],
        },
      },
    },
  })
  const [item] = await page.data(200, 'GET', '/notifications')
  assert.deepEqual(item, {
    id: said.id,
    transactionId: said.transactionId,
    subject: 'Order **7**',
    body: 'It left us today.',
    to: { id: scene.people.get('ada'), subscriberId: 'ada', firstName: 'First ada' },
    isRead: false,
    isSeen: false,
    isArchived: false,
    isSnoozed: false,
    deliveredAt: [app.world.now().toISOString()],
    createdAt: app.world.now().toISOString(),
    primaryAction: { label: 'Track', isCompleted: false, redirect: { url: '/orders/7', target: '_self' } },
    secondaryAction: { label: 'Later', isCompleted: false },
    channelType: 'in_app',
    tags: ['orders', 'shop'],
    severity: 'high',
    redirect: { url: 'https://shop.example/orders/7', target: '_blank' },
    data: { orderId: 7 },
    workflow: {
      id: scene.workflow.id,
      identifier: 'orders',
      name: 'Orders',
      critical: false,
      tags: ['orders', 'shop'],
      severity: 'high',
    },
  })
  for (const url of ['//evil.example', 'mailto:a@b.example', 'data:text/html,x']) {
    await scene.say('ada', { draft: { cta: { data: { url } } } })
    const [newest] = await page.data(200, 'GET', '/notifications?limit=1')
    assert.equal('redirect' in newest, false, url)
  }
})

test('pages continue after an id, also after one that was deleted; offset counts without it', async () => {
  const page = await inboxOf(app, 'pages')
  const all: string[] = []
  for (let count = 0; count < 5; count += 1) all.unshift((await scene.say('pages')).id)
  const first = await page.call('GET', '/notifications?limit=2')
  assert.deepEqual([ids(first.body.data), first.body.hasMore, first.body.filter], [all.slice(0, 2), true, {}])
  assert.deepEqual(await listed(page, `?limit=2&after=${all[1]}`), all.slice(2, 4))
  assert.deepEqual(await listed(page, `/?limit=2&offset=3`), all.slice(3))
  await page.data(204, 'DELETE', `/notifications/${all[1]}/delete`)
  const last = await page.call('GET', `/notifications?limit=10&after=${all[1]}`)
  assert.deepEqual([ids(last.body.data), last.body.hasMore], [all.slice(2), false])
  for (const after of ['nonsense', '0199c0de-0000-7000-8000-000000000000']) {
    assert.equal((await page.call('GET', `/notifications?after=${after}`)).status, 400)
  }
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'read=perhaps']) {
    assert.equal((await page.call('GET', `/notifications?${query}`)).status, 422, query)
  }
})

test('marks do what their names say, with and without an empty JSON body', async () => {
  const page = await inboxOf(app, 'marks')
  const { id } = await scene.say('marks')
  const flags = ({ isRead, isSeen, isArchived }: Json) => [isRead, isSeen, isArchived]
  const mark = (verb: string): Promise<Json> => page.data(200, 'PATCH', `/notifications/${id}/${verb}`)
  assert.deepEqual(flags(await mark('seen')), [false, true, false])
  const read = await mark('read')
  assert.deepEqual([...flags(read), read.readAt], [true, true, false, app.world.now().toISOString()])
  assert.deepEqual(flags(await mark('archive')), [true, true, true])
  assert.deepEqual(flags(await mark('unarchive')), [true, true, false])
  await mark('archive')
  const unread = await mark('unread')
  assert.deepEqual([...flags(unread), 'readAt' in unread], [false, true, false, false])
  for (const unknown of ['nonsense', '0199c0de-0000-7000-8000-000000000000']) {
    const reply = await page.call('PATCH', `/notifications/${unknown}/read`)
    assert.deepEqual([reply.status, reply.body.message], [404, `Notification with id: ${unknown} is not found.`])
  }
})

test('filters find what they say, in every form, and are echoed as they came', async () => {
  const page = await inboxOf(app, 'filters')
  const other = await scene.scene.addWorkflow('news', [], { name: 'News', tags: ['news', 'shop'] })
  const high = await scene.say('filters', { event: { severity: 'high' }, draft: { data: { kind: 'a', ids: [1, 2] } } })
  const news = await scene.say('filters', { workflow: other, draft: { data: { kind: 'b', deep: { x: true } } } })
  const plain = await scene.say('filters')
  await page.data(200, 'PATCH', `/notifications/${plain.id}/read`)
  const cases: [string, string[], Json][] = [
    ['tags[]=news', [news.id], { tags: ['news'] }],
    ['tags=news', [news.id], { tags: ['news'] }],
    ['tags[]=orders&tags[]=news', [plain.id, news.id, high.id], { tags: ['orders', 'news'] }],
    ['tags[0][]=shop&tags[1][]=news', [news.id], { tags: { and: [{ or: ['shop'] }, { or: ['news'] }] } }],
    [
      'tags[0][]=shop&tags[0][]=x&tags[1][]=orders',
      [plain.id, high.id],
      { tags: { and: [{ or: ['shop', 'x'] }, { or: ['orders'] }] } },
    ],
    ['severity=high', [high.id], { severity: 'high' }],
    ['severity[]=high', [high.id], { severity: ['high'] }],
    ['severity=none', [plain.id, news.id], { severity: 'none' }],
    ['read=true', [plain.id], { read: true }],
    ['read=false&snoozed=false', [news.id, high.id], { read: false, snoozed: false }],
    ['seen=false&archived=false', [news.id, high.id], { archived: false, seen: false }],
    ['data=%7B%22kind%22%3A%22a%22%7D', [high.id], { data: { kind: 'a' } }],
    [`data=${written({ ids: [2, 9] })}`, [high.id], { data: { ids: [2, 9] } }],
    [`data=${written({ deep: { x: true } })}`, [news.id], { data: { deep: { x: true } } }],
    [`data=${written({ kind: { or: ['a', 'b'] } })}`, [news.id, high.id], { data: { kind: { or: ['a', 'b'] } } }],
  ]
  // The longest that a filter may be, with what public clients write after it.
  const hundred = (group: number, tag: string): string =>
    Array.from({ length: 100 }, (_, place) => `tags[${group}][]=${place === 99 ? tag : `x${place}`}`).join('&')
  const longest = `limit=10&${hundred(0, 'news')}&${hundred(1, 'shop')}`
  assert.deepEqual(await listed(page, `?${longest}&read=false&archived=false&snoozed=false`), [news.id])
  assert.deepEqual(await listed(page, `?${longest}&read=true`), [])
  for (const [query, found, echo] of cases) {
    const reply = await page.call('GET', `/notifications?${query}`)
    assert.equal(reply.status, 200, `${query}: ${reply.text}`)
    assert.deepEqual([ids(reply.body.data), reply.body.filter], [found, echo], query)
  }
  const created = (await page.data(200, 'GET', '/notifications'))[1].createdAt
  const at = Date.parse(created)
  assert.deepEqual(await listed(page, `?createdGte=${at}&createdLte=${at}`), [news.id])
  const refused = await page.call('GET', '/notifications?read=false&archived=true')
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, 'Filtering for unread and archived notifications is not supported.'],
  )
  for (const query of ['severity=urgent', 'data=nonsense', 'data=%5B1%5D', `data=${written({ $a: 1 })}`]) {
    assert.equal((await page.call('GET', `/notifications?${query}`)).status, 400, query)
  }
})

test('counts answer every filter in its place and echo it byte for byte', async () => {
  const page = await inboxOf(app, 'counts')
  const open = { read: false, archived: false, snoozed: false }
  for (const severity of ['high', 'high', 'medium', null]) {
    await scene.say('counts', { event: { severity }, draft: { data: { kind: severity ?? 'plain' } } })
  }
  const [newest] = await page.data(200, 'GET', '/notifications?limit=1')
  await page.data(200, 'PATCH', `/notifications/${newest.id}/read`)
  const filters = [
    { ...open, severity: 'high' },
    { ...open, severity: ['medium'] },
    { severity: 'low', ...open },
    { ...open, severity: 'none' },
    { snoozed: false, read: false, tags: { and: [{ or: ['orders'] }, { or: ['shop', 'x'] }] } },
    { data: { kind: ['high', 'plain'] }, ...open },
    {},
    { read: true },
    { archived: true },
    { seen: false, snoozed: false, tags: [], unknown: [1] },
    { ...open, createdGte: Date.parse(newest.createdAt) },
  ]
  const text = JSON.stringify(filters)
  const reply = await page.call('GET', `/notifications/count?filters=${encodeURIComponent(text)}`)
  assert.equal(reply.status, 200, reply.text)
  const counts = reply.body.data.map(({ count }: Json) => count)
  assert.deepEqual(counts, [2, 1, 0, 0, 3, 2, 4, 1, 0, 3, 0])
  assert.equal(JSON.stringify(reply.body.data.map(({ filter }: Json) => filter)), text)
  const wrong = ['', 'nonsense', '{}', '[1]', '[{"read":1}]', '[{"read":false,"archived":true}]']
  for (const one of [...wrong, JSON.stringify(Array.from({ length: 31 }, () => ({})))]) {
    assert.equal((await page.call('GET', `/notifications/count?filters=${encodeURIComponent(one)}`)).status, 400, one)
  }
  assert.equal((await page.call('GET', '/notifications/count')).status, 422)
})

test('a count stops at 100', async () => {
  const page = await inboxOf(app, 'many')
  for (let count = 0; count < 101; count += 1) await scene.say('many')
  assert.deepEqual(await countOf(page, { read: false, snoozed: false }, {}, { read: true }), [100, 100, 0])
  const { session } = await inboxOf(app, 'many')
  assert.equal(session.totalUnreadCount, 100)
})

test('snoozing puts a notification off, unsnoozing brings it back as it was, and in time it comes back as new', async () => {
  const page = await inboxOf(app, 'snoozer')
  const { id } = await scene.say('snoozer')
  const before = await page.data(200, 'PATCH', `/notifications/${id}/read`)
  const path = `/notifications/${id}/snooze`
  const ahead = (ms: number): object => ({ snoozeUntil: new Date(app.world.now().getTime() + ms).toISOString() })
  for (const body of [ahead(59_000), ahead(-1), ahead(366 * 86_400_000), { snoozeUntil: 'soon' }, {}]) {
    assert.equal((await page.call('PATCH', path, { body })).status, 422, JSON.stringify(body))
  }
  assert.equal((await page.call('PATCH', `/notifications/${id}/unsnooze`)).status, 404)
  const snoozed = await page.data(200, 'PATCH', path, ahead(3_600_000))
  assert.deepEqual([snoozed.isSnoozed, snoozed.isSeen], [true, true])
  assert.deepEqual(await listed(page, '?snoozed=false'), [])
  assert.deepEqual(await listed(page, '?snoozed=true'), [id])
  const back = await page.data(200, 'PATCH', `/notifications/${id}/unsnooze`)
  assert.deepEqual([back.isSnoozed, back.isRead, back.createdAt], [false, true, before.createdAt])
  const tasks = await app.database.db.rows(sql`select from tasks where id = ${id}`)
  assert.equal(tasks.length, 0)
  await page.data(200, 'PATCH', path, ahead(60_000))
  app.world.advance(61_000)
  await app.pipeline.work()
  const [again] = await page.data(200, 'GET', '/notifications?snoozed=false')
  assert.deepEqual([again.id, again.isRead, again.createdAt > before.createdAt], [id, false, true])
})

test('an action is completed and reverted; a button that is not there is 400', async () => {
  const page = await inboxOf(app, 'presser')
  const buttons = [{ type: 'primary', content: 'Accept' } as const]
  const { id } = await scene.say('presser', { draft: { cta: { action: { buttons } } } })
  const press = (verb: string, actionType: string) =>
    page.call('PATCH', `/notifications/${id}/${verb}`, { body: { actionType } })
  assert.equal((await press('complete', 'primary')).body.data.primaryAction.isCompleted, true)
  assert.equal((await press('revert', 'primary')).body.data.primaryAction.isCompleted, false)
  const refused = await press('complete', 'secondary')
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, 'Could not perform action on the secondary button because it does not exist.'],
  )
  assert.equal((await press('complete', 'third')).status, 422)
  assert.equal((await page.call('PATCH', `/notifications/${id}/complete`)).status, 422)
})

test('bulk marks change what matches, and nothing else', async () => {
  const page = await inboxOf(app, 'bulk')
  const other = await scene.scene.addWorkflow('bulk-news', [], { name: 'News', tags: ['bulk-news'] })
  const say = async (more: object = {}): Promise<string> => (await scene.say('bulk', more)).id
  const [order, news, special] = [
    await say(),
    await say({ workflow: other }),
    await say({ draft: { data: { kind: 'special' } } }),
  ]
  const put = await say()
  const until = new Date(app.world.now().getTime() + 3_600_000).toISOString()
  await page.data(200, 'PATCH', `/notifications/${put}/snooze`, { snoozeUntil: until })
  const post = (verb: string, body?: unknown): Promise<Json> => page.data(204, 'POST', `/notifications/${verb}`, body)
  await post('seen', { notificationIds: [order, 'nonsense', '0199c0de-0000-7000-8000-000000000000'] })
  assert.deepEqual(await listed(page, '?seen=true&snoozed=false'), [order])
  await post('seen', { notificationIds: [] })
  assert.deepEqual(await listed(page, '?seen=true&snoozed=false'), [order], 'an empty list is none, and not all')
  await post('seen', { tags: ['bulk-news'] })
  assert.deepEqual(await listed(page, '?seen=true&snoozed=false'), [news, order])
  await post('read', { data: '{"kind":"special"}' })
  assert.deepEqual(await listed(page, '?read=true'), [special])
  await post('read-archive')
  assert.deepEqual(await listed(page, '?archived=true'), [special])
  await post('archive', { tags: { and: [{ or: ['bulk-news'] }] } })
  assert.deepEqual(await listed(page, '?archived=true'), [special, news])
  await post('read')
  await post('archive/read', {})
  assert.deepEqual(await listed(page, '?archived=true'), [special, news, order])
  await post('delete', { tags: ['bulk-news'] })
  assert.deepEqual(await listed(page, '?archived=true'), [special, order])
  await post('delete')
  assert.deepEqual(await listed(page), [put], 'what is snoozed is left alone')
  for (const [body, expected] of [
    [{ tags: 'a' }, 422],
    [{ data: 'nonsense' }, 400],
    [{ tags: [1] }, 400],
  ] as const) {
    const { status } = await page.call('POST', '/notifications/read', { body })
    assert.equal(status, expected, JSON.stringify(body))
  }
})

test('a session sees the notifications of exactly its contexts', async () => {
  const say = async (contextKeys: string[] | null): Promise<string> =>
    (await scene.say('contexts', { event: { contextKeys }, message: { contextKeys } })).id
  const messages = [await say(null), await say(['tenant:acme']), await say(['app:jira', 'tenant:acme'])]
  const sessions = [{}, { tenant: 'acme' }, { tenant: 'acme', app: 'jira' }, { tenant: 'other' }]
  for (const [place, context] of sessions.entries()) {
    const page = await inboxOf(app, 'contexts', { context })
    const own = messages.slice(place, place + 1)
    assert.deepEqual(await listed(page), own, JSON.stringify(context))
    const unread = { read: false, snoozed: false }
    assert.deepEqual(await countOf(page, unread, {}), [own.length, own.length])
    assert.equal(page.session.totalUnreadCount, own.length)
    for (const id of messages.filter((one) => !own.includes(one))) {
      assert.equal((await page.call('PATCH', `/notifications/${id}/read`)).status, 404)
    }
    await page.data(204, 'POST', '/notifications/seen', { notificationIds: messages })
    await page.data(204, 'POST', '/notifications/seen')
    const left = (await inboxOf(app, 'contexts', { context: sessions[place + 1] ?? {} })).session.totalUnreadCount
    assert.equal(left, place + 1 < messages.length ? 1 : place === 3 ? 1 : 0)
  }
})
