// Marking messages over the API: one, many, all; every transition.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { marks } from '../../src/domain/messages/message-marks.ts'
import { stepOf } from '../support/activity-scene.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let scene: MessageScene
const people = ['ada', 'bob', 'cleo', 'dora', 'eve', 'all', 'feeds', 'crowd', 'old', 'v2', 'dates']
before(async () => {
  app = await createTestApp()
  scene = await MessageScene.of(app, people)
})
after(() => app.close())

const unknownId = '01942a63-0d2e-7abc-8def-0123456789ab'
const markAs = (subscriberId: string, messageId: unknown, mark: string, options = {}) =>
  app.call('POST', `/v1/subscribers/${subscriberId}/messages/mark-as`, {
    body: { messageId, markAs: mark },
    ...options,
  })
const markAll = (subscriberId: string, body: object, options = {}) =>
  app.call('POST', `/v1/subscribers/${subscriberId}/messages/mark-all`, { body, ...options })
const flags = (message: Json) => [message.seen, message.read, message.archived]

const states: Record<string, { marks: string[]; flags: boolean[] }> = {
  'not seen': { marks: [], flags: [false, false, false] },
  seen: { marks: ['seen'], flags: [true, false, false] },
  read: { marks: ['read'], flags: [true, true, false] },
  archived: { marks: ['archived'], flags: [true, true, true] },
}
/** Seen, read and archived after each mark, from each state in the order above. */
const transitions: Record<(typeof marks)[number], boolean[][]> = {
  read: [
    [true, true, false],
    [true, true, false],
    [true, true, false],
    [true, true, true],
  ],
  unread: [
    [true, false, false],
    [true, false, false],
    [true, false, false],
    [true, false, false],
  ],
  seen: [
    [true, false, false],
    [true, false, false],
    [true, true, false],
    [true, true, true],
  ],
  unseen: [
    [false, false, false],
    [false, false, false],
    [false, false, false],
    [false, false, false],
  ],
  archived: [
    [true, true, true],
    [true, true, true],
    [true, true, true],
    [true, true, true],
  ],
  unarchived: [
    [true, true, false],
    [true, true, false],
    [true, true, false],
    [true, true, false],
  ],
}
for (const mark of marks) {
  for (const [index, [state, before]] of Object.entries(states).entries()) {
    test(`a message that is ${state} and marked ${mark} is what it should be`, async () => {
      const { id } = await scene.say('ada')
      for (const earlier of before.marks) await markAs('ada', id, earlier)
      const was = (await app.call('GET', '/v1/messages?subscriberId=ada&limit=1')).body.data[0]
      assert.deepEqual(flags(was), before.flags)
      const reply = await markAs('ada', id, mark)
      assert.equal(reply.status, 201)
      assert.equal(reply.body.length, 1)
      assert.deepEqual(flags(reply.body[0]), transitions[mark][index])
      const now = (await app.call('GET', '/v1/messages?subscriberId=ada&limit=1')).body.data[0]
      assert.deepEqual(flags(now), transitions[mark][index])
    })
  }
}

test('marks leave their timestamps: first seen once, last seen and read each time, archived while it lasts', async () => {
  const { id } = await scene.say('dates')
  const times = async (mark: string) => {
    app.world.advance(1000)
    const { firstSeenDate, lastSeenDate, lastReadDate, archivedAt, updatedAt } = (await markAs('dates', id, mark))
      .body[0]
    return { firstSeenDate, lastSeenDate, lastReadDate, archivedAt, updatedAt }
  }
  const now = () => app.world.now().toISOString()
  const seen = await times('seen')
  const first = now()
  assert.deepEqual(seen, {
    firstSeenDate: first,
    lastSeenDate: first,
    lastReadDate: undefined,
    archivedAt: undefined,
    updatedAt: first,
  })
  const read = await times('read')
  const readAt = now()
  assert.deepEqual(
    [read.firstSeenDate, read.lastSeenDate, read.lastReadDate, read.updatedAt],
    [first, readAt, readAt, readAt],
  )
  const archived = await times('archived')
  assert.deepEqual([archived.lastReadDate, archived.archivedAt], [readAt, now()])
  const unarchived = await times('unarchived')
  assert.deepEqual([unarchived.lastReadDate, unarchived.archivedAt], [readAt, undefined])
  const unread = await times('unread')
  assert.deepEqual([unread.firstSeenDate, unread.lastSeenDate, unread.lastReadDate], [first, now(), undefined])
})

