// The cursor lists of topics and topic subscriptions: every way to walk them.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { writeCursor } from '../../src/read/page/cursor.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { addSubscribers, environmentOf } from '../support/topic-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())
beforeEach(() => app.database.db.run(sql`delete from topics`))

const names = (count: number) => Array.from({ length: count }, (_, index) => `t${String(index).padStart(2, '0')}`)

async function addTopics(keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await app.call('POST', '/v2/topics', { body: { key, name: `Topic ${key}` } })
    app.world.advance(1)
  }
}

interface Page {
  readonly status: number
  readonly keys: string[]
  readonly next: string | null
  readonly previous: string | null
  readonly totalCount: number
  readonly body: Json
}

async function list(query: Record<string, string | number | boolean> = {}, path = '/v2/topics'): Promise<Page> {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const { status, body } = await app.call('GET', `${path}?${search}`)
  const keys = (body.data ?? []).map((item: Json) => item.key ?? `${item.topic.key}/${item.subscriber.subscriberId}`)
  return { status, keys, next: body.next, previous: body.previous, totalCount: body.totalCount, body }
}

/** Walks from the first page to the last by `next`, or from where it stands to the first by `previous`. */
async function walk(query: Record<string, string>, path: string, random: () => number): Promise<[string[], string[]]> {
  const limit = () => 1 + Math.floor(random() * 12)
  let page = await list({ ...query, limit: limit() }, path)
  assert.equal(page.previous, null)
  const forward = [...page.keys]
  while (page.next !== null) {
    page = await list({ ...query, limit: limit(), after: page.next }, path)
    assert.notEqual(page.previous, null)
    forward.push(...page.keys)
  }
  const back = [...page.keys]
  while (page.previous !== null) {
    page = await list({ ...query, limit: limit(), before: page.previous }, path)
    assert.notEqual(page.next, null)
    back.unshift(...page.keys)
  }
  return [forward, back]
}

/** Mulberry32: the same walk every time the test runs. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test('the list is newest first, ten a page, and says where it continues', async () => {
  await addTopics(names(12))
  const first = await list()
  assert.deepEqual(first.keys, names(12).reverse().slice(0, 10))
  assert.deepEqual([first.previous, first.totalCount, first.body.totalCountCapped], [null, 12, false])
  const second = await list({ after: first.next ?? '' })
  assert.deepEqual([second.keys, second.next, second.totalCount], [['t01', 't00'], null, 12])
  const back = await list({ before: second.previous ?? '' })
  assert.deepEqual([back.keys, back.previous, back.next], [first.keys, null, first.next])
})

test('an empty list has no way on and none back', async () => {
  const page = await list()
  assert.deepEqual(page.body, { data: [], next: null, previous: null, totalCount: 0, totalCountCapped: false })
})

test('next and previous are null exactly when nothing follows and nothing precedes', async () => {
  await addTopics(names(4))
  const whole = await list({ limit: 4 })
  assert.deepEqual([whole.next, whole.previous], [null, null])
  const first = await list({ limit: 2 })
  const last = await list({ limit: 2, after: first.next ?? '' })
  assert.deepEqual([last.keys, last.next], [['t01', 't00'], null])
  assert.notEqual(last.previous, null)
  const nearest = await list({ limit: 1, before: last.previous ?? '' })
  assert.deepEqual(nearest.keys, ['t02'])
  assert.ok(nearest.next !== null && nearest.previous !== null)
  const top = await list({ limit: 1, before: nearest.previous ?? '' })
  assert.deepEqual([top.keys, top.previous], [['t03'], null])
  const beyond = await list({ before: cursorTo(top) })
  assert.deepEqual([beyond.keys, beyond.next, beyond.previous, beyond.totalCount], [[], null, null, 4])
})

/** A cursor at the first item of a page, made from its `next` when it is the only item. */
function cursorTo(page: Page): string {
  return page.next ?? assert.fail('the page has nothing after it')
}

test('includeCursor puts the item of the cursor into the page, in both directions', async () => {
  await addTopics(names(6))
  const { next } = await list({ limit: 3 })
  const cursor = next ?? ''
  assert.deepEqual((await list({ after: cursor })).keys, ['t02', 't01', 't00'])
  assert.deepEqual((await list({ after: cursor, includeCursor: true })).keys, ['t03', 't02', 't01', 't00'])
  assert.deepEqual((await list({ before: cursor })).keys, ['t05', 't04'])
  assert.deepEqual((await list({ before: cursor, includeCursor: true })).keys, ['t05', 't04', 't03'])
  assert.deepEqual((await list({ before: cursor, includeCursor: true, limit: 2 })).keys, ['t04', 't03'])
})

