// The filters of the activity list, its pages and its order; and what is refused.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { SceneEvent, SceneRecipient, SceneWorkflow } from '../support/activity-scene.ts'
import { ActivityScene, stepOf } from '../support/activity-scene.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { addSubscribers } from '../support/topic-scene.ts'

let app: TestApp
let scene: ActivityScene
let people: Map<string, string>
let bell: SceneWorkflow
let mail: SceneWorkflow
const events: Record<string, SceneEvent> = {}
const start = Date.parse('2026-01-02T03:04:05.678Z')
const topics = { news: '', sport: '' }

const to = (...names: string[]): SceneRecipient[] => names.map((name) => ({ subscriberId: idOf(name) }))
const idOf = (name: string): string => people.get(name) ?? assert.fail(`no ${name}`)

before(async () => {
  app = await createTestApp()
  scene = await ActivityScene.of(app)
  people = await addSubscribers(app, ['ada', 'bob', 'cleo', 'dan'])
  bell = await scene.addWorkflow('bell', [stepOf('in_app'), stepOf('delay')])
  mail = await scene.addWorkflow('mail', [stepOf('email'), stepOf('in_app', { active: false })])
  topics.news = scene.newId()
  topics.sport = scene.newId()
  const both = [
    { id: topics.news, key: 'news' },
    { id: topics.sport, key: 'sport' },
  ]
  const add = async (name: string, ...event: Parameters<ActivityScene['addEvent']>) => {
    events[name] = await scene.addEvent(...event)
    app.world.advance(1_000)
  }
  await add('plain', bell, to('ada'))
  await add('own', mail, to('ada', 'bob'), { transactionId: 'own id' })
  await add('high', bell, to('bob'), { severity: 'high' })
  await add('context', mail, to('cleo'), { contextKeys: ['app:web', 'team:7'], severity: 'low' })
  const reached = [
    { subscriberId: idOf('cleo'), topicIds: [topics.news] },
    { subscriberId: idOf('dan'), topicIds: [topics.sport] },
  ]
  await add('topics', bell, reached, { topics: both })
  await add('nobody', bell, [], { topics: both, severity: 'high', contextKeys: ['app:web', 'team:7'] })
})
after(() => app.close())

async function list(query: string): Promise<TestReply> {
  return app.call('GET', `/v1/notifications?${query}`)
}

/** What was found, as names of events and subscribers, newest first. */
async function found(query: string): Promise<string[]> {
  const reply = await list(query)
  assert.equal(reply.status, 200, reply.text)
  const names = Object.fromEntries(Object.entries(events).map(([name, event]) => [event.transactionId, name]))
  return reply.body.data.map((item: Json) => `${names[item.transactionId]} ${item.subscriber.subscriberId}`)
}

async function assertFound(query: string, expected: readonly string[]): Promise<void> {
  assert.deepEqual((await found(query)).sort(), [...expected].sort(), query)
}

const everything = ['plain ada', 'own ada', 'own bob', 'high bob', 'context cleo', 'topics cleo', 'topics dan']

test('without filters all are listed, newest first', async () => {
  const all = await found('')
  assert.deepEqual([...all].sort(), [...everything].sort())
  const order = all.map((name) => Object.keys(events).indexOf(name.split(' ')[0] ?? ''))
  assert.deepEqual(order, [...order].sort().reverse())
})

test('templates are internal ids of workflows, any of them; what is no id matches nothing', async () => {
  await assertFound(`templates=${mail.id}`, ['own ada', 'own bob', 'context cleo'])
  await assertFound(`templates=${mail.id}&templates=${bell.id}`, everything)
  await assertFound(`templates=${mail.id}&templates=nonsense`, ['own ada', 'own bob', 'context cleo'])
  for (const id of ['nonsense', scene.newId(), mail.versionId, 'mail']) await assertFound(`templates=${id}`, [])
})

test('channels are types of active steps, any of them', async () => {
  await assertFound('channels=email', ['own ada', 'own bob', 'context cleo'])
  await assertFound('channels=in_app', ['plain ada', 'high bob', 'topics cleo', 'topics dan'])
  await assertFound('channels[]=email&channels[]=delay', everything)
  await assertFound('channels=trigger', [])
  assert.equal((await list('channels=pigeon')).status, 422)
})

