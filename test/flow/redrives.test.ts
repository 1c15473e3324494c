// Redriving by filter: what fits is found, page by page, each notification once, however often the service dies meanwhile.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { failedPerPage, redriveNextPage } from '../../src/record/recovery/redrive-page.ts'
import type { Task } from '../../src/store/jobs/tasks.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, statuses } from '../support/flow-scene.ts'
import { testQueue } from '../support/pipeline.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { assertStep, whyOf } from '../support/why-scene.ts'
import { delay, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  for (const one of await scene.expect(200, 'GET', '/v1/integrations')) {
    if (one.channel === 'email') await scene.expect(200, 'DELETE', `/v1/integrations/${one._id}`)
  }
})
beforeEach(async () => {
  await mail.clear()
  await scene.rows(sql`delete from tasks`)
  await scene.rows(sql`update jobs set status = 'completed' where status = 'failed'`)
  app.world.advance(1_000)
})
after(() => app.close())

const start = (filter: object): Promise<Json> => scene.expect(202, 'POST', '/v1/redrives', { filter })
const shown = (redrive: Json): Promise<Json> => scene.expect(200, 'GET', `/v1/redrives/${redrive._id}`)
const dryRun = (filter: object): Promise<Json> => scene.expect(200, 'POST', '/v1/redrives', { filter, dryRun: true })

async function failedRun(steps: readonly object[] = [email('Hello')]): Promise<Json> {
  const name = fresh('person')
  await scene.subscribers(name)
  return scene.run(await scene.workflow(steps), name)
}

const again = (notification: Json): Promise<Json> => scene.expect(200, 'GET', `/v1/notifications/${notification._id}`)

/** An event whose e-mail every one of so many people was refused. */
async function failedCrowd(count: number, steps: readonly object[] = [email('Hello')]): Promise<string> {
  const to = Array.from({ length: count }, () => {
    const subscriberId = fresh('crowd')
    return { subscriberId, email: `${subscriberId}@example.org` }
  })
  const transactionId = await scene.trigger(await scene.workflow(steps), to)
  await scene.work()
  return transactionId
}

test('an event is redriven over several pages, each notification once, with progress', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const count = 2 * failedPerPage + 37
  const transactionId = await failedCrowd(count)
  app.world.advance(1_000)
  mail.answers('one', 202)
  const begun = await scene.expect(202, 'POST', `/v1/events/${transactionId}/redrive`)
  assert.deepEqual([begun.state, begun.matched, begun.filter], ['running', 0, { transactionId }])
  await scene.work()
  const { state, lookedAt, matched, redriven, skipped, endedAt, requestedBy } = await shown(begun)
  assert.deepEqual([state, lookedAt, matched, redriven, skipped], ['completed', count, count, count, {}])
  assert.match(requestedBy, /^[0-9a-f-]{36}$/)
  assert.equal(endedAt, app.world.now().toISOString())
  assert.equal(mail.asked.length, 2 * count)
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, count)
  const [first] = await scene.notifications(transactionId)
  const data = assertStep(await whyOf(scene, first), 0, { status: 'completed', says: /^Sent/, code: 'redriven' })
  assert.equal(data.redriveId, begun._id)
})

test('what fails again while a redrive continues is not redriven by it twice', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const transactionId = await failedCrowd(failedPerPage + 20, [email('A'), email('B')])
  const asked = mail.asked.length
  const begun = await scene.expect(202, 'POST', `/v1/events/${transactionId}/redrive`)
  const environment = await environmentOf(app)
  // A page, then the jobs it made due fail again, and so on.
  for (let page = 0; page < 10; page += 1) {
    const task = await inHand(begun._id)
    if (task === undefined) break
    await redriveNextPage(app.database.db, app.world, environment, testQueue(app.world), task)
    await app.pipeline.workers.jobs.drain()
  }
  assert.equal((await shown(begun)).state, 'completed')
  assert.equal(mail.asked.length, 2 * asked)
})

/** The task of a redrive, as a worker has it in hand. */
async function inHand(id: string): Promise<Task | undefined> {
  const [row] = await scene.rows(sql`
    update tasks set lease = gen_random_uuid(), due_at = ${new Date(app.world.now().getTime() + 60_000)} where id = ${id}
    returning environment_id as "environmentId", id, kind, lane, lease, claims, state`)
  return row
}

test('whoever has lost the task writes nothing, and a page that dies leaves nothing behind', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const transactionId = await failedCrowd(3)
  const begun = await scene.expect(202, 'POST', `/v1/events/${transactionId}/redrive`)
  const environment = await environmentOf(app)
  const lost = (await inHand(begun._id)) ?? assert.fail('there is no task')
  const task = (await inHand(begun._id)) ?? assert.fail('there is no task')
  const queue = testQueue(app.world)
  assert.equal(await redriveNextPage(app.database.db, app.world, environment, queue, lost), false)
  assert.equal((await shown(begun)).lookedAt, 0)
  // Dies with its last statement.
  const dying = {
    ...app.database.db,
    transaction: <Result>(work: Parameters<typeof app.database.db.transaction<Result>>[0]) =>
      app.database.db.transaction(async (tx) => {
        await work(tx)
        throw new Error('killed')
      }),
  } as typeof app.database.db
  await assert.rejects(redriveNextPage(dying, app.world, environment, queue, task), /killed/)
  assert.deepEqual(
    [(await shown(begun)).lookedAt, (await scene.rows(sql`select 1 from jobs where due_at is not null`)).length],
    [0, 0],
  )
  await redriveNextPage(app.database.db, app.world, environment, queue, task)
  assert.deepEqual([(await shown(begun)).redriven, (await shown(begun)).state], [3, 'completed'])
})

