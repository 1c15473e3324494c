// Pages of things that callers made as large as they may be: refused before they are read, or written in turns.
import assert from 'node:assert/strict'
import { get } from 'node:http'
import { after, before, test } from 'node:test'
import type { Sql } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { nilId } from '../../src/domain/nil-id.ts'
import { inboxPage } from '../../src/read/messages/inbox.ts'
import { messagesLength } from '../../src/store/messages/origins.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'
import { listen } from '../support/raw-socket.ts'
import { watchWork } from '../support/turn-cpu.ts'

const count = 40
/** Nothing is slower to write for its size than many empty lists. */
const dense = Array.from({ length: 170_000 }, () => [])
const payloadOf = (at: number): Json => ({ at, dense })
const url = 'https://hooks.slack.com/services/planted-by-the-payload'

let app: TestApp
let scene: MessageScene
let reader: string
let port: number
before(async () => {
  app = await createTestApp()
  scene = await MessageScene.of(app, ['anne', 'ben', 'cleo'])
  for (let at = 0; at < count; at += 1) await scene.say('anne', { event: { payload: payloadOf(at) } })
  await scene.say('ben', { event: { payload: { webhookUrl: url, dense } } })
  const created = await app.call('POST', '/v1/environments/api-keys', { body: { name: 'reader', scopes: ['read'] } })
  reader = created.body.key
  port = await listen(app)
})
after(() => app.close())

/** Half a million brackets take long to compare. */
const inShort = (item: Json): Json =>
  JSON.parse(JSON.stringify(item, (name, value) => (name === 'dense' ? value.length : value)))

function bytesOf(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ port, path, headers: { authorization: `ApiKey ${reader}` } }, (answer) => {
      let bytes = 0
      answer.on('data', (piece: Buffer) => {
        bytes += piece.length
      })
      answer.on('end', () => resolve(bytes)).on('error', reject)
    }).on('error', reject)
  })
}

const lists = {
  activity: '/v1/notifications?subscriberIds=anne',
  messages: '/v1/messages?subscriberId=anne',
  feed: '/v1/subscribers/anne/notifications/feed?read=false',
}

for (const [name, path] of Object.entries(lists)) {
  test(`${name}: a page with too much on it names the limit, and little of it is read`, async () => {
    const reply = await app.call('GET', `${path}&limit=50`, { key: reader })
    assert.equal(reply.status, 422, reply.text.slice(0, 200))
    assert.match(reply.body.errors.limit.messages[0], /^limit must be smaller: these 40 items have \d+ characters/)
  })

  test(`${name}: a large page is the pages of its items, and no turn is long`, async () => {
    const [limit, page] = [10, 1]
    const reply = await app.call('GET', `${path}&limit=${limit}&page=${page}`, { key: reader })
    assert.equal(reply.status, 200)
    assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(Number(reply.headers['content-length']), Buffer.byteLength(reply.text))
    const { data, ...rest } = reply.body
    assert.deepEqual(
      data.map((item: Json) => item.payload.at),
      Array.from({ length: limit }, (_, at) => count - 1 - page * limit - at),
    )
    const alone = await app.call('GET', `${path}&limit=1&page=${page * limit + 3}`, { key: reader })
    assert.deepEqual(inShort(data[3]), inShort(alone.body.data[0]))
    assert.equal(rest.hasMore, true)
    assert.equal(rest.page, page)
    // Its bytes are only counted: to parse them would be a long turn of the test's own.
    const { result, share } = await watchWork(() => bytesOf(`${path}&limit=${limit}&page=${page}`))
    assert.equal(result, Buffer.byteLength(reply.text))
    assert.ok(share < 1, `the longest turn took ${share} of what it may`)
  })
}

test('feed: what is stored compressed weighs what it has, however little is stored of it', async () => {
  const texts = [...Array.from({ length: 18 }, () => 'x'.repeat(1_000_000)), 'x'.repeat(50_000), 'x']
  for (const text of texts) await scene.say('cleo', { event: { payload: { text } } })
  const stored = await app.database.db.rows<{ bytes: number; characters: number }>(sql`
    select pg_column_size(e.payload) as bytes, length(e.payload::text) + length(e.overrides::text) as characters
    from events e where e.payload ? 'text'`)
  assert.ok(stored.some(({ bytes, characters }) => bytes < 1_000 && characters > 50_000))
  const exact = stored.reduce((sum, { characters }) => sum + characters, 0)
  const reply = await app.call('GET', '/v1/subscribers/cleo/notifications/feed?limit=50')
  assert.equal(reply.status, 422)
  const reported = Number(/have (\d+) characters/.exec(reply.body.errors.limit.messages[0])?.[1])
  assert.ok(Math.abs(reported - exact) < 100, `${reported} instead of ${exact}`)
})

