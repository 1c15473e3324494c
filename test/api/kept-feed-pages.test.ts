// Feed pages that are answered from what was kept: whatever changed shows in the very next read.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { stepOf } from '../support/activity-scene.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import type { FeedReader } from '../support/feed-page-scene.ts'
import { createFeedReader, directPage, queryText } from '../support/feed-page-scene.ts'
import { MessageScene } from '../support/message-scene.ts'

let reader: FeedReader
let app: TestApp
let node: FeedReader
let scene: MessageScene
let neighbour: MessageScene
let readKey: string
before(async () => {
  reader = await createFeedReader()
  app = reader.app
  node = await createFeedReader({ nodeOf: app })
  scene = await MessageScene.of(app, [...Object.keys(changes), ...others])
  neighbour = await MessageScene.of(app, ['shared'], { environmentName: 'Production' })
  readKey = (await app.call('POST', '/v1/environments/api-keys', { body: { name: 'reader', scopes: ['read'] } })).body
    .key
})
after(async () => {
  await node.app.close()
  await app.close()
})

const others = [
  ...['again', 'vendor', 'gone', 'elsewhere', 'shared', 'addresses', 'filters', 'limits', 'late', 'actors', 'actor'],
  ...[
    'renamed',
    'eventless',
    'second',
    'feeds',
    'payloads',
    'long',
    'large',
    'bytes',
    'a',
    'a",10',
    'retention',
    'becomes',
  ],
]
const ways = async (count: number, read: () => Promise<{ way: string }>): Promise<string[]> => {
  const found: string[] = []
  for (let at = 0; at < count; at += 1) found.push((await read()).way)
  return found
}
const comparable = ({ headers }: TestReply) => {
  const { date: _date, 'x-request-id': _id, ...rest } = headers
  return rest
}

interface Scene {
  readonly id: string
  readonly person: string
  readonly call: TestApp['call']
}

const button = { type: 'primary', content: 'Track', resultContent: 'Tracked' } as const
const post = ({ call, person }: Scene, path: string, body: object) =>
  call('POST', `/v1/subscribers/${person}/messages/${path}`, { body })
const patch = ({ call, person, id }: Scene, verb: string, body?: object) =>
  call('PATCH', `/v2/subscribers/${person}/notifications/${id}/${verb}`, body === undefined ? {} : { body })
const inAnHour = () => new Date(app.world.now().getTime() + 3_600_000).toISOString()

/** By the subscriber that each is done to. */
const changes: Record<string, (scene: Scene) => Promise<unknown>> = {
  'new-notification': ({ person }) => scene.say(person),
  read: (one) => post(one, 'mark-as', { messageId: one.id, markAs: 'read' }),
  seen: (one) => post(one, 'mark-as', { messageId: [one.id], markAs: 'seen' }),
  archived: (one) => post(one, 'mark-as', { messageId: one.id, markAs: 'archived' }),
  'read-older-form': (one) => post(one, 'markAs', { messageId: one.id, mark: { read: true } }),
  'seen-older-form': (one) => post(one, 'markAs', { messageId: one.id, mark: { seen: true } }),
  'all-read': (one) => post(one, 'mark-all', { markAs: 'read' }),
  'all-archived': (one) => post(one, 'mark-all', { markAs: 'archived' }),
  'read-v2': (one) => patch(one, 'read'),
  'archived-v2': (one) => patch(one, 'archive'),
  'all-seen-v2': ({ call, person }) => call('POST', `/v2/subscribers/${person}/notifications/seen`, { body: {} }),
  deleted: ({ call, id }) => call('DELETE', `/v1/messages/${id}`),
  snoozed: (one) => patch(one, 'snooze', { snoozeUntil: inAnHour() }),
  button: (one) => post(one, `${one.id}/actions/primary`, { status: 'done', payload: { answer: 'yes' } }),
  name: ({ call, person }) => call('PATCH', `/v2/subscribers/${person}`, { body: { firstName: 'Changed' } }),
  picture: ({ call, person }) =>
    call('PATCH', `/v2/subscribers/${person}`, { body: { avatar: 'https://example.org/a' } }),
}

