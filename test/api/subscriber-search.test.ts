// Searching subscribers: filters and cursors.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const people = [
  { subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', phone: '+44 100' },
  { subscriberId: 'Ada', firstName: 'ADA', lastName: 'King', email: 'ADA@example.org', phone: '+44 200' },
  { subscriberId: 'grace', firstName: 'Grace', lastName: 'Hopper', email: 'grace_h%@example.com', phone: '+1 300' },
  { subscriberId: 'alone', firstName: null, lastName: 'Turing', email: 'turing@example.net', phone: null },
  { subscriberId: 'empty' },
]

async function found(query: string): Promise<string[]> {
  const { status, body } = await app.call('GET', `/v2/subscribers?orderDirection=ASC&limit=100&${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.totalCount, body.data.length)
  return body.data.map((subscriber: Json) => subscriber.subscriberId)
}

test('filters are case-sensitive, literal, and combine with AND', async () => {
  for (const body of people) await app.call('POST', '/v2/subscribers', { body })
  assert.deepEqual(await found('email=example.com'), ['ada', 'grace'])
  assert.deepEqual(await found('email=ada%40'), ['ada'])
  assert.deepEqual(await found('email=ADA%40'), ['Ada'])
  assert.deepEqual(await found('subscriberId=ada'), ['ada'])
  assert.deepEqual(await found('subscriberId=ad'), [])
  assert.deepEqual(await found('phone=44+'), ['ada', 'Ada'])
  assert.deepEqual(await found('name=Ada+Love'), ['ada'])
  assert.deepEqual(await found('name=Turing'), ['alone'])
  assert.deepEqual(await found('name=love'), [])
  assert.deepEqual(await found(`email=${encodeURIComponent('_h%@')}`), ['grace'])
  assert.deepEqual(await found(`email=${encodeURIComponent('%')}`), [])
  assert.deepEqual(await found('email=example.com&name=Grace'), ['grace'])
  assert.deepEqual(await found('email=example.com&name=Turing'), [])
})

test('text shorter than three characters is looked for at the beginning', async () => {
  assert.deepEqual(await found('email=gr'), ['grace'])
  assert.deepEqual(await found('email=ra'), [])
})

test('lists are newest first, ten at a time, unless asked otherwise', async () => {
  for (let index = 0; index < 12; index += 1) {
    app.world.advance(1)
    await app.call('POST', '/v2/subscribers', { body: { subscriberId: `list-${index}` } })
  }
  const { body } = await app.call('GET', '/v2/subscribers')
  assert.equal(body.data.length, 10)
  assert.equal(body.data[0].subscriberId, 'list-11')
  assert.equal(body.previous, null)
  assert.equal(typeof body.next, 'string')
  assert.equal(body.totalCount, 17)
  assert.equal(body.totalCountCapped, false)
  const rest = await app.call('GET', `/v2/subscribers?after=${body.next}`)
  assert.equal(rest.body.data.length, 7)
  assert.equal(rest.body.next, null)
})

test('updatedAt and subscriberId orders page without loss, ties included', async () => {
  for (const orderBy of ['_id', 'createdAt', 'updatedAt', 'subscriberId']) {
    for (const orderDirection of ['ASC', 'DESC']) {
      const seen: string[] = []
      let after = ''
      do {
        const path = `/v2/subscribers?limit=4&orderBy=${orderBy}&orderDirection=${orderDirection}${after}`
        const { status, body } = await app.call('GET', path)
        assert.equal(status, 200)
        seen.push(...body.data.map((subscriber: Json) => subscriber.subscriberId))
        after = body.next === null ? '' : `&after=${body.next}`
      } while (after !== '')
      assert.equal(seen.length, 17, `${orderBy} ${orderDirection}`)
      assert.equal(new Set(seen).size, 17)
      if (orderBy === 'subscriberId') {
        const sorted = seen.toSorted((a, b) => (a < b ? -1 : 1))
        assert.deepEqual(seen, orderDirection === 'ASC' ? sorted : sorted.toReversed())
      }
    }
  }
})

test('channels come with the page', async () => {
  await app.call('PUT', '/v1/subscribers/ada/credentials', {
    body: { providerId: 'fcm', credentials: { deviceTokens: ['t'] } },
  })
  const { body } = await app.call('GET', '/v2/subscribers?subscriberId=ada')
  assert.deepEqual(body.data[0].channels[0].credentials, { deviceTokens: ['t'] })
})

test('an unknown order, a limit out of range and a broken cursor are refused', async () => {
  for (const query of [
    'orderBy=email',
    'orderDirection=asc',
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=ten',
    'limit=1&limit=2',
    'includeCursor=1',
  ]) {
    const reply = await app.call('GET', `/v2/subscribers?${query}`)
    assert.equal(reply.status, 422, query)
  }
  for (const query of [
    'after=x',
    'after=WzFd',
    `after=${Buffer.from('["_id","x","y"]').toString('base64url')}`,
    'after=a&before=b',
  ]) {
    assert.equal((await app.call('GET', `/v2/subscribers?${query}`)).status, 400, query)
  }
})

test('an empty filter is none', async () => {
  const all = await found('')
  for (const name of ['email', 'phone', 'name', 'subscriberId']) assert.deepEqual(await found(`${name}=`), all, name)
})

test('names in any script are found, by a part and by a beginning', async () => {
  for (const [subscriberId, firstName] of [
    ['cyrillic', 'Щукина Наталья'],
    ['kanji', '田中太郎'],
    ['emoji', '🦊🦊🦊🦊'],
    ['signs', 'a@@@b'],
  ]) {
    await app.call('POST', '/v2/subscribers', { body: { subscriberId, firstName } })
  }
  for (const [text, subscriberId] of [
    ['Щук', 'cyrillic'],
    ['кина Ната', 'cyrillic'],
    ['中太郎', 'kanji'],
    ['田', 'kanji'],
    ['🦊🦊🦊', 'emoji'],
    ['@@@', 'signs'],
  ] as const) {
    assert.deepEqual(await found(`name=${encodeURIComponent(text)}`), [subscriberId], text)
  }
})

test('a cursor made manually is refused, whatever is in it', async () => {
  const id = '01890000-0000-7000-8000-000000000000'
  for (const parts of [
    [{ toString: 1, valueOf: 1 }, 'x', id],
    ['updatedAt', '0000-01-01T00:00:00.000Z', id],
    ['updatedAt', '2026-02-30T00:00:00.000Z', id],
    ['updatedAt', '2026-01-01', id],
    ['_id', 'no-uuid', id],
    [null, null, null],
  ]) {
    const cursor = Buffer.from(JSON.stringify(parts)).toString('base64url')
    for (const orderBy of ['_id', 'updatedAt', 'subscriberId']) {
      const reply = await app.call('GET', `/v2/subscribers?orderBy=${orderBy}&after=${cursor}`)
      assert.equal(reply.status, 400, JSON.stringify(parts))
    }
  }
})

test('counts stop at 50,000 and say so', async () => {
  await app.database.db.run(sql`
    insert into subscribers (environment_id, id, subscriber_id, created_at, updated_at)
    select e.id, gen_random_uuid(), 'count-' || n, now(), now() from environments e, generate_series(1, 50001) n
    where e.name = 'Production'`)
  const { body } = await app.call('GET', '/v2/subscribers', { key: app.productionKey })
  assert.deepEqual([body.totalCount, body.totalCountCapped], [50_000, true])
  const some = await app.call('GET', '/v2/subscribers?subscriberId=count-7', { key: app.productionKey })
  assert.deepEqual([some.body.totalCount, some.body.totalCountCapped], [1, false])
})