test('messages that are marked are answered in turns as well, each as it is by itself', async () => {
  const { body } = await app.call('GET', `${lists.messages}&limit=10`)
  const ids = body.data.map(({ _id }: Json) => _id)
  const mark = (messageId: string[]): Promise<TestReply> =>
    app.call('POST', '/v1/subscribers/anne/messages/mark-as', { body: { messageId, markAs: 'seen' } })
  const marked = await mark(ids)
  assert.equal(marked.status, 201)
  assert.deepEqual(
    marked.body.map(({ _id }: Json) => _id),
    ids,
  )
  const again = await mark([ids[3]])
  assert.deepEqual(inShort(marked.body[3]), inShort(again.body[0]))
})

test('more than an answer may hold is not marked at all, and the messages are named', async () => {
  const { rows } = app.database.db
  const found = await rows<{ id: string }>(sql`select id from messages`)
  const messageId = found.map(({ id }) => id).slice(0, count)
  const path = '/v1/subscribers/anne/messages/mark-as'
  const marked = await app.call('POST', path, { body: { messageId, markAs: 'archived' } })
  assert.equal(marked.status, 422)
  assert.match(marked.body.errors.messageId.messages[0], /^messageId must have fewer entries: these 40 messages/)
  assert.deepEqual(await rows(sql`select id from messages where archived`), [])
})

test('marked messages are weighed with those of the subscriber alone, and without events that are gone', async () => {
  const { db } = app.database
  const found = await db.rows<{ id: string }>(sql`select id from messages`)
  const ids = found.map(({ id }) => id)
  const [anne, ben] = ['anne', 'ben'].map((name) => scene.people.get(name) ?? '')
  const lengthFor = (subscriberId = ''): Promise<number> =>
    messagesLength(db, scene.scene.environment, { subscriberId, ids })
  const [ofAnne, ofBen] = [await lengthFor(anne), await lengthFor(ben)]
  assert.ok(ofAnne > 30 * ofBen && ofBen > 0, `${ofAnne} and ${ofBen} characters`)
  await assert.rejects(
    db.transaction(async (tx) => {
      await tx.run(sql`update messages set event_id = ${nilId}`)
      const { length } = JSON.stringify({ webhookUrl: url, dense })
      const left = await messagesLength(tx, scene.scene.environment, { subscriberId: ben ?? '', ids })
      assert.ok(left > 0 && left < ofBen - length, `${left} of ${ofBen} characters`)
      throw new Error('undone')
    }),
    /undone/,
  )
})

test('a notification by itself is shown whatever it weighs, with each of its jobs', async () => {
  const list = await app.call('GET', `${lists.activity}&limit=1`, { key: reader })
  const [first] = list.body.data
  const { status, body } = await app.call('GET', `/v1/notifications/${first._id}`, { key: reader })
  assert.equal(status, 200)
  for (const shown of [body, ...body.jobs, ...body.jobs.flatMap((job: Json) => job.messages)]) {
    assert.equal(shown.payload.dense.length, dense.length)
  }
})

test('what is struck out of small answers is struck out of large ones', async () => {
  const paths = [
    '/v1/notifications?subscriberIds=ben',
    '/v1/messages?subscriberId=ben',
    '/v1/subscribers/ben/notifications/feed',
  ]
  for (const path of paths) {
    const shown = await app.call('GET', path, { key: reader })
    assert.equal(shown.status, 200)
    assert.equal(shown.text.includes(url), false, path)
    assert.equal((await app.call('GET', path)).text.includes(url), true, path)
  }
})

test('a page of an inbox reads nothing of the payloads, which it does not show', async () => {
  const { db } = app.database
  let characters = 0
  const watched: Sql = {
    ...db,
    rows: async <Row extends object>(statement: Parameters<Sql['rows']>[0]) => {
      const rows = await db.rows<Row>(statement)
      characters += JSON.stringify(rows).length
      return rows
    },
  }
  const environment = scene.scene.environment
  const inbox = { environment, id: scene.people.get('anne') ?? '', contextKeys: undefined }
  const page = await inboxPage(watched, inbox, { filter: {}, limit: 40, after: undefined, offset: 0 })
  assert.equal(page.data.length, count)
  assert.ok(characters < 200_000, `${characters} characters were read`)
})
