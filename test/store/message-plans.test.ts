// The plans of the feed, its counts and the list of messages, pinned: a page looks at about a page of rows, however many there are.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql, Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { idsOfEvent, jobIdOf, messageIdOf, notificationIdOf } from '../../src/domain/derived-id.ts'
import type { Environment, Principal } from '../../src/domain/environment.ts'
import { dayMs, minuteMs } from '../../src/domain/insight/counts.ts'
import { createPinnedVersions } from '../../src/read/activity/pinned-versions.ts'
import type { FeedFilter, FeedQuery } from '../../src/read/messages/feed.ts'
import { feedCount, feedStamp, stampedFeedPage } from '../../src/read/messages/feed.ts'
import type { MessagesQuery } from '../../src/read/messages/messages.ts'
import { messagesPage } from '../../src/read/messages/messages.ts'
import { markNext } from '../../src/store/messages/marks.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { copyMessage } from '../support/copied-messages.ts'
import { MessageScene } from '../support/message-scene.ts'
import { estimatedCosts, explain, explainPrepared, recordStatements } from '../support/plan.ts'

const limit = 10
/** The page, its events, versions, workflows and people; five channels give a page each. */
const page = { rows: 12 * limit, pages: 30 * limit }
/** Deep in a list its index is walked that far, and no row is read that is not shown. */
const deep = { offset: 3_000, rows: 3_000 + 12 * limit }

let app: TestApp
let scene: MessageScene
let environment: Environment
let principal: Principal
/** The event that notified all the people in `crowd`. */
let crowdEventId: string
const versions = createPinnedVersions()

/** One event that notified `count` people in the app. */
async function notifyCrowd(count: number): Promise<string> {
  const said = await scene.say('busy', { event: { transactionId: 'crowd', notified: count } })
  const ids = Array.from({ length: count }, (_, index) => {
    const subscriberId = index === 0 ? (scene.people.get('lonely') ?? '') : app.world.newId(app.world.now())
    const notificationId = notificationIdOf(said.eventId, subscriberId)
    const jobId = jobIdOf(said.eventId, notificationId, 0)
    return { subscriberId, notificationId, jobId, id: messageIdOf(said.eventId, jobId, '') }
  })
  await app.database.db.run(sql`
    insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel, state,
                          status, content, created_at, updated_at)
    select m.environment_id, c.id, m.event_id, c.notification_id, c.job_id, c.subscriber_id, m.version_id, m.step, m.channel,
           m.state, m.status, m.content, m.created_at, m.updated_at
    from messages m, unnest(${ids.map((one) => one.id)}::uuid[], ${ids.map((one) => one.notificationId)}::uuid[],
      ${ids.map((one) => one.jobId)}::uuid[], ${ids.map((one) => one.subscriberId)}::uuid[])
      as c (id, notification_id, job_id, subscriber_id)
    where m.id = ${said.id}
    on conflict do nothing`)
  return said.eventId
}

before(async () => {
  app = await createTestApp()
  scene = await MessageScene.of(app, ['busy', 'lonely', 'reader', 'ordinary'])
  environment = scene.scene.environment
  principal = { environment, keyId: 'key', keyName: 'Key', scopes: ['full'] }
  const { db } = app.database
  const from = new Date(app.world.now().getTime() - 100 * 24 * 60 * 60 * 1000)
  await db.run(sql`select make_partitions(${from}, 6)`)
  const person = (name: string): string => scene.people.get(name) ?? ''
  // A busy feed, a feed in which all is read, and the mail of many.
  const inApp = await scene.say('busy')
  await copyMessage(app, inApp.id, 20_000, [person('busy')])
  const read = await scene.say('reader')
  await copyMessage(app, read.id, 3_000, [person('reader')])
  const mail = await scene.say('busy', { draft: { channel: 'email' } })
  await copyMessage(app, mail.id, 15_000, [person('busy'), person('lonely'), person('reader')])
  crowdEventId = await notifyCrowd(11_000)
  const neighbour = await MessageScene.of(app, ['busy'], { environmentName: 'Production' })
  const elsewhere = await neighbour.say('busy')
  await copyMessage(app, elsewhere.id, 2_000, [neighbour.people.get('busy') ?? ''])
  await db.run(sql`vacuum analyze`)
})
after(() => app.close())

