// Subscribing beside what others do at the same time: held up at the critical point, not left to chance.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Db, Statement, Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { sweep } from '../../src/manage/operate/housekeeping.ts'
import { resolveChoices } from '../../src/manage/people/subscription-choices.ts'
import { subscribeToTopic } from '../../src/manage/people/topic-subscriptions.ts'
import { deleteSubscriptionsOfSubscriber } from '../../src/store/people/topic-subscriptions.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { addSubscribers, environmentOf } from '../support/topic-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

/** Far more looks than a call needs to reach a lock: reached, the call has done neither and the test says so. */
const looksMax = 2_000

/** Resolves when so many statements wait for a lock, or when the work is done without having waited. */
async function waitingOrDone(count: number, work: Promise<unknown>): Promise<'waiting' | 'done'> {
  let done = false
  void work.finally(() => {
    done = true
  })
  for (let look = 0; look < looksMax; look += 1) {
    if (done) return 'done'
    const row = await app.database.db.row<{ count: number }>(sql`
      select count(*) as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`)
    if ((row?.count ?? 0) >= count) return 'waiting'
  }
  return assert.fail('the call neither ended nor came to a lock')
}

/**
 * Holds a call that subscribes `subscriberId` to `topicKey` just before its insertion, by inserting the same without
 * committing; runs `beside`, and then lets the call continue.
 */
async function besideSubscribing(
  topicKey: string,
  subscriberId: string,
  beside: () => Promise<unknown>,
): Promise<{ reply: TestReply; met: 'waiting' | 'done' }> {
  const environment = await environmentOf(app)
  const { body: topic } = await app.call('POST', '/v2/topics', { body: { key: topicKey } })
  const internalId = (await addSubscribers(app, [subscriberId])).get(subscriberId)
  let subscribing: Promise<TestReply> | undefined
  let other: Promise<unknown> | undefined
  let met: 'waiting' | 'done' = 'done'
  const release = new Error('rolled back on purpose')
  const held = app.database.db.transaction(async (tx) => {
    await tx.run(sql`
      insert into topic_subscriptions (environment_id, topic_id, subscriber_id, id, created_at)
      values (${environment.id}, ${topic._id}, ${internalId}, gen_random_uuid(), now())`)
    subscribing = app.call('POST', `/v2/topics/${topicKey}/subscriptions`, { body: { subscriptions: [subscriberId] } })
    assert.equal(await waitingOrDone(1, subscribing), 'waiting')
    other = beside()
    met = await waitingOrDone(2, other)
    // What is deleted by now is swept by now, so that the call below would add to nothing.
    await sweep(app.database.db, app.world)
    throw release
  })
  await assert.rejects(held, release)
  await other
  return { reply: (await subscribing) ?? assert.fail('no one subscribed'), met }
}

async function ownerless(): Promise<object[]> {
  await sweep(app.database.db, app.world)
  return app.database.db.rows(sql`
    select s.id from topic_subscriptions as s
    where not exists (select from topics as t where t.environment_id = s.environment_id and t.id = s.topic_id)
      or exists (select from subscribers as u where u.id = s.subscriber_id and u.deleted_at is not null)`)
}

test('a topic is deleted after a call that is subscribing to it, and takes the new subscription with it', async () => {
  const { reply, met } = await besideSubscribing('doomed', 'late', () => app.call('DELETE', '/v2/topics/doomed'))
  assert.deepEqual([reply.status, met], [201, 'waiting'])
  assert.deepEqual(await ownerless(), [])
  assert.equal((await app.call('GET', '/v2/topics/doomed')).status, 404)
})

test('a subscriber is deleted after a call that is subscribing it, and takes the new subscription with it', async () => {
  const environment = await environmentOf(app)
  const remove = () =>
    app.database.db.transaction(async (tx) => {
      const row = await tx.row<{ id: string }>(sql`
        update subscribers set deleted_at = now()
        where environment_id = ${environment.id} and subscriber_id = 'leaver' and deleted_at is null returning id`)
      await deleteSubscriptionsOfSubscriber(tx, environment, row?.id ?? assert.fail('no leaver'))
    })
  const { reply, met } = await besideSubscribing('stays', 'leaver', remove)
  assert.deepEqual([reply.status, met], [201, 'waiting'])
  assert.deepEqual(await ownerless(), [])
  assert.equal((await app.call('GET', '/v2/topics/stays/subscriptions')).body.totalCount, 0)
})