test('a cursor outlives its item, and what is inserted around it is in its place', async () => {
  await addTopics(['a', 'c', 'e', 'g'])
  const order = { orderBy: 'key', orderDirection: 'ASC' }
  const { next } = await list({ ...order, limit: 2 })
  const cursor = next ?? ''
  await app.call('DELETE', '/v2/topics/c')
  assert.deepEqual((await list({ ...order, after: cursor })).keys, ['e', 'g'])
  assert.deepEqual((await list({ ...order, before: cursor })).keys, ['a'])
  assert.deepEqual((await list({ ...order, after: cursor, includeCursor: true })).keys, ['e', 'g'])
  await addTopics(['b', 'd'])
  assert.deepEqual((await list({ ...order, after: cursor })).keys, ['d', 'e', 'g'])
  assert.deepEqual((await list({ ...order, before: cursor })).keys, ['a', 'b'])
})

test('walking 57 topics there and back with random limits visits each once, in every order', async () => {
  const random = seeded(57)
  const environment = await environmentOf(app)
  await addTopics(names(57).sort(() => random() - 0.5))
  // Ties: many topics share one updatedAt, and the id decides between them.
  await app.database.db.run(sql`
    update topics set updated_at = timestamptz '2026-01-05T00:00:00Z' + (ascii(right(key, 1)) % 3) * interval '1 second'
    where environment_id = ${environment.id}`)
  for (const orderBy of ['_id', 'createdAt', 'updatedAt', 'key']) {
    for (const orderDirection of ['ASC', 'DESC']) {
      const [forward, back] = await walk({ orderBy, orderDirection }, '/v2/topics', random)
      assert.deepEqual(back, forward, `${orderBy} ${orderDirection}`)
      assert.deepEqual(forward.toSorted(), names(57), `${orderBy} ${orderDirection}`)
      const expected = await expectedOrder(orderBy, orderDirection)
      assert.deepEqual(forward, expected, `${orderBy} ${orderDirection}`)
    }
  }
})

async function expectedOrder(orderBy: string, direction: string): Promise<string[]> {
  const rows = await app.database.db.rows<{ key: string; id: string; created_at: Date; updated_at: Date }>(
    sql`select key, id, created_at, updated_at from topics`,
  )
  const sortValue = (row: (typeof rows)[number]) =>
    ({ _id: row.id, createdAt: row.created_at.toISOString(), updatedAt: row.updated_at.toISOString(), key: row.key })[
      orderBy
    ] ?? ''
  const text = (row: (typeof rows)[number]) => `${sortValue(row)} ${row.id}`
  const sorted = rows.toSorted((a, b) => (text(a) < text(b) ? -1 : 1)).map((row) => row.key)
  return direction === 'ASC' ? sorted : sorted.reverse()
}

test('walking 57 subscriptions of a topic, and of a subscriber, visits each once', async () => {
  const random = seeded(5)
  const people = names(57)
  await addSubscribers(app, people)
  await app.call('POST', '/v2/topics/walked/subscriptions', { body: { subscriptions: people } })
  for (const key of people)
    await app.call('POST', `/v2/topics/${key}/subscriptions`, { body: { subscriptions: ['t00'] } })
  for (const orderBy of ['_id', 'createdAt', 'updatedAt']) {
    const [forward, back] = await walk({ orderBy, orderDirection: 'ASC' }, '/v2/topics/walked/subscriptions', random)
    assert.deepEqual([forward, back], [people.map((id) => `walked/${id}`), forward])
    const [ofOne, backAgain] = await walk({ orderBy }, '/v2/subscribers/t00/subscriptions', random)
    assert.deepEqual(ofOne, ['walked/t00', ...people.map((key) => `${key}/t00`)].reverse())
    assert.deepEqual(backAgain, ofOne)
  }
})

test('filters: key is exact, name is contained, both are case-sensitive and both must hold; the count follows', async () => {
  for (const [key, name] of [
    ['one', 'Weekly News'],
    ['two', 'weekly digest'],
    ['three', '100% News_x'],
    ['four', undefined],
  ]) {
    await app.call('POST', '/v2/topics', { body: { key, ...(name === undefined ? {} : { name }) } })
    app.world.advance(1)
  }
  const keysOf = async (query: Record<string, string>) => {
    const page = await list(query)
    assert.equal(page.totalCount, page.keys.length)
    return page.keys
  }
  assert.deepEqual(await keysOf({ key: 'two' }), ['two'])
  assert.deepEqual(await keysOf({ key: 'tw' }), [])
  assert.deepEqual(await keysOf({ key: 'TWO' }), [])
  assert.deepEqual(await keysOf({ name: 'News' }), ['three', 'one'])
  assert.deepEqual(await keysOf({ name: 'news' }), [])
  assert.deepEqual(await keysOf({ name: 'eekly' }), ['two', 'one'])
  assert.deepEqual(await keysOf({ name: '0% N' }), ['three'])
  assert.deepEqual(await keysOf({ name: '%%%' }), [])
  assert.deepEqual(await keysOf({ name: 'We' }), ['one'])
  assert.deepEqual(await keysOf({ name: 'ee' }), [])
  assert.deepEqual(await keysOf({ name: 'News', key: 'one' }), ['one'])
  assert.deepEqual(await keysOf({ name: 'News', key: 'two' }), [])
  assert.deepEqual(await keysOf({ name: '', key: '' }), ['four', 'three', 'two', 'one'])
})