const sayTwo = async (person: string): Promise<Scene> => {
  await scene.say(person)
  const said = await scene.say(person, { draft: { cta: { action: { status: 'pending', buttons: [button] } } } })
  return { id: said.id, person, call: app.call }
}

/** What follows a change: the next read has it, and the one after it is that page again. */
async function assertShown(person: string, before: TestReply): Promise<Json> {
  const next = await reader.read(person)
  assert.equal(next.way, 'stale')
  assert.notEqual(next.text, before.text)
  assert.deepEqual(next.body, await directPage(app, person))
  const again = await reader.read(person)
  assert.deepEqual([again.way, again.text], ['kept', next.text])
  return next.body
}

for (const [person, change] of Object.entries(changes)) {
  test(`the very next read shows it: ${person.replaceAll('-', ' ')}`, async () => {
    const said = await sayTwo(person)
    const first = await reader.read(person)
    assert.deepEqual(await ways(2, () => reader.read(person)), ['kept', 'kept'])
    const reply = (await change(said)) as Partial<TestReply>
    assert.ok((reply.status ?? 200) < 300, reply.text)
    await assertShown(person, first)
  })
}

test('an item that comes back from its snooze shows, whoever ends it', async () => {
  const said = await sayTwo('again')
  const whole = await reader.read('again')
  await patch(said, 'snooze', { snoozeUntil: inAnHour() })
  assert.equal((await assertShown('again', whole)).totalCount, 1)
  const snoozed = await reader.read('again')
  await patch(said, 'unsnooze')
  assert.equal((await assertShown('again', snoozed)).totalCount, 2)
  await patch(said, 'snooze', { snoozeUntil: inAnHour() })
  app.world.advance(3_600_000)
  const away = await reader.read('again')
  assert.equal(away.body.totalCount, 1)
  await app.pipeline.work()
  assert.equal((await assertShown('again', away)).totalCount, 2)
})

test('a subscriber who is deleted is 404, and one who is created again has an empty feed', async () => {
  await sayTwo('gone')
  assert.deepEqual(await ways(2, () => reader.read('gone')), ['full', 'kept'])
  assert.equal((await app.call('DELETE', '/v2/subscribers/gone')).status, 200)
  for (const way of ['stale', 'full']) {
    const reply = await reader.read('gone')
    assert.deepEqual([reply.way, reply.status], [way, 404])
  }
  assert.equal((await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'gone' } })).status, 201)
  const { status, body } = await reader.read('gone')
  assert.deepEqual([status, body.data, body.totalCount], [200, [], 0])
})

test('what another node changed shows in the next read of this one', async () => {
  const said = await sayTwo('elsewhere')
  const first = await reader.read('elsewhere')
  assert.deepEqual(await ways(2, () => node.read('elsewhere')), ['full', 'kept'])
  await post({ ...said, call: node.app.call }, 'mark-as', { messageId: said.id, markAs: 'read' })
  const page = await assertShown('elsewhere', first)
  assert.deepEqual(
    page.data.map((item: Json) => item.read),
    [true, false],
  )
})

test('the same subscriberId of another environment has its own page', async () => {
  await scene.say('shared', { draft: { content: 'of development' } })
  await neighbour.say('shared', { draft: { content: 'of production' } })
  const contents = async (key: string) => {
    const { way, body } = await reader.read('shared', '', { key })
    return [way, ...body.data.map((item: Json) => item.content)]
  }
  for (const way of ['full', 'kept']) {
    assert.deepEqual(await contents(app.developmentKey), [way, 'of development'])
    assert.deepEqual(await contents(app.productionKey), [way, 'of production'])
  }
})

test('a key that may not see addresses has a page of its own, whoever read first', async () => {
  const secret = 'https://hooks.example.org/planted'
  await scene.say('addresses', { event: { payload: { webhookUrl: secret } } })
  const has = async (key: string) => {
    const { way, text } = await reader.read('addresses', '', { key })
    return [way, text.includes(secret)]
  }
  assert.deepEqual(await has(app.developmentKey), ['full', true])
  assert.deepEqual(await has(readKey), ['full', false])
  assert.deepEqual(await has(app.developmentKey), ['kept', true])
  assert.deepEqual(await has(readKey), ['kept', false])
  await scene.say('addresses')
  assert.deepEqual(await has(readKey), ['stale', false])
  assert.deepEqual(await has(app.developmentKey), ['stale', true])
})

