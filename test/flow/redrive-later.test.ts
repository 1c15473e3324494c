// Redriving when the world has moved on: reports that come late, people who chose otherwise, steps that end right now.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { jobIdOf } from '../../src/domain/derived-id.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, statuses } from '../support/flow-scene.ts'
import { PostmarkScript } from '../support/postmark-script.ts'
import { eventually } from '../support/service.ts'
import { assertStep, whyOf } from '../support/why-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  for (const one of await scene.expect(200, 'GET', '/v1/integrations')) {
    if (one.channel === 'email') await scene.expect(200, 'DELETE', `/v1/integrations/${one._id}`)
  }
})
beforeEach(async () => {
  await mail?.clear()
  mail = new MailScript(scene)
})
after(() => app.close())

const redrive = (notification: Json): Promise<TestReply> =>
  app.call('POST', `/v1/notifications/${notification._id}/redrive`)
const again = (notification: Json): Promise<Json> => scene.expect(200, 'GET', `/v1/notifications/${notification._id}`)

/** A run whose e-mail was refused. */
async function refusedRun(steps: readonly object[] = [email('Hello')]): Promise<Json> {
  await mail.account('one')
  mail.answers('one', 400)
  const name = fresh('person')
  await scene.subscribers(name)
  const failed = await scene.run(await scene.workflow(steps), name)
  mail.answers('one', 202)
  return failed
}

test('whoever unsubscribed since it failed is not notified by a redrive; the steps after it continue', async () => {
  const failed = await refusedRun([email('Hello', { shouldStopOnFail: true }), inApp('after')])
  const { subscriberId } = failed.subscriber
  await scene.expect(200, 'PATCH', `/v2/subscribers/${subscriberId}/preferences`, { channels: { email: false } })
  assert.equal((await redrive(failed)).status, 202)
  await scene.work()
  assert.equal(mail.asked.length, 1)
  assert.deepEqual(statuses(await again(failed)), ['skipped', 'completed'])
  assertStep(await whyOf(scene, failed), 0, { status: 'skipped', says: /preference|switched off/ })
  assert.deepEqual(await scene.rows(sql`select 1 from messages where state <> 'done'`), [])
})

test('a subscriber deleted since gets nothing, and nothing is left behind', async () => {
  const failed = await refusedRun([email('Hello', { shouldStopOnFail: true }), inApp('after')])
  await scene.rows(
    sql`update subscribers set deleted_at = now() where subscriber_id = ${failed.subscriber.subscriberId}`,
  )
  assert.equal((await redrive(failed)).status, 202)
  await scene.work()
  assert.equal(mail.asked.length, 1)
  assert.deepEqual(await scene.rows(sql`select 1 from messages where state <> 'done'`), [])
  const rows = await scene.rows(sql`select status from jobs where notification_id = ${failed._id}`)
  assert.deepEqual(
    rows.map((row) => row.status),
    ['canceled', 'canceled'],
  )
})

test('a workflow that was deleted since changes nothing for what it had made', async () => {
  const failed = await refusedRun()
  await scene.expect(200, 'DELETE', `/v1/workflows/${failed.template._id}`)
  assert.equal((await redrive(failed)).status, 202)
  await scene.work()
  assert.deepEqual([mail.asked.length, statuses(await again(failed))], [2, ['completed']])
  assert.equal((await scene.progress(failed.transactionId)).counts.byOutcome.completed, 1)
})

test('a message that its owner deleted is not sent, and no other reason is reported', async () => {
  const failed = await refusedRun()
  const { _id } = await scene.message(failed.transactionId)
  await scene.expect(200, 'DELETE', `/v1/messages/${_id}`)
  const reply = await redrive(failed)
  assert.deepEqual([reply.status, reply.body.reason], [409, 'contentGone'])
})

test('while a redrive runs the progress of its event counts each notification once', async () => {
  const failed = await refusedRun([email('A'), email('B'), inApp('said')])
  const counts = async (): Promise<Json> => (await scene.progress(failed.transactionId)).counts.byOutcome
  assert.deepEqual([(await counts()).completed, (await counts()).open], [1, 0])
  assert.equal((await redrive(failed)).body.steps.length, 2)
  assert.deepEqual([(await counts()).completed, (await counts()).open], [0, 1])
  assert.equal((await scene.progress(failed.transactionId)).state, 'running')
  await scene.work()
  assert.deepEqual([(await counts()).completed, (await counts()).open], [1, 0])
})

test('a redrive that waited for a step to fail sees the steps that were canceled with it', async () => {
  const failed = await refusedRun([email('A', { shouldStopOnFail: true }), inApp('after')])
  const [{ event_id: eventId }] = await scene.rows(
    sql`select event_id from jobs where notification_id = ${failed._id} limit 1`,
  )
  const [first, second] = [0, 1].map((step) => jobIdOf(eventId, failed._id, step))
  // Its state just before it failed: running, without a row for the step after it.
  const [canceled] = await scene.rows(sql`delete from jobs where id = ${second} returning to_jsonb(jobs) as row`)
  await scene.rows(sql`
    update jobs set status = 'running', lease = gen_random_uuid(), due_at = ${app.world.now()} where id = ${first}`)
  let reply: Promise<TestReply> | undefined
  await app.database.db.transaction(async (tx) => {
    await tx.run(sql`update jobs set status = 'failed', lease = null, due_at = null where id = ${first}`)
    reply = redrive(failed)
    await untilOneWaits()
    await tx.run(sql`
      insert into jobs select (jsonb_populate_record(null::jobs, ${JSON.stringify(canceled.row)}::text::jsonb)).*`)
  })
  assert.equal((await reply)?.status, 202)
  await scene.work()
  assert.deepEqual(statuses(await again(failed)), ['completed', 'completed'])
})

/** Until a statement waits for a lock. */
async function untilOneWaits(): Promise<void> {
  const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await eventually(async () => (await scene.rows(waiting)).length > 0)
}

test('a late report of the go that was refused does not undo the one that was sent, and the next is heard', async () => {
  const postmark = new PostmarkScript(scene)
  await postmark.account()
  postmark.answer = () => ({ ErrorCode: 300, Message: 'Invalid', MessageID: '', To: '', SubmittedAt: '' })
  const name = fresh('person')
  await scene.subscribers(name)
  const failed = await scene.run(await scene.workflow([email('Hello')]), name)
  const bounces = (messageId: string): Promise<Json[]> =>
    postmark.reports({
      RecordType: 'Bounce',
      Type: 'HardBounce',
      MessageID: `pm-of-${messageId}`,
      Email: `${name}@example.org`,
      Description: 'Refused',
      Metadata: { message_id: messageId },
    })
  const status = async (): Promise<string> => (await scene.message(failed.transactionId)).status
  postmark.answer = undefined
  assert.equal((await redrive(failed)).status, 202)
  await scene.work()
  const [first, second] = postmark.calls.map((call) => call.mails[0].Metadata.message_id)
  assert.equal(await status(), 'sent')
  await bounces(first)
  assert.equal(await status(), 'sent')
  assertStep(await whyOf(scene, failed), 0, { status: 'completed', says: /Sent/, code: 'receiptFailed' })
  await bounces(second)
  assert.equal(await status(), 'error')
  await postmark.remove()
})