test('each member of the filter finds what it says, and a dry run changes nothing', async () => {
  await mail.account('one')
  mail.answers('one', { status: 400, body: '{"errors":[{"message":"Content was not good"}]}' })
  const refused = await failedRun()
  await mail.remove('one')
  const from = new Date(app.world.now().getTime() + 500).toISOString()
  const without = await failedRun([email('No account'), inApp('after')])
  await scene.rows(sql`select 1`)
  const found = async (filter: object): Promise<string[]> =>
    (await dryRun(filter)).reasons.flatMap((one: Json) => one.notificationIds).sort()
  const [a, b] = [refused._id, without._id]
  assert.deepEqual(await found({ channel: 'email' }), [a, b].sort())
  assert.deepEqual(await found({ channel: 'sms' }), [])
  assert.deepEqual(await found({ providerId: 'sendgrid' }), [a])
  assert.deepEqual(await found({ reason: 'noIntegration' }), [b])
  assert.deepEqual(await found({ errorContains: 'CONTENT WAS' }), [a])
  assert.deepEqual(await found({ from }), [b])
  assert.deepEqual(await found({ to: from }), [a])
  assert.deepEqual(await found({ subscriberId: without.subscriber.subscriberId }), [b])
  assert.deepEqual(await found({ transactionId: refused.transactionId }), [a])
  assert.deepEqual(await found({ workflow: refused.template.triggers[0].identifier }), [a])
  assert.deepEqual(await found({ workflow: refused.template.triggers[0].identifier, reason: 'noIntegration' }), [])
  const { matched, isCapped, lookedAt, reasons } = await dryRun({ channel: 'email' })
  assert.deepEqual([matched, isCapped, lookedAt], [2, false, 2])
  assert.deepEqual(reasons.map((one: Json) => [one.reason, one.count]).sort(), [
    ['noIntegration', 1],
    ['providerError', 1],
  ])
  assert.deepEqual(statuses(await again(refused)), ['failed'])
  await mail.account('two')
  const begun = await start({ reason: 'noIntegration' })
  await scene.work()
  assert.deepEqual([(await shown(begun)).matched, (await shown(begun)).redriven], [1, 1])
  assert.deepEqual(
    [statuses(await again(refused)), statuses(await again(without))],
    [['failed'], ['completed', 'completed']],
  )
  assertStep(await whyOf(scene, without), 0, { status: 'completed', says: /^Sent/ })
})

test('what cannot be redriven is counted by reason and left as it is', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const running = await failedRun([email('A'), delay(), inApp('b')])
  const perhaps = await failedRun()
  await scene.rows(sql`
    update messages set sending = sending || '{"unsureRepeats": 1}' where notification_id = ${perhaps._id}`)
  const good = await failedRun()
  mail.answers('one', 202)
  const begun = await start({ reason: 'providerError' })
  await scene.work()
  const { matched, redriven, skipped } = await shown(begun)
  assert.deepEqual([matched, redriven, skipped], [3, 1, { running: 1, perhapsSent: 1 }])
  assert.deepEqual(statuses(await again(running)), ['failed', 'delayed', 'pending'])
  assert.deepEqual([statuses(await again(perhaps)), statuses(await again(good))], [['failed'], ['completed']])
  assertStep(await whyOf(scene, running), 0, { status: 'failed', says: /rejected/ })
})

test('a redrive that is stopped goes no further, once', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const failed = await failedRun()
  const begun = await start({ channel: 'email' })
  const stopped = await scene.expect(200, 'DELETE', `/v1/redrives/${begun._id}`)
  assert.equal(stopped.state, 'stopped')
  await scene.work()
  assert.deepEqual([(await shown(begun)).state, (await shown(begun)).lookedAt], ['stopped', 0])
  assert.deepEqual(statuses(await again(failed)), ['failed'])
  await scene.expect(409, 'DELETE', `/v1/redrives/${begun._id}`)
  assertStep(await whyOf(scene, failed), 0, { status: 'failed', says: /rejected/ })
})

test('many wait in the lane of large audiences, one in its own', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const [one, many] = [await failedRun(), await failedRun()]
  await scene.expect(202, 'POST', `/v1/notifications/${one._id}/redrive`)
  await start({ transactionId: many.transactionId })
  await app.pipeline.workers.tasks.drain()
  const rows = await scene.rows(sql`select notification_id, lane from jobs where due_at is not null`)
  assert.deepEqual(
    new Map(rows.map((row) => [row.notification_id, row.lane])),
    new Map([
      [one._id, 0],
      [many._id, 1],
    ]),
  )
})