test('several are marked at once and answered in the order asked for, each once, whole messages', async () => {
  const [one, two] = [await scene.say('bob'), await scene.say('bob')]
  const reply = await markAs('bob', [two.id, one.id.toUpperCase(), two.id], 'read')
  assert.equal(reply.status, 201)
  assert.deepEqual(
    reply.body.map((message: Json) => message._id),
    [two.id, one.id],
  )
  const {
    subscriber: _,
    template: __,
    ...listed
  } = (await app.call('GET', '/v1/messages?subscriberId=bob')).body.data[0]
  assert.deepEqual(reply.body[0], listed)
})

test('what is unknown, deleted, someone else’s or without an outcome is left out and stays as it is', async () => {
  const [own, deleted, foreign, waiting] = [
    await scene.say('cleo'),
    await scene.say('cleo'),
    await scene.say('dora'),
    await scene.say('cleo', { message: { status: null, state: 'ready' } }),
  ]
  await app.call('DELETE', `/v1/messages/${deleted.id}`)
  const reply = await markAs('cleo', [own.id, deleted.id, foreign.id, waiting.id, unknownId], 'read')
  assert.deepEqual([reply.status, reply.body.map((message: Json) => message._id)], [201, [own.id]])
  const rows = await app.database.db.rows<{ id: string }>(
    sql`select id from messages where read and id = any(${[deleted.id, foreign.id, waiting.id]}::uuid[])`,
  )
  assert.deepEqual(rows, [])
})

test('a mark by another environment reaches nothing', async () => {
  const { id } = await scene.say('dora')
  const key = app.productionKey
  assert.equal((await markAs('dora', id, 'read', { key })).status, 404)
  await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'dora' }, key })
  assert.deepEqual((await markAs('dora', id, 'read', { key })).body, [])
  assert.equal((await markAll('dora', { markAs: 'read' }, { key })).body, 0)
  const [item] = (await app.call('GET', '/v1/subscribers/dora/notifications/feed')).body.data
  assert.equal(item.read, false)
})

test('ill-formed marks are 422 and named; an unknown subscriber is 404', async () => {
  const { id } = await scene.say('eve')
  const bad: [object, string[]][] = [
    [{}, ['markAs', 'messageId']],
    [{ messageId: id, markAs: 'burnt' }, ['markAs']],
    [{ messageId: 'not-an-id', markAs: 'read' }, ['messageId']],
    [{ messageId: [], markAs: 'read' }, ['messageId']],
    [{ messageId: 5, markAs: 'read' }, ['messageId']],
    [{ messageId: [id, 'x'], markAs: 'read' }, ['messageId.1']],
    [{ messageId: Array.from({ length: 101 }, () => id), markAs: 'read' }, ['messageId']],
  ]
  for (const [body, fields] of bad) {
    const reply = await app.call('POST', '/v1/subscribers/eve/messages/mark-as', { body })
    assert.equal(reply.status, 422, JSON.stringify(body).slice(0, 100))
    assert.deepEqual(Object.keys(reply.body.errors).sort(), fields)
  }
  assert.equal(
    (
      await markAs(
        'eve',
        Array.from({ length: 100 }, () => id),
        'read',
      )
    ).body.length,
    1,
  )
  assert.equal((await markAs('nobody', id, 'read')).status, 404)
  assert.equal((await markAll('nobody', { markAs: 'read' })).status, 404)
  assert.equal((await markAll('eve', {})).status, 422)
  assert.equal((await markAll('eve', { markAs: 'read', feedIdentifier: 5 })).status, 422)
})

