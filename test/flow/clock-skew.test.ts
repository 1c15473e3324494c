// Nodes whose clocks are wrong: every wait is as long as it should be, by the database's clock.
// Runs in a process of its own: its statements go by the database's clock, under names that others use for the tests' clock.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { databaseClock } from '../../src/db/clock.ts'
import type { Statement, Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { queueOf } from '../../src/queue/queue.ts'
import { sendingTask } from '../../src/record/webhooks/expand-news.ts'
import { pauseTask } from '../../src/record/webhooks/settle-deliveries.ts'
import type { Task } from '../../src/store/jobs/tasks.ts'
import { wakeTasks } from '../../src/store/jobs/tasks.ts'
import type { Json, TestApp, TestAppOptions } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { connectionLost, createFaultyDb } from '../support/faulty-db.ts'
import { FlowScene, fresh, MailScript, statuses } from '../support/flow-scene.ts'
import { PostmarkScript } from '../support/postmark-script.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

const hourMs = 3_600_000
/** What a loaded machine may take between a write and the look at it. */
const slackMs = 60_000

const apps: TestApp[] = []
after(() => Promise.all(apps.map((app) => app.close())))

async function skewed(skewMs: number, more: TestAppOptions = {}): Promise<FlowScene> {
  const app = await createTestApp({ skewMs, ...more })
  apps.push(app)
  return new FlowScene(app)
}

/** How long what is open waits from now on, by the database's clock. */
const waitsMs = async (scene: FlowScene, table: 'jobs' | 'tasks'): Promise<number[]> => {
  const rows =
    table === 'jobs'
      ? await scene.rows(
          sql`select extract(epoch from due_at - now()) * 1000 as wait from jobs where due_at is not null`,
        )
      : await scene.rows(
          sql`select extract(epoch from due_at - now()) * 1000 as wait from tasks where due_at is not null`,
        )
  return rows.map(({ wait }) => Number(wait))
}

function assertWaits(waits: readonly number[], expectedMs: number, lessMs = slackMs): void {
  assert.equal(waits.length, 1, `${waits}`)
  const [waitMs = 0] = waits
  assert.ok(waitMs <= expectedMs + 1_000 && waitMs >= expectedMs - lessMs, `waits ${waitMs} ms, not ${expectedMs}`)
}

const everythingIsDue = (scene: FlowScene): Promise<Json[]> =>
  scene.rows(sql`update jobs set due_at = now() where due_at is not null`)

const onWrongClocks = (title: string, work: (skewMs: number) => Promise<void>): void => {
  test(`${title}: by a node that is an hour ahead`, () => work(hourMs))
  test(`${title}: by a node that is an hour behind`, () => work(-hourMs))
}

onWrongClocks('what is due at once is run at once', async (skewMs) => {
  const scene = await skewed(skewMs)
  const [one, topic] = [fresh('person'), fresh('topic')]
  await scene.subscribers(one)
  await scene.topic(topic, [one])
  const workflow = await scene.workflow([inApp('One'), inApp('Two')])
  const direct = await scene.trigger(workflow, fresh('person'))
  const fannedOut = await scene.trigger(workflow, { type: 'Topic', topicKey: topic })
  await scene.work()
  for (const transactionId of [direct, fannedOut]) {
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
  }
})

onWrongClocks('a delay lasts its two hours', async (skewMs) => {
  const scene = await skewed(skewMs)
  const transactionId = await scene.trigger(await scene.workflow([delay(), inApp('Late')]), fresh('person'))
  await scene.work()
  assertWaits(await waitsMs(scene, 'jobs'), 2 * hourMs)
  await everythingIsDue(scene)
  await scene.work()
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
})

onWrongClocks('a digest gathers for its five minutes', async (skewMs) => {
  const scene = await skewed(skewMs)
  const workflow = await scene.workflow([digest(), inApp('{{ step.total_count }}')])
  const person = fresh('person')
  await scene.trigger(workflow, person)
  await scene.work()
  await scene.trigger(workflow, person)
  await scene.work()
  assertWaits(await waitsMs(scene, 'jobs'), 300_000)
  await everythingIsDue(scene)
  await scene.work()
  assert.deepEqual(await scene.texts(person), ['2'])
})

onWrongClocks('a digest whose first event is cancelled gathers for its five minutes', async (skewMs) => {
  const scene = await skewed(skewMs)
  const workflow = await scene.workflow([digest(), delay(), inApp('{{ step.total_count }}')])
  const person = fresh('person')
  const [first, second] = [await scene.trigger(workflow, person), await scene.trigger(workflow, person)]
  await scene.work()
  await scene.trigger(workflow, person)
  await scene.work()
  await scene.expect(200, 'DELETE', `/v1/events/trigger/${first}`)
  assertWaits(await waitsMs(scene, 'jobs'), 300_000)
  // Its window has ended, and the next to be cancelled is in the middle of its delay.
  await everythingIsDue(scene)
  await scene.work()
  await scene.expect(200, 'DELETE', `/v1/events/trigger/${second}`)
  assertWaits(await waitsMs(scene, 'jobs'), 2 * hourMs)
  await everythingIsDue(scene)
  await scene.work()
  assert.equal((await scene.texts(person)).length, 1)
})

onWrongClocks('a retry comes after its wait', async (skewMs) => {
  const scene = await skewed(skewMs)
  const mail = new MailScript(scene)
  await mail.account('busy')
  mail.answers('busy', { status: 429, headers: { 'retry-after': '90' } }, 202)
  const person = { subscriberId: fresh('person'), email: 'ada@example.org' }
  const transactionId = await scene.trigger(await scene.workflow([email('Hello')]), person)
  await scene.work()
  assertWaits(await waitsMs(scene, 'jobs'), 90_000)
  scene.app.world.advance(90_000)
  await everythingIsDue(scene)
  await scene.work()
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed'])
  assert.equal(mail.asked.length, 2)
})

onWrongClocks('a task that fails waits its ten seconds', async (skewMs) => {
  const scene = await skewed(skewMs)
  const [one, topic] = [fresh('person'), fresh('topic')]
  await scene.subscribers(one)
  await scene.topic(topic, [one])
  await scene.trigger(await scene.workflow([inApp('Hello')]), { type: 'Topic', topicKey: topic })
  await scene.rows(sql`update tasks set state = '{"named": 0, "after": "no-uuid"}'`)
  await scene.work()
  assertWaits(await waitsMs(scene, 'tasks'), 10_000)
})

onWrongClocks('a report that comes too early waits its fifteen seconds', async (skewMs) => {
  const scene = await skewed(skewMs)
  const postmark = new PostmarkScript(scene)
  await postmark.account()
  await postmark.reports({ RecordType: 'Delivery', MessageID: 'unknown', Recipient: '', Details: '' })
  assertWaits(await waitsMs(scene, 'tasks'), 15_000, 15_000)
})

onWrongClocks('a cancellation that was interrupted goes on after its wait', async (skewMs) => {
  let fails = false
  const isPage = ({ text }: Statement): boolean => fails && text.includes('"windowId"')
  const scene = await skewed(skewMs, {
    faulty: (db) => createFaultyDb(db, (statement) => (isPage(statement) ? { fails: connectionLost() } : undefined)),
  })
  const transactionId = await scene.trigger(await scene.workflow([delay(), inApp('Late')]), fresh('person'))
  await scene.work()
  fails = true
  await scene.expect(200, 'DELETE', `/v1/events/trigger/${transactionId}`)
  fails = false
  assertWaits(await waitsMs(scene, 'tasks'), 15_000, 15_000)
})

onWrongClocks('nothing wakes an endpoint in its pause', async (skewMs) => {
  const scene = await skewed(skewMs)
  const { world, database } = scene.app
  const environment = await environmentOf(scene.app)
  const sending = sendingTask(world.newId(world.now()), world.now())
  const write = (work: (tx: Tx) => Promise<void>): Promise<void> => database.db.transaction(work)
  await write((tx) => wakeTasks(tx, environment, [sending], world.now()))
  const [task] = (await scene.rows(sql`update tasks set lease = gen_random_uuid() returning id, lease`)) as [Json]
  await pauseTask(database.db, environment, queueOf(databaseClock), {
    task: task as Task,
    waitMs: 10 * 60_000,
    failedRounds: 3,
  })
  await write((tx) => wakeTasks(tx, environment, [sending], world.now()))
  assertWaits(await waitsMs(scene, 'tasks'), 10 * 60_000)
})

onWrongClocks('a provider is asked for its receipts, after a quarter of an hour', async (skewMs) => {
  const scene = await skewed(skewMs)
  const credentials = { apiKey: 'token-of-expo' }
  await scene.expect(201, 'POST', '/v1/integrations', {
    providerId: 'expo',
    channel: 'push',
    active: true,
    credentials,
  })
  const asked: string[] = []
  scene.app.world.onFetch = async ({ url }) => {
    asked.push(new URL(url).pathname)
    const data = url.endsWith('/send') ? [{ status: 'ok', id: 'ticket' }] : { ticket: { status: 'ok' } }
    return { status: 200, headers: new Headers(), body: JSON.stringify({ data }) }
  }
  const channels = [{ providerId: 'expo', credentials: { deviceTokens: ['ExponentPushToken[one]'] } }]
  const push = { template: { type: 'push', title: 'News', content: 'Shipped' } }
  await scene.trigger(await scene.workflow([push]), { subscriberId: fresh('person'), channels })
  await scene.work()
  // Those of five minutes are asked about together, a minute later.
  assertWaits(await waitsMs(scene, 'tasks'), 21 * 60_000, 6 * 60_000)
  await scene.rows(sql`update tasks set due_at = now()`)
  await scene.rows(sql`update messages set poll_at = now()`)
  await scene.work()
  assert.equal(asked.length, 2)
  assert.match(asked[1] ?? '', /getReceipts$/)
})