test('subscriberIds and emails are exact, search is a part of the address or the id, and they are joined by “or”', async () => {
  await assertFound('subscriberIds=ada', ['plain ada', 'own ada'])
  await assertFound('subscriberIds=ada&subscriberIds=dan', ['plain ada', 'own ada', 'topics dan'])
  await assertFound('subscriberIds=Ada', [])
  await assertFound('emails=dan@example.org', ['topics dan'])
  await assertFound('emails=an@example.org', [])
  await assertFound('emails=DAN@example.org', [])
  await assertFound('search=an@example', ['topics dan'])
  await assertFound('search=dan', ['topics dan'])
  await assertFound('search=AN@example', [])
  await assertFound('search=example.org', everything)
  await assertFound('search=da', ['topics dan'])
  await assertFound('search=an', [])
  await assertFound('subscriberIds=ada&emails=dan@example.org&search=cleo@', [
    'plain ada',
    'own ada',
    'topics dan',
    'context cleo',
    'topics cleo',
  ])
  await assertFound('subscriberIds=nobody', [])
  await assertFound('emails=nobody@example.org', [])
  await assertFound('search=nobody', [])
})

test('a subscriber who was deleted is found by nothing of theirs', async () => {
  const [gone] = await addSubscribers(app, ['gone']).then((added) => [...added.values()])
  events['left'] = await scene.addEvent(bell, [{ subscriberId: gone ?? '' }])
  await assertFound('subscriberIds=gone', ['left gone'])
  assert.equal((await app.call('DELETE', '/v2/subscribers/gone')).status, 200)
  for (const query of ['subscriberIds=gone', 'emails=gone@example.org', 'search=gone@'])
    assert.deepEqual((await list(query)).body.data, [], query)
  await app.database.db.run(sql`
    delete from notifications where environment_id = ${scene.environment.id} and event_id = ${events['left'].id}`)
})

test('severity is any of; none is without one; another word is refused', async () => {
  await assertFound('severity=high', ['high bob'])
  await assertFound('severity=high&severity=low', ['high bob', 'context cleo'])
  await assertFound('severity=medium', [])
  const none = everything.filter((name) => !['high bob', 'context cleo'].includes(name))
  await assertFound('severity=none', none)
  await assertFound('severity=none&severity=low', [...none, 'context cleo'])
  const refused = await list('severity=urgent')
  assert.equal(refused.status, 422)
  assert.ok('severity.0' in refused.body.errors, refused.text)
})

test('transactionId is exact, the caller’s own or ours, one or several', async () => {
  await assertFound('transactionId=own%20id', ['own ada', 'own bob'])
  await assertFound(`transactionId=${events['plain']?.id}`, ['plain ada'])
  await assertFound(`transactionId=own%20id&transactionId=${events['plain']?.id}`, ['own ada', 'own bob', 'plain ada'])
  await assertFound('transactionId=unknown', [])
  await assertFound(`transactionId=${events['own']?.id}`, [])
  await assertFound(`transactionId=${events['nobody']?.id}`, [])
})

test('topicKey finds those who were reached through the topic', async () => {
  await assertFound('topicKey=news', ['topics cleo'])
  await assertFound('topicKey=sport', ['topics dan'])
  await assertFound('topicKey=unknown', [])
})

test('contextKeys are the exact set in any order, and given but empty those without a context', async () => {
  await assertFound('contextKeys=app:web&contextKeys=team:7', ['context cleo'])
  await assertFound('contextKeys=team:7&contextKeys=app:web', ['context cleo'])
  await assertFound('contextKeys=app:web', [])
  await assertFound('contextKeys=app:web&contextKeys=team:7&contextKeys=x:y', [])
  for (const wrong of ['web', ':web', 'app:']) {
    const { status, body } = await app.call('GET', `/v1/notifications?contextKeys=app:web&contextKeys=${wrong}`)
    assert.deepEqual([status, body.errors?.contextKeys?.value], [422, wrong])
  }
  const without = everything.filter((name) => name !== 'context cleo')
  await assertFound('contextKeys=', without)
  await assertFound('contextKeys[]=', without)
})