const feed =
  (query: Partial<FeedQuery>, subscriberId = 'busy') =>
  async (db: Sql) =>
    (await stampedFeedPage(db, environment, subscriberId, { page: 0, limit, ...query }, versions))?.page
const stamp =
  (query: Partial<FeedQuery>, subscriberId = 'busy') =>
  (db: Sql) =>
    feedStamp(db, environment, subscriberId, { page: 0, limit, ...query })
const list = (query: Partial<MessagesQuery>) => (db: Sql) =>
  messagesPage(db, app.world.sealer, principal, { page: 0, limit, ...query }, app.world.now())

/** Holds to the bounds what a read asks of the tables that grow; the others are a few rows here, and read as they are. */
async function pinned<Result>(what: string, read: (db: Sql) => Promise<Result>, bounds = page): Promise<Result> {
  const recording = recordStatements(app.database.db)
  const result = await read(recording)
  const asked = recording.statements.filter(
    ({ text }) => /\bfrom messages\b|\bfrom events found\b/.test(text) && !text.startsWith('select count'),
  )
  assert.ok(asked.length > 0, what)
  for (const statement of asked) {
    const explained = statement.name === undefined ? explain : explainPrepared
    const plan = await explained(app.database.db, statement)
    const message = `${what}\n${statement.text}\n${plan.text}`
    // What is counted beside the page has a bound of its own.
    const { rowsExamined, pagesTouched } = plan.rest
    assert.ok(rowsExamined <= bounds.rows, `${rowsExamined} rows: ${message}`)
    assert.ok(pagesTouched <= bounds.pages, `${pagesTouched} pages: ${message}`)
    assert.ok(plan.indexes.length > 0, message)
  }
  return result
}

test('the rows lie in several partitions', async () => {
  const rows = await app.database.db.rows(sql`select distinct tableoid from messages`)
  assert.ok(rows.length >= 3, `${rows.length}`)
})

test('the first page of a feed looks at a page of rows', async () => {
  const found = await pinned('feed', feed({}))
  assert.equal(found?.data.length, limit)
})

test('a deep page of a feed walks the subscriber’s own messages that far', async () => {
  const found = await pinned('feed, deep', feed({ page: deep.offset / limit }), {
    rows: deep.rows,
    pages: 2 * deep.rows,
  })
  assert.equal(found?.data.length, limit)
})

test('what is unread or unseen is found by the index of open messages, however much is read', async () => {
  for (const query of [{ read: false }, { seen: false }, { read: false, seen: false }]) {
    const found = await pinned(`feed, ${JSON.stringify(query)}`, feed(query))
    assert.equal(found?.data.length, limit)
    assert.ok(found?.data.every((item) => query.read === undefined || item.read === query.read))
  }
})

test('the payload filter walks the subscriber’s own messages, and their events by key', async () => {
  const rare = await pinned('feed, rare payload', feed({ payload: { rare: true } }), { rows: 45_000, pages: 200_000 })
  assert.equal(rare?.data.length, 4)
  const common = await pinned('feed, common payload', feed({ payload: { rare: false } }))
  assert.equal(common?.data.length, limit)
  const few = await pinned('feed, payload of a short feed', feed({ payload: { rare: true } }, 'lonely'))
  assert.equal(few?.data.length, 0)
})

