// A page is weighed by what is on it: the row behind it, which shows that there are more, may be as large as it likes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql, Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { inboxPage } from '../../src/read/messages/inbox.ts'
import { keysetPage } from '../../src/read/page/keyset-page.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'

/** More than are read without being weighed. */
const limit = 20
/** More than a page may have; of messages it may have twice as much. */
const heavyOf = (mebibytes: number): Statement => sql`repeat('x', ${mebibytes * 1024 * 1024})`

let app: TestApp
let scene: MessageScene
before(async () => {
  app = await createTestApp()
  scene = await MessageScene.of(app, ['anne'])
  for (let at = 0; at <= limit; at += 1) {
    await app.call('POST', '/v1/tenants', { body: { identifier: `tenant-${at}`, data: { at } } })
    await app.call('POST', '/v2/subscribers', { body: { subscriberId: `person-${at}`, firstName: 'Found' } })
    const steps = [{ template: { type: 'in_app', content: 'Hello' } }]
    await app.call('POST', '/v1/workflows', { body: { name: `Found ${at}`, workflowId: `found-${at}`, steps } })
    await scene.say('anne')
  }
  // The oldest of each are the last of all lists.
  const { db } = app.database
  const data = sql`jsonb_build_object('heavy', ${heavyOf(17)})`
  await db.run(sql`update tenants set data = ${data} where identifier = 'tenant-0'`)
  await db.run(sql`update subscribers set data = ${data} where subscriber_id = 'person-0'`)
  await db.run(sql`update workflow_versions set definition = definition || jsonb_build_object('data', ${data})
    where workflow_id = (select id from workflows where identifier = 'found-0')`)
  await db.run(
    sql`update messages set content = to_jsonb(${heavyOf(33)}) where id = (select id from messages order by created_at limit 1)`,
  )
})
after(() => app.close())

const lists: Readonly<Record<string, string>> = {
  tenants: '/v1/tenants?',
  subscribers: '/v1/subscribers?',
  'subscribers by cursor': '/v2/subscribers?',
  'a search of subscribers': '/v2/subscribers?name=Found&',
  workflows: '/v1/workflows?query=Found&',
  messages: '/v1/messages?subscriberId=anne&',
}

for (const [name, path] of Object.entries(lists)) {
  test(`${name}: a page that fits is answered, whatever is behind it`, async () => {
    const fits = await app.call('GET', `${path}limit=${limit}`)
    assert.equal(fits.status, 200, fits.text.slice(0, 200))
    assert.equal(fits.body.data.length, limit)
    assert.ok(fits.body.hasMore ?? fits.body.next, 'there is one more')
    const refused = await app.call('GET', `${path}limit=${limit + 1}`)
    assert.equal(refused.status, 422, refused.text.slice(0, 200))
    assert.match(refused.body.errors.limit.messages[0], /^limit must be smaller: these 21 items/)
  })
}

test('an inbox: a page that fits is answered, whatever is behind it', async () => {
  const inbox = { environment: scene.scene.environment, id: scene.people.get('anne') ?? '', contextKeys: undefined }
  const pageOf = (size: number) =>
    inboxPage(app.database.db, inbox, { filter: {}, limit: size, after: undefined, offset: 0 })
  const page = await pageOf(limit)
  assert.equal(page.data.length, limit)
  assert.equal(page.hasMore, true)
  await assert.rejects(pageOf(limit + 1), (error: Json) => error.members.errors.limit !== undefined)
})

test('a search is carried out once, also where its page is weighed', async () => {
  const { db } = app.database
  const texts: string[] = []
  const watched: Sql = {
    ...db,
    rows: <Row extends object>(statement: Statement) => {
      texts.push(statement.text)
      return db.rows<Row>(statement)
    },
  }
  const { environment } = scene.scene
  const condition = sql`s.first_name like 'Found%'`
  const list = {
    columns: sql`s.id, s.subscriber_id`,
    weight: sql`1`,
    from: sql`from subscribers s`,
    where: [sql`s.environment_id = ${environment.id}`],
    search: [{ condition, indexed: condition }],
    id: sql`s.id`,
    orders: { id: { column: sql`s.id`, cast: 'uuid' } },
    cursorOf: ({ id }: { id: string }) => ({ value: id, id }),
  } as const
  const page = await keysetPage<{ id: string; subscriber_id: string }>(watched, list, { limit: 50 })
  assert.deepEqual(
    page.data.map((row) => row.subscriber_id),
    Array.from({ length: limit + 1 }, (_, at) => `person-${limit - at}`),
  )
  assert.equal(texts.filter((text) => text.includes('materialized')).length, 1)
  assert.equal(texts.filter((text) => text.includes('like')).length, 2, 'near the beginning, and then by the index')
})
