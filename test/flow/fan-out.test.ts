// Topic fan-out in pages: everyone once, however often a page is replayed or its node lost.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { leaseMs } from '../../src/queue/queue.ts'
import type { ExpansionState } from '../../src/record/expand-page.ts'
import { expandPage, expansionStart } from '../../src/record/expand-page.ts'
import type { Task } from '../../src/store/jobs/tasks.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { testQueue } from '../support/pipeline.ts'
import { addSubscribers, environmentOf } from '../support/topic-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let environment: Environment
let hello: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  environment = await environmentOf(app)
  hello = await scene.workflow([inApp('Hello')])
})
after(() => app.close())

/** A topic of so many new people; their ids, in the order of the pages. */
async function crowd(key: string, count: number): Promise<string[]> {
  await scene.topic(key, [])
  const names = Array.from({ length: count }, () => fresh('crowd'))
  const ids = [...(await addSubscribers(app, names)).values()]
  await scene.rows(sql`
    insert into topic_subscriptions (environment_id, id, topic_id, subscriber_id, created_at)
    select ${environment.id}, gen_random_uuid(), t.id, s.id, now()
    from topics t, unnest(${ids}::uuid[]) as s (id) where t.environment_id = ${environment.id} and t.key = ${key}`)
  return [...ids].sort()
}

async function messagesOf(transactionId: string): Promise<{ all: number; people: number }> {
  const [row] = await scene.rows(sql`
    select count(*) as all, count(distinct m.subscriber_id) as people from messages m
    join events e on e.id = m.event_id where e.transaction_id = ${transactionId}`)
  return row
}

/** The task of the only event that is being expanded, as a claim hands it over. */
async function claimTask(): Promise<Task> {
  const [task] = await scene.rows(sql`
    update tasks set lease = gen_random_uuid(), claims = 1, due_at = ${app.world.now()}::timestamptz + interval '1 minute'
    returning environment_id as "environmentId", id, kind, lane, lease, claims, state`)
  return task
}

function page(task: Task, state: ExpansionState): Promise<ExpansionState | undefined> {
  return expandPage(app.database.db, app.world, environment, testQueue(app.world), {
    task,
    state,
    workflowOf: async () => ({ id: hello, isCritical: false, firstStep: 0 }),
  })
}

test('twenty thousand members are notified once each, in pages', async () => {
  const key = fresh('topic')
  await crowd(key, 20_000)
  const transactionId = await scene.trigger(hello, { type: 'Topic', topicKey: key })
  await scene.work()
  assert.deepEqual(await messagesOf(transactionId), { all: 20_000, people: 20_000 })
  const { state, counts } = await scene.progress(transactionId)
  assert.deepEqual([state, counts.recipients, counts.byOutcome.completed], ['completed', 20_000, 20_000])
  assert.deepEqual(await scene.rows(sql`select 1 from tasks`), [])
})

test('a page that is written again adds no one and counts no one', async () => {
  const key = fresh('topic')
  await crowd(key, 1_200)
  const transactionId = await scene.trigger(hello, { type: 'Topic', topicKey: key })
  const task = await claimTask()
  const first = await page(task, expansionStart)
  assert.ok(first !== undefined)
  assert.equal((await scene.progress(transactionId)).counts.notifications, 500)
  await page(task, expansionStart)
  assert.equal((await scene.progress(transactionId)).counts.notifications, 500)
  const second = await page(task, first)
  assert.ok(second !== undefined)
  await page(task, first)
  assert.equal(await page(task, second), undefined)
  await scene.work()
  assert.deepEqual(await messagesOf(transactionId), { all: 1_200, people: 1_200 })
  assert.equal((await scene.progress(transactionId)).counts.recipients, 1_200)
})

test('a node that lost the event in the middle writes nothing more, and another continues from there', async () => {
  const key = fresh('topic')
  await crowd(key, 1_200)
  const transactionId = await scene.trigger(hello, { type: 'Topic', topicKey: key })
  const lost = await claimTask()
  const first = await page(lost, expansionStart)
  assert.ok(first !== undefined)
  app.world.advance(leaseMs)
  await claimTask()
  assert.equal(await page(lost, first), undefined)
  assert.equal((await scene.progress(transactionId)).counts.notifications, 500)
  app.world.advance(leaseMs)
  const node = await createTestApp({ nodeOf: app })
  await node.pipeline.work()
  await scene.work()
  assert.deepEqual(await messagesOf(transactionId), { all: 1_200, people: 1_200 })
  assert.equal((await scene.progress(transactionId)).counts.recipients, 1_200)
  await node.close()
})