test('counts of what is open look at what they count', async () => {
  const statement = async (filter: FeedFilter & { limit: number }) => {
    const recording = recordStatements(app.database.db)
    const count = await feedCount(recording, environment, 'busy', filter)
    const last = recording.statements.at(-1) ?? assert.fail('nothing ran')
    return { count, plan: await explain(app.database.db, last) }
  }
  for (const filter of [{ read: false }, { seen: false }]) {
    const { count, plan } = await statement({ ...filter, limit: 50 })
    assert.equal(count, 50)
    assert.ok(plan.rowsExamined <= 150, plan.text)
    assert.ok(plan.pagesTouched <= 150, plan.text)
    assert.ok(plan.indexes.length > 0, plan.text)
  }
})

test('the count beside a page stops at 50,000 and goes by an index', async () => {
  const bounds = { rows: 50_001, pages: Number.POSITIVE_INFINITY }
  for (const query of [{}, { channel: 'email' }, { subscriberId: 'busy' }] as const)
    await countPinned(list(query), bounds)
})

async function countPinned(read: (db: Sql) => Promise<unknown>, bounds: typeof page): Promise<void> {
  const recording = recordStatements(app.database.db)
  await read(recording)
  const count = recording.statements.find((statement) => statement.text.startsWith('select count'))
  const plan = await explain(app.database.db, count ?? assert.fail('nothing was counted'))
  assert.ok(plan.rowsExamined <= bounds.rows && plan.pagesTouched <= bounds.pages, plan.text)
}

/** The statement that a page or a count of the feed runs once its versions are known. */
async function only(read: (db: Sql) => Promise<unknown>): Promise<Statement> {
  await read(app.database.db)
  const recording = recordStatements(app.database.db)
  await read(recording)
  assert.equal(recording.statements.length, 1, recording.statements.map(({ text }) => text).join('\n'))
  return recording.statements[0] ?? assert.fail('nothing ran')
}

const count =
  (filter: FeedFilter, subscriberId = 'busy') =>
  (db: Sql) =>
    feedCount(db, environment, subscriberId, { ...filter, limit: 50 })

test('a page of the feed is one statement, and so is a count: prepared where its text is one of a few', async () => {
  for (const filter of [{}, { read: false }, { seen: false }, { read: true, seen: true }]) {
    assert.match((await only(feed(filter))).name ?? '', /^feed-page/)
    assert.match((await only(count(filter))).name ?? '', /^feed-count/)
  }
  assert.equal((await only(feed({ payload: { rare: true } }))).name, undefined)
})

test('a prepared page looks at a page of rows, and counts beside it without looking at one', async () => {
  for (const [filter, subscriberId] of [
    [{}, 'busy'],
    [{}, 'lonely'],
    [{ read: false }, 'busy'],
    [{ seen: false }, 'reader'],
  ] as const) {
    const plan = await explainPrepared(app.database.db, await only(feed(filter, subscriberId)))
    assert.ok(plan.rest.rowsExamined <= page.rows, plan.text)
    assert.ok(plan.rest.pagesTouched <= page.pages, plan.text)
    const counted = plan.parts.get('c') ?? assert.fail(plan.text)
    assert.ok(counted.rowsExamined <= 20_100, plan.text)
    // By the index alone: a hundred entries on a page of it, and a few pages in each partition.
    assert.ok(counted.pagesTouched <= counted.rowsExamined / 40 + 30, `${counted.pagesTouched} pages: ${plan.text}`)
  }
})

test('the stamp of a page is one prepared statement, which looks at a page of messages and at nothing else', async () => {
  for (const [filter, subscriberId] of [
    [{}, 'busy'],
    [{}, 'lonely'],
    [{ limit: 50 }, 'busy'],
    [{ read: false }, 'busy'],
    [{ seen: false }, 'reader'],
    [{ read: true, seen: true }, 'reader'],
  ] as const) {
    const statement = await only(stamp(filter, subscriberId))
    assert.match(statement.name ?? '', /^feed-stamp/)
    const [asked, whole] = [
      await explainPrepared(app.database.db, statement),
      await explainPrepared(app.database.db, await only(feed(filter, subscriberId))),
    ]
    assert.ok(asked.rest.rowsExamined <= 3 * ('limit' in filter ? filter.limit : limit), asked.text)
    assert.ok(asked.rest.pagesTouched <= whole.rest.pagesTouched, asked.text)
    assert.deepEqual(asked.parts.get('c'), whole.parts.get('c'))
    const names = [...asked.relations].map((name) => name.replace(/_.*$/, ''))
    assert.deepEqual([...new Set(names)].sort(), ['messages', 'subscribers'], asked.text)
  }
})