test('after and before are inclusive to the millisecond', async () => {
  const at = (seconds: number, ms = 0) => encodeURIComponent(new Date(start + seconds * 1_000 + ms).toISOString())
  await assertFound(`after=${at(2)}`, ['high bob', 'context cleo', 'topics cleo', 'topics dan'])
  await assertFound(`after=${at(2, 1)}`, ['context cleo', 'topics cleo', 'topics dan'])
  await assertFound(`before=${at(1)}`, ['plain ada', 'own ada', 'own bob'])
  await assertFound(`before=${at(1, -1)}`, ['plain ada'])
  await assertFound(`after=${at(1)}&before=${at(1)}`, ['own ada', 'own bob'])
  await assertFound('after=1950-01-01&before=9999-01-01', everything)
  await assertFound('before=1950-01-01', [])
  await assertFound('after=2026-01-02T03:04:09&before=2026-01-02T04:04:10%2B01:00', ['topics cleo', 'topics dan'])
  await assertFound('after=&before=', everything)
})

test('a timestamp that is none, and a range that ends before it starts, are refused by name', async () => {
  const unreadable = await list('after=yesterday')
  assert.equal(unreadable.status, 400)
  assert.match(unreadable.body.message, /^Invalid date format for parameter 'after': yesterday/)
  for (const text of [
    '2026-13-01',
    '2026-02-30',
    '0',
    '1767323045678',
    'Jan 2, 2026',
    '%2B200000-01-01T00:00:00Z',
    '2026',
  ]) {
    const { status, body } = await list(`before=${text}`)
    assert.equal(status, 400, text)
    assert.match(body.message, /^Invalid date format for parameter 'before'.*ISO 8601/)
  }
  const reversed = await list('after=2026-01-02&before=2026-01-01')
  assert.equal(reversed.status, 400)
  assert.match(
    reversed.body.message,
    /^Invalid date range: start date \(after\) must be earlier than end date \(before\)/,
  )
})

test('filters are joined by “and”', async () => {
  await assertFound(`subscriberIds=bob&templates=${mail.id}`, ['own bob'])
  await assertFound('subscriberIds=bob&severity=high', ['high bob'])
  await assertFound('subscriberIds=ada&severity=high', [])
  await assertFound('subscriberIds=ada&topicKey=news', [])
  await assertFound('subscriberIds=cleo&topicKey=news', ['topics cleo'])
  await assertFound('search=cleo@&channels=in_app', ['topics cleo'])
  await assertFound('severity=low&channels=email', ['context cleo'])
  await assertFound('severity=low&channels=in_app', [])
  await assertFound(`severity=high&templates=${mail.id}`, [])
  await assertFound('contextKeys=app:web&contextKeys=team:7&severity=high', [])
  await assertFound('contextKeys=app:web&contextKeys=team:7&severity=low&channels=email', ['context cleo'])
  await assertFound('topicKey=sport&channels=in_app&severity=none', ['topics dan'])
  await assertFound('topicKey=sport&channels=email', [])
  await assertFound('transactionId=own%20id&subscriberIds=bob', ['own bob'])
  await assertFound('transactionId=own%20id&severity=high', [])
  await assertFound(`transactionId=${events['topics']?.id}&topicKey=news`, ['topics cleo'])
  const later = encodeURIComponent(new Date(start + 3_000).toISOString())
  for (const [query, all] of [
    ['severity=high', []],
    ['subscriberIds=cleo', ['context cleo', 'topics cleo']],
    ['topicKey=sport', ['topics dan']],
    ['channels=email', ['context cleo']],
    ['transactionId=own%20id', []],
  ] as const)
    await assertFound(`${query}&after=${later}`, all)
})

/** Every page of a query, and that each but the last says there are more. */
async function pages(query: string, limit: number): Promise<string[]> {
  const names: string[] = []
  for (let page = 0; ; page += 1) {
    const { body } = await list(`${query}&limit=${limit}&page=${page}`)
    assert.equal(body.page, page)
    assert.equal(body.pageSize, limit)
    assert.equal('totalCount' in body, false)
    names.push(...body.data.map((item: Json) => item._id))
    if (!body.hasMore) return names
    assert.equal(body.data.length, limit)
  }
}