test('a filtered list keeps its filter from page to page', async () => {
  await addTopics(names(20))
  const first = await list({ name: 'Topic t1', limit: 6 })
  assert.deepEqual([first.keys, first.totalCount], [['t19', 't18', 't17', 't16', 't15', 't14'], 10])
  const second = await list({ name: 'Topic t1', limit: 6, after: first.next ?? '' })
  assert.deepEqual([second.keys, second.next, second.totalCount], [['t13', 't12', 't11', 't10'], null, 10])
})

test('subscriptions are filtered by the exact subscriberId, and the count follows', async () => {
  await addSubscribers(app, ['pat', 'pat2'])
  await app.call('POST', '/v2/topics/filtered/subscriptions', { body: { subscriptions: ['pat', 'pat2'] } })
  const path = '/v2/topics/filtered/subscriptions'
  const one = await list({ subscriberId: 'pat' }, path)
  assert.deepEqual([one.keys, one.totalCount], [['filtered/pat'], 1])
  for (const subscriberId of ['pa', 'PAT', 'nobody']) {
    const none = await list({ subscriberId }, path)
    assert.deepEqual([none.keys, none.totalCount], [[], 0])
  }
  assert.equal((await list({ subscriberId: '' }, path)).totalCount, 2)
})

const paths = ['/v2/topics', '/v2/topics/checked/subscriptions', '/v2/subscribers/checker/subscriptions']

test('both cursors, a broken cursor and the cursor of another order are 400', async () => {
  await app.database.db.run(sql`delete from topic_subscriptions`)
  await addSubscribers(app, ['checker'])
  for (const key of ['checked', 'checked-2']) {
    await app.call('POST', `/v2/topics/${key}/subscriptions`, { body: { subscriptions: ['checker', 't00'] } })
  }
  for (const path of paths) {
    const { next } = await list({ limit: 1 }, path)
    const cursor = next ?? assert.fail(`${path} has one page`)
    const both = await list({ after: cursor, before: cursor }, path)
    assert.equal(both.status, 400)
    assert.equal(both.body.message, 'Cannot specify both "before" and "after" cursors at the same time.')
    assert.equal((await list({ after: cursor, orderBy: 'updatedAt' }, path)).status, 400)
    for (const broken of [
      '',
      'nonsense',
      cursor.slice(0, -8),
      Buffer.from('[]').toString('base64url'),
      Buffer.from('7').toString('base64url'),
    ]) {
      assert.equal((await list({ after: broken }, path)).status, 400, `${path} after=${broken}`)
      assert.equal((await list({ before: broken }, path)).status, 400, `${path} before=${broken}`)
    }
  }
})

test('a cursor with a value the order cannot hold is 400, not a fault of ours', async () => {
  const id = app.world.newId(app.world.now())
  for (const [orderBy, value] of [
    ['_id', 'x'],
    ['createdAt', '2026-01-01T00:00:00.000Z'],
    ['updatedAt', 'yesterday'],
    ['updatedAt', '2026-99-99T00:00:00.000Z'],
    ['key', 'a\u0000b'],
  ] as const) {
    assert.equal(
      (await list({ orderBy, after: writeCursor({ orderBy, value, id }) })).status,
      400,
      `${orderBy} ${value}`,
    )
  }
})

test('a limit outside 1 to 100, an unknown order or direction is 422 and names the field', async () => {
  await app.call('POST', '/v2/topics', { body: { key: 'checked' } })
  for (const path of paths) {
    for (const limit of ['0', '101', '-1', 'abc', '1.5']) {
      const reply = await list({ limit }, path)
      assert.equal(reply.status, 422, `${path} ${limit}`)
      assert.deepEqual(Object.keys(reply.body.errors), ['limit'])
    }
    assert.equal((await list({ limit: 100 }, path)).status, 200)
    for (const [field, value] of [
      ['orderBy', 'name'],
      ['orderBy', 'toString'],
      ['orderDirection', 'asc'],
      ['includeCursor', 'maybe'],
    ] as const) {
      const reply = await list({ [field]: value }, path)
      assert.deepEqual([reply.status, Object.keys(reply.body.errors)], [422, [field]], `${path} ${field}=${value}`)
    }
  }
  assert.equal((await list({ orderBy: 'key' }, paths[1])).status, 422)
})

test('the count stops at 50,000 and says so', async () => {
  const environment = await environmentOf(app)
  const add = (from: number, to: number) =>
    app.database.db.run(sql`
      insert into topics (environment_id, id, key, name, created_at, updated_at)
      select ${environment.id}, gen_random_uuid(), 'many-' || n, case when n <= 3 then 'Rare' else 'Common' end, now(), now()
      from generate_series(${from}::int, ${to}::int) as n`)
  await add(1, 50_000)
  const full = await list({ limit: 1 })
  assert.deepEqual([full.totalCount, full.body.totalCountCapped], [50_000, false])
  await add(50_001, 50_001)
  const over = await list({ limit: 1 })
  assert.deepEqual([over.totalCount, over.body.totalCountCapped], [50_000, true])
  const rare = await list({ limit: 1, name: 'Rare' })
  assert.deepEqual([rare.totalCount, rare.body.totalCountCapped], [3, false])
})