test('the older body marks as its members say', async () => {
  const { id } = await scene.say('old')
  const mark = (value: unknown, messageId: unknown = id) =>
    app.call('POST', '/v1/subscribers/old/messages/markAs', { body: { messageId, mark: value } })
  const marked = async (value: object) => {
    const reply = await mark(value)
    assert.equal(reply.status, 201)
    return flags(reply.body[0])
  }
  assert.deepEqual(await marked({ seen: true }), [true, false, false])
  assert.deepEqual(await marked({ read: true, seen: true }), [true, true, false])
  assert.deepEqual(await marked({ read: false }), [true, false, false])
  assert.deepEqual(await marked({ seen: false }), [false, false, false])
  for (const value of [{}, { read: true, seen: false }, 'seen', { seen: 'yes' }, undefined])
    assert.equal((await mark(value)).status, 422, JSON.stringify(value))
  assert.equal((await mark({ seen: true }, 'not-an-id')).status, 422)
})

test('all are marked at once and counted, and only what changes', async () => {
  const said = [await scene.say('all'), await scene.say('all'), await scene.say('all')]
  await scene.say('all', { draft: { channel: 'email' } })
  await markAs('all', said[0]?.id, 'read')
  const marked = async (mark: string) => {
    const reply = await markAll('all', { markAs: mark })
    assert.equal(reply.status, 201)
    return reply.body
  }
  assert.equal(await marked('seen'), 2)
  assert.equal(await marked('seen'), 0)
  assert.equal(await marked('read'), 2)
  assert.equal(await marked('archived'), 3)
  assert.equal(await marked('archived'), 0)
  assert.equal(await marked('unarchived'), 3)
  assert.equal(await marked('unread'), 3)
  assert.equal(await marked('unseen'), 3)
  assert.equal(await marked('unseen'), 0)
  assert.equal(await marked('read'), 3)
  const { body } = await app.call('GET', '/v1/subscribers/all/notifications/feed')
  assert.deepEqual(body.data.map(flags), [
    [true, true, false],
    [true, true, false],
    [true, true, false],
  ])
})

test('marking all of a feed leaves the other feeds, snoozed items and other people alone', async () => {
  const workflow = await scene.scene.addWorkflow('news', [stepOf('in_app', { template: { feedId: 'news' } })])
  const [shop, news, snoozed] = [
    await scene.say('feeds'),
    await scene.say('feeds', { workflow }),
    await scene.say('feeds', { workflow }),
  ]
  const snoozeUntil = new Date(app.world.now().getTime() + 60_000).toISOString()
  await app.call('PATCH', `/v2/subscribers/feeds/notifications/${snoozed.id}/snooze`, { body: { snoozeUntil } })
  assert.equal((await markAll('feeds', { markAs: 'read', feedIdentifier: 'news' })).body, 1)
  assert.equal((await markAll('feeds', { markAs: 'read', feedIdentifier: ['absent'] })).body, 0)
  const { body } = await app.call('GET', '/v1/subscribers/feeds/notifications/feed')
  assert.deepEqual(
    body.data.map((item: Json) => [item._id, item.read]),
    [
      [news.id, true],
      [shop.id, false],
    ],
  )
  assert.equal((await markAll('feeds', { markAs: 'read', feedIdentifier: ['shop', 'news'] })).body, 1)
})