test('a kept page has the status, the headers and the bytes of a fresh one', async () => {
  await sayTwo('bytes')
  await scene.say('bytes', { draft: { content: 'Zoë — 📣' }, event: { payload: { text: 'Zoë — 📣 "\u2028"' } } })
  const fresh = await reader.read('bytes')
  const kept = await reader.read('bytes')
  // A filter that nothing is kept for, and that all of it passes.
  const other = await reader.read('bytes', '?feedIdentifier=shop')
  assert.deepEqual([fresh.way, kept.way, other.way], ['full', 'kept', 'full'])
  for (const one of [kept, other]) {
    assert.equal(one.status, fresh.status)
    assert.equal(one.text, fresh.text)
    assert.deepEqual(comparable(one), comparable(fresh))
  }
  assert.equal(kept.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(Number(kept.headers['content-length']), Buffer.byteLength(kept.text))
  const head = await app.call('HEAD', '/v1/subscribers/bytes/notifications/feed')
  assert.deepEqual([head.status, head.text], [200, ''])
  assert.deepEqual(comparable(head), comparable(fresh))
})

test('a parameter that is not known is warned of beside a kept page as well', async () => {
  const asked = () => reader.read('bytes', '?limits=3')
  const [fresh, kept] = [await asked(), await asked()]
  assert.equal(kept.way, 'kept')
  assert.deepEqual(comparable(kept), comparable(fresh))
  assert.ok(Object.values(comparable(kept)).some((value) => String(value).includes('unknown-parameter')))
})

test('a page that is kept in the words of a vendor is sent in them', async () => {
  const vendor = await createFeedReader({ vendor: 'novu', nodeOf: app })
  await sayTwo('vendor')
  const [fresh, kept] = [await vendor.read('vendor'), await vendor.read('vendor')]
  assert.deepEqual([fresh.way, kept.way, kept.text === fresh.text], ['full', 'kept', true])
  assert.equal(kept.body.data[0].providerId, 'novu')
  assert.equal(kept.text, (await vendor.read('vendor', '?feedIdentifier=shop')).text)
  assert.equal((await reader.read('vendor')).body.data[0].providerId, 'platform')
  await vendor.app.close()
})

test('filters and limits have a page each', async () => {
  for (let at = 0; at < 4; at += 1) await sayTwo('filters')
  const { body } = await reader.read('filters')
  const marked = body.data.map((item: Json) => item._id)
  await app.call('POST', '/v1/subscribers/filters/messages/mark-as', {
    body: { messageId: marked.slice(0, 3), markAs: 'read' },
  })
  await app.call('POST', '/v1/subscribers/filters/messages/mark-as', {
    body: { messageId: marked.slice(3, 5), markAs: 'seen' },
  })
  const flags = [undefined, true, false]
  const queries = flags.flatMap((read) =>
    flags.flatMap((seen) => [1, 3, 10, 50].map((limit) => ({ read, seen, limit }))),
  )
  for (const round of ['first', 'second']) {
    for (const { read, seen, limit } of queries) {
      const query = { limit, ...(read === undefined ? {} : { read }), ...(seen === undefined ? {} : { seen }) }
      const text = queryText(query)
      const reply = await reader.read('filters', text)
      assert.deepEqual(reply.body, await directPage(app, 'filters', query), text)
      if (round === 'second') assert.equal(reply.way, 'kept', text)
    }
  }
})

test('a change of what one filter shows is no change for another, and the total is part of a page', async () => {
  const said = await sayTwo('limits')
  const reads = ['?read=false', '?read=true', '?limit=1']
  for (const query of reads) await reader.read('limits', query)
  // The older of the two: it is not among the one that `limit=1` shows, nor behind it.
  const older = (await reader.read('limits', '?limit=2')).body.data[1]._id
  await scene.say('limits')
  await reader.read('limits', '?limit=1')
  await app.call('DELETE', `/v1/messages/${older}`)
  const short = await reader.read('limits', '?limit=1')
  assert.deepEqual([short.way, short.body.totalCount], ['stale', 2])
  await post(said, 'mark-as', { messageId: said.id, markAs: 'read' })
  assert.equal((await reader.read('limits', '?read=true')).body.data[0]._id, said.id)
  assert.equal((await reader.read('limits', '?read=false')).body.totalCount, 1)
})

test('no subscriberId is taken for a part of another key', async () => {
  for (const person of ['a', 'a",10']) {
    await scene.say(person, { draft: { content: `for ${person}` } })
    const reads = [await reader.read(person), await reader.read(person)]
    assert.deepEqual(
      reads.map(({ way, body }) => [way, body.data[0].content]),
      [
        ['full', `for ${person}`],
        ['kept', `for ${person}`],
      ],
    )
  }
})

test('a page older than a minute is read in full', async () => {
  await sayTwo('late')
  assert.deepEqual(await ways(2, () => reader.read('late')), ['full', 'kept'])
  app.world.advance(60_000)
  assert.deepEqual(await ways(1, () => reader.read('late')), ['kept'])
  app.world.advance(1)
  assert.deepEqual(await ways(2, () => reader.read('late')), ['full', 'kept'])
})

test('an event that is gone is missed after a minute at the latest, and such a page is not kept', async () => {
  const { eventId } = await scene.say('retention', { event: { payload: { secret: 'word' } } })
  await ways(2, () => reader.read('retention'))
  await app.database.db.run(sql`delete from events where id = ${eventId}`)
  app.world.advance(60_001)
  const reads = [await reader.read('retention'), await reader.read('retention')]
  assert.deepEqual(
    reads.map(({ way, body }) => [way, body.data[0].payload]),
    [
      ['full', {}],
      ['full', {}],
    ],
  )
})

const sayByUser = (person: string) => {
  const actorId = scene.people.get('actor') ?? ''
  return scene.say(person, { draft: { actor: { type: 'user', data: null } }, event: { actorId } })
}

test('a page that becomes one that is not kept is not asked about twice', async () => {
  await scene.say('becomes')
  assert.deepEqual(await ways(2, () => reader.read('becomes')), ['full', 'kept'])
  await sayByUser('becomes')
  assert.deepEqual(await ways(3, () => reader.read('becomes')), ['stale', 'full', 'full'])
})

/** By subscriber. */
const neverKept: Record<string, { readonly query?: string; say(person: string): Promise<unknown> }> = {
  actors: {
    say: (person) => sayByUser(person),
  },
  renamed: {
    say: async (person) => {
      const workflow = await scene.scene.addWorkflow('old', [stepOf('in_app')])
      await app.database.db.run(
        sql`update workflow_versions set definition = definition - 'identifier' where id = ${workflow.versionId}`,
      )
      await scene.say(person, { workflow })
    },
  },
  eventless: {
    say: async (person) => {
      const { eventId } = await scene.say(person)
      await app.database.db.run(sql`delete from events where id = ${eventId}`)
    },
  },
  second: { query: '?page=1&limit=1', say: sayTwo },
  feeds: { query: '?feedIdentifier=shop', say: sayTwo },
  payloads: { query: `?payload=${encodeURIComponent(Buffer.from('{}').toString('base64'))}`, say: sayTwo },
  long: { say: (person) => scene.say(person, { event: { payload: { text: 'x'.repeat(65 * 1024) } } }) },
  large: { say: (person) => scene.say(person, { event: { payload: { text: 'x'.repeat(600 * 1024) } } }) },
}

for (const [person, { query, say }] of Object.entries(neverKept)) {
  test(`not kept: ${person}${query ?? ''}`, async () => {
    await say(person)
    assert.deepEqual(await ways(3, () => reader.read(person, query)), ['full', 'full', 'full'])
  })
}

test('the picture of a user who acted, and the name of an old workflow, are those of now', async () => {
  await app.call('PATCH', '/v2/subscribers/actor', { body: { avatar: 'https://example.org/new' } })
  assert.equal((await reader.read('actors')).body.data[0].actor.data, 'https://example.org/new')
  await app.database.db.run(sql`update workflows set identifier = 'new' where identifier = 'old'`)
  assert.equal((await reader.read('renamed')).body.data[0].templateIdentifier, 'new')
})