test('the count beside a page of an ordinary feed costs no more than the page', async () => {
  const ordinary = await scene.say('ordinary')
  await copyMessage(app, ordinary.id, 300, [scene.people.get('ordinary') ?? ''])
  await app.database.db.run(sql`vacuum analyze messages`)
  const plan = await explainPrepared(app.database.db, await only(feed({}, 'ordinary')))
  const counted = plan.parts.get('c') ?? assert.fail(plan.text)
  assert.ok(counted.pagesTouched <= plan.rest.pagesTouched, plan.text)
})

test('the events of a prepared page are looked for in their own partitions', async () => {
  const plan = await explainPrepared(app.database.db, await only(feed({})))
  const events = [...plan.relations].filter((name) => name.startsWith('events_'))
  assert.equal(events.length, 1, plan.text)
})

test('a plan for any values is expected to cost no more than one for these: the server keeps it only then', async () => {
  const statements = [
    ...[feed({}), feed({ limit: 50 }), feed({ read: false }), count({ seen: false })],
    ...[stamp({}), stamp({ limit: 50 }), stamp({ read: false })],
  ]
  for (const read of statements) {
    const costs = await estimatedCosts(app.database.db, await only(read))
    assert.ok(costs.prepared <= costs.once, JSON.stringify(costs))
  }
})

test('a prepared count looks at what it counts', async () => {
  for (const filter of [{ read: false }, { seen: false }]) {
    const plan = await explainPrepared(app.database.db, await only(count(filter)))
    assert.ok(plan.rowsExamined <= 150, plan.text)
    assert.ok(plan.pagesTouched <= 150, plan.text)
  }
})

test('a page of messages of all channels looks at a page of each', async () => {
  const found = await pinned('messages', list({}))
  assert.equal(found.data.length, limit)
  await pinned('messages, deep', list({ page: deep.offset / limit }), { rows: 3 * deep.rows, pages: deep.rows })
})

test('a page of messages of a channel or of a subscriber looks at a page of rows', async () => {
  for (const query of [
    { channel: 'email' },
    { subscriberId: 'busy' },
    { subscriberId: 'lonely' },
    { subscriberId: 'lonely', channel: 'email' },
    { channel: 'push' },
  ] as const) {
    const found = await pinned(`messages, ${JSON.stringify(query)}`, list(query))
    assert.equal(found.data.length, 'channel' in query && query.channel === 'push' ? 0 : limit)
  }
  await pinned('messages, channel, deep', list({ channel: 'email', page: deep.offset / limit }), {
    rows: deep.rows,
    pages: deep.rows,
  })
})

test('messages of a context are found by its index, with and without a channel', async () => {
  for (const channel of [{}, { channel: 'in_app' }] as const) {
    const common = await pinned('messages, context', list({ contextKeys: ['tenant:10'], ...channel }))
    assert.equal(common.data.length, limit)
    const rare = await pinned('messages, rare context', list({ contextKeys: ['tenant:rare'], ...channel }))
    assert.ok(rare.data.length > 0)
    const none = await pinned('messages, no such context', list({ contextKeys: ['tenant:none'], ...channel }))
    assert.equal(none.data.length, 0)
  }
  const without = await pinned('messages, without a context', list({ contextKeys: [] }))
  assert.equal(without.data.length, limit)
})