test('direct recipients do not wait for the fan-out of the same environment', async () => {
  const key = fresh('topic')
  await crowd(key, 600)
  const transactionId = await scene.trigger(hello, [{ type: 'Topic', topicKey: key }, 'directly-named'])
  const lanes = async () =>
    scene.rows(sql`
      select j.lane, count(*) as count from jobs j join events e on e.id = j.event_id
      where e.transaction_id = ${transactionId} group by 1 order by 1`)
  assert.deepEqual(await lanes(), [{ lane: 0, count: 1 }])
  await scene.work()
  assert.deepEqual(await lanes(), [
    { lane: 0, count: 1 },
    { lane: 1, count: 600 },
  ])
})

test('of a call with too many recipients together the events with most of them are expanded by the worker', async () => {
  const people = (count: number): string[] => Array.from({ length: count }, () => fresh('many'))
  const events = [...Array.from({ length: 10 }, () => people(100)), people(5)].map((to) => ({ name: hello, to }))
  const { body } = await scene.bulk(events)
  const ids = body.map(({ transactionId }: { transactionId: string }) => transactionId)
  const notified = async () =>
    scene.rows(sql`
      select count(*) as count from notifications n join events e on e.id = n.event_id
      where e.transaction_id = any(${ids})`)
  assert.deepEqual(await notified(), [{ count: 5 }])
  await scene.work()
  assert.deepEqual(await notified(), [{ count: 1_005 }])
  for (const id of ids.slice(9)) assert.equal((await scene.progress(id)).state, 'completed')
})

test('pages of several topics overlap without telling anyone twice', async () => {
  const [one, two] = [fresh('topic'), fresh('topic')]
  const people = await crowd(one, 1_100)
  await scene.topic(two, [])
  await scene.rows(sql`
    insert into topic_subscriptions (environment_id, id, topic_id, subscriber_id, created_at)
    select ${environment.id}, gen_random_uuid(), t.id, s.id, now()
    from topics t, unnest(${people.filter((_, index) => index % 2 === 0)}::uuid[]) as s (id)
    where t.environment_id = ${environment.id} and t.key = ${two}`)
  const to = [one, two].map((topicKey) => ({ type: 'Topic', topicKey }))
  const transactionId = await scene.trigger(hello, to)
  await scene.work()
  assert.deepEqual(await messagesOf(transactionId), { all: 1_100, people: 1_100 })
  const reached = await scene.rows(sql`
    select cardinality(n.topic_ids) as topics, count(*) as count from notifications n
    join events e on e.id = n.event_id where e.transaction_id = ${transactionId} group by 1 order by 1`)
  assert.deepEqual(reached, [
    { topics: 1, count: 550 },
    { topics: 2, count: 550 },
  ])
})

test('an event to named people and a topic goes through both, and a person in both counts as named', async () => {
  const key = fresh('topic')
  const members = await crowd(key, 700)
  const rows = await scene.rows(
    sql`select subscriber_id from subscribers where id = any(${members.slice(0, 120)}::uuid[])`,
  )
  const named = [...rows.map((row) => row.subscriber_id), ...Array.from({ length: 30 }, () => fresh('named'))]
  const transactionId = await scene.trigger(hello, [...named, { type: 'Topic', topicKey: key }])
  await scene.work()
  assert.deepEqual(await messagesOf(transactionId), { all: 730, people: 730 })
  const [direct] = await scene.rows(sql`
    select count(*) as count from notifications n join events e on e.id = n.event_id
    where e.transaction_id = ${transactionId} and n.topic_ids is null`)
  assert.equal(direct.count, 150)
})

test('a large audience of one environment does not keep a small one of another waiting', async () => {
  const key = fresh('topic')
  await crowd(key, 3_000)
  const large = await scene.trigger(hello, { type: 'Topic', topicKey: key })
  const inProduction = async (path: string, body: object) => {
    const reply = await app.call('POST', path, { body, key: app.productionKey })
    assert.equal(reply.status, 201, reply.text)
    return reply.body
  }
  await inProduction('/v1/workflows', { name: 'small', workflowId: 'small', active: true, steps: [inApp('Hello')] })
  const to = Array.from({ length: 101 }, () => fresh('small'))
  const { transactionId: small } = await inProduction('/v1/events/trigger', { name: 'small', to })
  await scene.work()
  // Transactions are numbered as they begin to write.
  const [written] = await scene.rows(sql`
    select max(n.xmin::text::bigint) filter (where e.transaction_id = ${small}) as small,
           max(n.xmin::text::bigint) filter (where e.transaction_id = ${large}) as large
    from notifications n join events e on e.id = n.event_id`)
  assert.ok(written.small < written.large, `${written.small} came after ${written.large}`)
})