test('renaming a topic does not wait for a call that is subscribing to it', async () => {
  const rename = () => app.call('PATCH', '/v2/topics/renamed', { body: { name: 'New' } })
  const { reply, met } = await besideSubscribing('renamed', 'calm', rename)
  assert.deepEqual([reply.status, met], [201, 'done'])
})

/** A database that does something right after a statement that contains `text`, once. */
function interrupted(db: Db, text: string, then: () => Promise<unknown>): Db {
  let pending = true
  const after = async (statement: Statement): Promise<void> => {
    if (!pending || !statement.text.includes(text)) return
    pending = false
    await then()
  }
  const wrapped = (tx: Tx): Tx => ({
    ...tx,
    run: async (statement) => {
      const count = await tx.run(statement)
      await after(statement)
      return count
    },
    row: async <Row extends object>(statement: Statement) => {
      const row = await tx.row<Row>(statement)
      await after(statement)
      return row
    },
  })
  return { ...db, transaction: (work) => db.transaction((tx) => work(wrapped(tx))) }
}

test('who is unsubscribed between our insertion and our look is subscribed again, not reported as failed', async () => {
  const environment = await environmentOf(app)
  const { db } = app.database
  await addSubscribers(app, ['tugged'])
  await app.call('POST', '/v2/topics/tug/subscriptions', { body: { subscriptions: ['tugged'] } })
  const unsubscribe = () => app.call('DELETE', '/v2/topics/tug/subscriptions', { body: { subscriptions: ['tugged'] } })
  const answer = await subscribeToTopic(
    interrupted(db, 'insert into topic_subscriptions', unsubscribe),
    app.world,
    environment,
    { topic: { key: 'tug' }, requests: [{ subscriberId: 'tugged' }], idempotency: undefined },
  )
  assert.deepEqual([answer.status, answer.body.meta.successful], [201, 1])
  const { body } = await app.call('GET', '/v2/topics/tug/subscriptions')
  // Callers see choices as preferences, of which there are none.
  const subscribed = answer.body.data.map(({ choices: _, ...shown }) => shown)
  assert.deepEqual(body.data, JSON.parse(JSON.stringify(subscribed)))
})

test('a topic that another call creates between our look and our insertion is used, not doubled', async () => {
  const environment = await environmentOf(app)
  await addSubscribers(app, ['early'])
  const create = () => app.call('POST', '/v2/topics', { body: { key: 'sudden', name: 'Theirs' } })
  const answer = await subscribeToTopic(interrupted(app.database.db, 'for key share', create), app.world, environment, {
    topic: { key: 'sudden', name: 'Ours' },
    requests: [{ subscriberId: 'early' }],
    idempotency: undefined,
  })
  assert.deepEqual([answer.status, answer.body.data[0]?.topic.name], [201, 'Theirs'])
})

test('preferences that cannot be kept are refused before a transaction begins', async () => {
  const environment = await environmentOf(app)
  await addSubscribers(app, ['swift'])
  const closed: Db = { ...app.database.db, transaction: () => assert.fail('a transaction began') }
  const unfit = [
    { workflowId: 'a', condition: { startWith: [1, 2] } },
    { workflowId: 'a', condition: { in: ['x', Array.from({ length: 30 }, () => 'x'.repeat(4_000))] } },
  ]
  const call = { topic: { key: 'swift' }, idempotency: undefined }
  for (const one of unfit) {
    const requests = [{ subscriberId: 'swift' }]
    const shared = subscribeToTopic(closed, app.world, environment, { ...call, requests, preferences: [one] })
    await assert.rejects(shared, { status: 422 })
    const own = [{ subscriberId: 'swift', preferences: [one] }]
    await assert.rejects(subscribeToTopic(closed, app.world, environment, { ...call, requests: own }), { status: 422 })
  }
})

test('preferences that a call has for all are resolved once', async () => {
  const environment = await environmentOf(app)
  const list = [{ filter: { tags: ['none'] } }]
  let reads = 0
  const counted = new Proxy(list, {
    get: (target, name, receiver) => {
      if (name === Symbol.iterator) reads += 1
      return Reflect.get(target, name, receiver)
    },
  })
  const lists = [...Array.from({ length: 100 }, () => counted), []]
  assert.equal((await resolveChoices(app.database.db, environment, lists, app.world.now())).length, 101)
  assert.equal(reads, 1)
})