test('pages follow each other without a gap or a repeat by every way of finding, also within one millisecond', async () => {
  const topic = [{ id: topics.news, key: 'crowd' }]
  const crowd: string[] = []
  // No time passes: the order of events and that of their notifications differ.
  for (let n = 0; n < 12; n += 1) {
    const recipients = ['ada', 'bob'].map((name) => ({ subscriberId: idOf(name), topicIds: [topics.news] }))
    const more = { severity: 'medium', contextKeys: ['crowd:1'], topics: topic, transactionId: `crowd-${n}` }
    const event = await scene.addEvent(bell, n % 3 === 0 ? [] : recipients, more)
    crowd.push(...event.notifications.map((notification) => notification.id))
  }
  app.world.advance(1_000)
  const expected = [...crowd].sort().reverse()
  const since = `after=${encodeURIComponent(new Date(start + 6_000).toISOString())}`
  const transactions = Array.from({ length: 12 }, (_, n) => `transactionId=crowd-${n}`).join('&')
  const ways = [
    since,
    'severity=medium',
    'severity=medium&severity=high&contextKeys=crowd:1',
    'contextKeys=crowd:1',
    'topicKey=crowd',
    transactions,
    `subscriberIds=ada&subscriberIds=bob&${since}`,
    `emails=ada@example.org&emails=bob@example.org&${since}`,
    `search=example.org&${since}`,
    `templates=${bell.id}&${since}`,
    `channels=in_app&${since}`,
    `severity=none&severity=medium&${since}`,
  ]
  for (const way of ways)
    for (const limit of [1, 5, 16, 50]) assert.deepEqual(await pages(way, limit), expected, `${way} ${limit}`)
  for (const way of ways) {
    const { body } = await list(`${way}&limit=50&page=1000000`)
    assert.deepEqual([body.data, body.hasMore, body.page], [[], false, 1_000_000], way)
  }
})

test('page starts at 0, limit is 1 to 50 and 10 by default, and anything else is refused', async () => {
  const { body } = await list('')
  assert.deepEqual([body.page, body.pageSize, body.data.length, body.hasMore], [0, 10, 10, true])
  for (const query of ['page=-1', 'page=x', 'page=1.5', 'limit=0', 'limit=51', 'limit=x', 'limit=-1']) {
    const refused = await list(query)
    assert.equal(refused.status, 422, query)
    assert.ok((query.split('=')[0] as string) in refused.body.errors, refused.text)
  }
})

test('texts and lists of values that are too long are refused by name', async () => {
  for (const [field, query] of [
    ['search', `search=${'x'.repeat(321)}`],
    ['topicKey', `topicKey=${'x'.repeat(256)}`],
    ['subscriberIds', Array.from({ length: 101 }, (_, n) => `subscriberIds=${n}`).join('&')],
    ['emails.0', `emails=${'x'.repeat(321)}`],
    ['after', `after=${'1'.repeat(65)}`],
  ] as const) {
    const refused = await list(query)
    assert.equal(refused.status, 422, field)
    assert.ok(field in refused.body.errors, refused.text)
  }
})

test('a search that fits too many people to look up is refused, unless the newest are theirs', async () => {
  await app.database.db.run(sql`
    insert into subscribers (environment_id, id, subscriber_id, email, created_at, updated_at)
    select ${scene.environment.id}, gen_random_uuid(), 'wide-' || n,
           case when n <= 10000 then 'same@wide.example' else n || '@wide.example' end, now(), now()
    from generate_series(1, 10001) as n`)
  for (const [field, query] of [
    ['search', 'search=wide.example'],
    ['search', 'search=wide.example&subscriberIds=ada'],
    ['emails', 'emails=same@wide.example&subscriberIds=ada'],
  ] as const) {
    const refused = await list(query)
    assert.equal(refused.status, 422, query)
    assert.match(refused.body.errors[field].messages[0], /matches more than 10000 subscribers/)
  }
  assert.deepEqual((await list('emails=same@wide.example')).body.data, [])
  assert.equal((await list('search=wide.example&limit=1&subscriberIds=ada')).status, 200)
})

test('a key that may only trigger may not read, and one that may read may', async () => {
  for (const [scope, status] of [
    ['trigger', 403],
    ['read', 200],
  ] as const) {
    const created = await app.call('POST', '/v1/environments/api-keys', { body: { name: scope, scopes: [scope] } })
    assert.equal(created.status, 201, created.text)
    const reply = await app.call('GET', '/v1/notifications', { key: created.body.key })
    assert.equal(reply.status, status, reply.text)
  }
})