test('an event of which nothing failed, that was cancelled, or that no one knows cannot be redriven', async () => {
  const workflow = await scene.workflow([inApp('said')])
  const { transactionId } = await scene.run(workflow, fresh('person'))
  const path = (id: string): string => `/v1/events/${id}/redrive`
  const nothing = await app.call('POST', path(transactionId))
  assert.deepEqual([nothing.status, nothing.body.reason], [409, 'nothingFailed'])
  const failed = await failedRun()
  await scene.expect(200, 'DELETE', `/v1/events/trigger/${failed.transactionId}`)
  const off = await app.call('POST', path(failed.transactionId))
  assert.deepEqual([off.status, off.body.reason], [409, 'canceled'])
  assert.equal((await app.call('POST', path('nobody'))).status, 404)
})

test('a task that was buried is listed with its reason, and continues where it had come to', async () => {
  const name = fresh('person')
  await scene.subscribers(name)
  const topic = fresh('topic')
  await scene.topic(topic, [name])
  const transactionId = await scene.trigger(await scene.workflow([inApp('Hello')]), { type: 'Topic', topicKey: topic })
  await scene.rows(sql`update tasks set state = '{"named": 0, "after": "no-uuid"}'`)
  await scene.advance(4_000_000, 20_000)
  const { data } = await scene.expect(200, 'GET', '/v1/buried?kind=task')
  assert.equal(data.length, 1)
  assert.deepEqual(
    [data[0].kind, data[0].task, data[0].transactionId, data[0].claims],
    ['task', 'expand', transactionId, 5],
  )
  assert.match(data[0].reason, /uuid/)
  await scene.rows(sql`update tasks set state = '{"named": 0, "after": null}'`)
  const redriven = await scene.expect(202, 'POST', `/v1/buried/${data[0]._id}/redrive`)
  assert.deepEqual([redriven.kind, redriven._id], ['task', data[0]._id])
  await scene.expect(404, 'POST', `/v1/buried/${data[0]._id}/redrive`)
  await scene.work()
  assert.deepEqual(await scene.texts(name), ['Hello'])
  assert.deepEqual((await scene.expect(200, 'GET', '/v1/buried?kind=task')).data, [])
})

test('a redrive whose task was buried says so', async () => {
  await failedRun()
  const begun = await start({ channel: 'email' })
  await scene.rows(sql`
    update tasks set due_at = null, buried_at = ${app.world.now()}, error = 'broken' where id = ${begun._id}`)
  assert.equal((await shown(begun)).state, 'buried')
  assert.equal((await scene.expect(200, 'GET', '/v1/redrives?limit=1')).data[0].state, 'buried')
  await scene.expect(202, 'POST', `/v1/buried/${begun._id}/redrive`)
  await scene.work()
  assert.equal((await shown(begun)).state, 'completed')
})

test('a redrive whose buried task was swept since does not say that it runs', async () => {
  await failedRun()
  const begun = await start({ channel: 'email' })
  assert.equal((await shown(begun)).state, 'running')
  await scene.rows(sql`delete from tasks where id = ${begun._id}`)
  assert.equal((await shown(begun)).state, 'buried')
})

test('only steps that fit are redriven, not whatever else failed of their notification', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const custom = { template: { type: 'custom' }, metadata: { type: 'http', url: 'https://one.example.com/hook' } }
  const failed = await failedRun([email('Hello'), custom])
  assert.deepEqual(statuses(failed), ['failed', 'failed'])
  mail.answers('one', 202)
  const begun = await start({ channel: 'email' })
  await scene.work()
  assert.deepEqual([(await shown(begun)).matched, (await shown(begun)).redriven], [1, 1])
  assert.deepEqual(statuses(await again(failed)), ['completed', 'failed'])
})

test('a notification whose failed steps lie on several pages is counted once', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const count = failedPerPage + 20
  const transactionId = await failedCrowd(count, [email('A'), email('B')])
  app.world.advance(1_000)
  await scene.rows(sql`update messages set envelope = null`)
  const begun = await scene.expect(202, 'POST', `/v1/events/${transactionId}/redrive`)
  await scene.work()
  const { lookedAt, matched, redriven, skipped } = await shown(begun)
  assert.deepEqual([lookedAt, matched, redriven, skipped], [2 * count, count, 0, { contentGone: count }])
})

test('of a step that is redriven again and again the latest hundred failures are kept', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const transactionId = await failedCrowd(1)
  const [notification] = await scene.notifications(transactionId)
  await scene.rows(sql`
    update jobs set failed_before = array_fill('2026-01-01'::timestamptz, array[100]) where notification_id = ${notification._id}`)
  const [failed] = await scene.rows(sql`select updated_at as at from jobs where notification_id = ${notification._id}`)
  await scene.expect(202, 'POST', `/v1/notifications/${notification._id}/redrive`)
  const [kept] = await scene.rows(sql`
    select cardinality(failed_before) as count, failed_before[1] as latest from jobs where notification_id = ${notification._id}`)
  assert.deepEqual(kept, { count: 100, latest: failed?.['at'] })
})