test('messages of a transaction lie together in the primary key, however many share the month', async () => {
  const one = (await list({ channel: 'email' })(app.database.db)).data[0] ?? assert.fail('no message')
  const found = await pinned('messages, transaction', list({ transactionIds: [one.transactionId] }))
  assert.deepEqual(
    found.data.map((message) => message._id),
    [one._id],
  )
  const several = await pinned(
    'messages, transactions',
    list({ transactionIds: [one.transactionId, 'never', 'crowd'] }),
  )
  assert.equal(several.data.length, limit)
})

test('a page of an event for very many looks at a page of rows', async () => {
  const found = await pinned('messages, crowd', list({ transactionIds: ['crowd'] }))
  assert.equal(found.data.length, limit)
  assert.ok(found.data.every((message) => message._id >= idsOfEvent(crowdEventId).from))
})

test('one person’s message of an event for very many is found by its own id', async () => {
  const found = await pinned('messages, crowd, one person', list({ transactionIds: ['crowd'], subscriberId: 'lonely' }))
  assert.equal(found.data.length, 1)
})

test('what was not sent is found among very much that was, by itself and with a time', async () => {
  const { db } = app.database
  const rare = sql`select id from messages where environment_id = ${environment.id} and channel = 'email'
    order by created_at limit 3`
  await db.run(
    sql`update messages set status = 'warning', error_id = 'no_address', provider_id = 'sendgrid' where id in (${rare})`,
  )
  for (const query of [
    { statuses: ['warning'] },
    { statuses: ['error', 'warning'], channel: 'email' },
    { statuses: ['warning'], errorIds: ['no_address'], after: '2020-01-01' },
    { errorIds: ['no_address'] },
    { errorIds: ['no_address'], statuses: ['sent', 'warning'], providers: ['sendgrid'] },
  ] as const) {
    const found = await pinned(`messages, ${JSON.stringify(query)}`, list(query))
    assert.equal(found.data.length, 3)
    assert.equal(found.totalCount, 3)
  }
  const absent = await pinned('messages, none failed', list({ statuses: ['error'] }))
  assert.equal(absent.data.length, 0)
  const sent = await pinned('messages, sent', list({ statuses: ['sent'], after: '2020-01-01' }), {
    rows: 2 * page.rows,
    pages: 2 * page.pages,
  })
  assert.equal(sent.data.length, limit)
})

test('a provider is looked for among the messages of thirty days, on the page and in its count', async () => {
  const before = new Date(app.world.now().getTime() - 40 * dayMs).toISOString()
  // One in seven minutes and channel; the rest of a hundred days, and the crowd, are not looked at.
  const walked = { rows: (2 * 30 * dayMs) / (7 * minuteMs) + 100, pages: 2 * 30 * 24 * 60 }
  const found = await pinned('messages, absent provider', list({ providers: ['typo'], before }), walked)
  assert.deepEqual([found.data.length, found.totalCount], [0, 0])
  await countPinned(list({ providers: ['typo'], before }), walked)
})

test('marking all that is open walks what is open', async () => {
  const recording = recordStatements(app.database.db)
  const marking = {
    subscriberId: scene.people.get('reader') ?? '',
    mark: 'seen',
    feedIds: undefined,
    now: app.world.now(),
    counted: new Map(),
  } as const
  await markNext(recording, environment, marking, undefined)
  const select = recording.statements[0] ?? assert.fail('nothing ran')
  const plan = await explain(app.database.db, select)
  assert.equal(plan.hasSequentialScan, false, plan.text)
  assert.ok(plan.rowsExamined <= 100, plan.text)
})

test('a walk over the whole table, or over a whole index, would be noticed', async () => {
  const { db } = app.database
  const table = await explain(db, sql`select id from messages where title = 'none'`)
  assert.equal(table.hasSequentialScan, true, table.text)
  assert.ok(table.rowsExamined > deep.rows, table.text)
  const index = await explain(
    db,
    sql`select id from messages where environment_id = ${environment.id} and channel = 'in_app' and status is not null
          and deleted_at is null and title = 'none' order by created_at desc limit 1`,
  )
  assert.ok(index.rowsExamined > deep.rows, index.text)
})