test('twelve thousand are marked in one call', async () => {
  const { id } = await scene.say('crowd')
  const copies = 12_000
  await app.database.db.run(sql`
    insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel,
                          state, status, content, created_at, updated_at)
    select environment_id, gen_random_uuid(), event_id, notification_id, job_id, subscriber_id, version_id, step, channel,
           state, status, content, created_at, updated_at
    from messages, generate_series(1, ${copies}::int) where id = ${id}`)
  assert.equal((await markAll('crowd', { markAs: 'read' })).body, copies + 1)
  assert.equal((await markAll('crowd', { markAs: 'read' })).body, 0)
  assert.equal((await app.call('GET', '/v1/subscribers/crowd/notifications/unread')).body.count, 0)
})

test('a repeated mark with its idempotency key gets the first answer and changes nothing', async () => {
  const { id } = await scene.say('bob')
  const headers = { 'idempotency-key': 'mark-once' }
  const first = await markAs('bob', id, 'read', { headers })
  await markAs('bob', id, 'unread')
  const repeat = await markAs('bob', id, 'read', { headers })
  assert.deepEqual([repeat.status, repeat.text], [first.status, first.text])
  assert.equal(repeat.headers['idempotency-replay'], 'true')
  const [item] = (await app.call('GET', '/v1/subscribers/bob/notifications/feed')).body.data
  assert.equal(item.read, false)
})

test('one notification is read, unread, archived and unarchived, and answered for feeds and inboxes', async () => {
  const said = await scene.say('v2', {
    draft: {
      content: 'Hello',
      subject: 'Subject',
      cta: { data: { url: '/here' }, action: { buttons: [{ type: 'secondary', content: 'No' }] } },
      actor: { type: 'system_custom', data: 'face.png' },
    },
  })
  const change = (verb: string) => app.call('PATCH', `/v2/subscribers/v2/notifications/${said.id}/${verb}`)
  const read = await change('read')
  assert.equal(read.status, 200)
  const [item] = (await app.call('GET', '/v1/subscribers/v2/notifications/feed')).body.data
  for (const [name, value] of Object.entries(item)) if (value !== null) assert.deepEqual(read.body[name], value, name)
  assert.deepEqual(
    Object.keys(read.body).filter((name) => read.body[name] === null),
    [],
  )
  const { id, body, to, isRead, isSeen, isArchived, isSnoozed, readAt, redirect, secondaryAction, avatar } = read.body
  assert.deepEqual(
    { id, body, to, isRead, isSeen, isArchived, isSnoozed, readAt, redirect, secondaryAction, avatar },
    {
      id: said.id,
      body: 'Hello',
      to: { id: said.notification.subscriberId, subscriberId: 'v2', firstName: 'First v2' },
      isRead: true,
      isSeen: true,
      isArchived: false,
      isSnoozed: false,
      readAt: app.world.now().toISOString(),
      redirect: { url: '/here' },
      secondaryAction: { label: 'No', isCompleted: false },
      avatar: 'face.png',
    },
  )
  assert.deepEqual(read.body.workflow, {
    id: scene.workflow.id,
    identifier: 'orders',
    name: 'Orders',
    critical: false,
    tags: ['orders', 'shop'],
    severity: 'none',
  })
  assert.deepEqual(flags((await change('unread')).body), [true, false, false])
  assert.deepEqual(flags((await change('archive')).body), [true, true, true])
  assert.deepEqual(flags((await change('unarchive')).body), [true, true, false])
})

test('a notification that is unknown, someone else’s or no in-app message is 404', async () => {
  const [mail, foreign] = [await scene.say('v2', { draft: { channel: 'email' } }), await scene.say('eve')]
  for (const verb of ['read', 'unread', 'archive', 'unarchive', 'unsnooze']) {
    for (const id of [mail.id, foreign.id, unknownId, 'not-an-id']) {
      const reply = await app.call('PATCH', `/v2/subscribers/v2/notifications/${id}/${verb}`)
      assert.deepEqual([reply.status, reply.body.message], [404, `Notification with id ${id} not found`])
    }
    assert.equal((await app.call('PATCH', `/v2/subscribers/nobody/notifications/${foreign.id}/${verb}`)).status, 404)
  }
})
