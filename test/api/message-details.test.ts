// What subscribers do with messages, reported among the execution details of the jobs that made them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { JobStatus } from '../../src/domain/delivery/job.ts'
import { detail } from '../../src/domain/insight/execution-detail.ts'
import { endSnoozes } from '../../src/record/end-snooze.ts'
import { appendDetails, detailsPerJobMax } from '../../src/store/jobs/append.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import type { Said } from '../support/message-scene.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let scene: MessageScene
before(async () => {
  app = await createTestApp()
  scene = await MessageScene.of(app, ['ada', 'all', 'feeds'])
})
after(() => app.close())

/** A message, and its job. */
async function reported(subscriberId: string, status: JobStatus = 'completed'): Promise<Said> {
  const said = await scene.say(subscriberId)
  const details = [detail(app.world.now(), 'messageSent')]
  await scene.scene.addJobs(said.notification, [{ step: 0, status, details }])
  return said
}

async function detailsOf(said: Said): Promise<string[]> {
  const { jobs } = await scene.scene.retrieve(said.notification)
  const [queued, sent, ...more] = jobs[0].executionDetails.map(
    (one: Json) => `${one.detail}, ${one.status}, ${one.source}`,
  )
  assert.deepEqual([queued, sent], ['Step queued, Pending, Internal', 'Message sent, Success, Internal'])
  return more
}

const markAs = (id: string, mark: string) =>
  app.call('POST', '/v1/subscribers/ada/messages/mark-as', { body: { messageId: id, markAs: mark } })
const change = (said: Said, verb: string, body?: object) =>
  app.call('PATCH', `/v2/subscribers/ada/notifications/${said.id}/${verb}`, body === undefined ? {} : { body })

const seen = 'Message seen, ReadConfirmation, Internal'
const read = 'Message read, ReadConfirmation, Internal'
const snoozed = 'Message snoozed, Pending, Internal'
const unsnoozed = 'Message unsnoozed, Success, Internal'

test('the first time a message is seen and the first time it is read are reported, each once', async () => {
  const said = await reported('ada')
  await markAs(said.id, 'seen')
  app.world.advance(1000)
  const at = app.world.now().toISOString()
  await change(said, 'read')
  assert.deepEqual(await detailsOf(said), [seen, read])
  for (const mark of ['read', 'unread', 'read', 'unseen', 'seen', 'archived', 'unarchived']) await markAs(said.id, mark)
  assert.deepEqual(await detailsOf(said), [seen, read])
  const { jobs } = await scene.scene.retrieve(said.notification)
  assert.equal(jobs[0].executionDetails[3].createdAt, at)
})

test('what is read at once was seen, what is archived was read, and what is unseen reports nothing', async () => {
  const cases: readonly [string, string[]][] = [
    ['read', [seen, read]],
    ['archived', [seen, read]],
    ['unread', [seen]],
    ['unseen', []],
  ]
  for (const [mark, expected] of cases) {
    const said = await reported('ada')
    await markAs(said.id, mark)
    assert.deepEqual(await detailsOf(said), expected, mark)
  }
})

test('marking all reports it of every message, and of no other', async () => {
  const [one, two, other] = [await reported('all'), await reported('all'), await reported('feeds')]
  await app.call('PATCH', `/v2/subscribers/all/notifications/${one.id}/read`)
  const reply = await app.call('POST', '/v1/subscribers/all/messages/mark-all', { body: { markAs: 'read' } })
  assert.equal(reply.body, 1)
  assert.deepEqual(await detailsOf(one), [seen, read])
  assert.deepEqual(await detailsOf(two), [seen, read])
  assert.deepEqual(await detailsOf(other), [])
})

test('a snooze and its end are reported each time, whoever ends it', async () => {
  const said = await reported('ada')
  const { environment } = scene.scene
  const snooze = () =>
    change(said, 'snooze', { snoozeUntil: new Date(app.world.now().getTime() + 60_000).toISOString() })
  await snooze()
  assert.deepEqual(await detailsOf(said), [seen, snoozed])
  await change(said, 'unsnooze')
  await change(said, 'unsnooze')
  await snooze()
  const snoozes = { messageIds: [said.id], counted: new Map() }
  await app.database.db.transaction((tx) => endSnoozes(tx, app.world, environment, snoozes))
  assert.deepEqual(await detailsOf(said), [seen, snoozed, unsnoozed, snoozed, unsnoozed])
})

test('a refused snooze reports nothing', async () => {
  const said = await reported('ada')
  assert.equal((await change(said, 'snooze', { snoozeUntil: '2020-01-01T00:00:00Z' })).status, 422)
  assert.deepEqual(await detailsOf(said), [])
})

test('a job that is still open is left to whoever works on it', async () => {
  const said = await reported('ada', 'queued')
  assert.equal((await markAs(said.id, 'read')).status, 201)
  assert.deepEqual(await detailsOf(said), [])
})

test('a job’s story comes to an end', async () => {
  const said = await reported('ada')
  const { environment } = scene.scene
  const [job] = await app.database.db.rows<{ id: string }>(sql`
    select id from jobs where environment_id = ${environment.id} and notification_id = ${said.notification.id}`)
  const entries = [{ jobId: job?.id ?? '', details: [detail(app.world.now(), 'snoozed')] }]
  for (let time = 0; time < detailsPerJobMax + 5; time += 1) {
    await app.database.db.transaction((tx) => appendDetails(tx, environment, entries))
  }
  assert.equal((await detailsOf(said)).length, detailsPerJobMax - 1)
})

test('several messages of one job are all reported, in one go; another environment’s jobs are not', async () => {
  const said = await reported('ada')
  const again = await scene.sayAgain({ id: said.eventId, transactionId: said.transactionId }, said.notification, {
    draft: { target: 'other' },
  })
  await app.call('POST', '/v1/subscribers/ada/messages/mark-as', {
    body: { messageId: [said.id, again.id], markAs: 'seen' },
  })
  assert.deepEqual(await detailsOf(said), [seen, seen])
  const { environment } = (await MessageScene.of(app, [], { environmentName: 'Production' })).scene
  const jobs = await app.database.db.rows<{ id: string }>(sql`
    select id from jobs where notification_id = ${said.notification.id}`)
  const entries = jobs.map(({ id }) => ({ jobId: id, details: [detail(app.world.now(), 'snoozed')] }))
  await app.database.db.transaction((tx) => appendDetails(tx, environment, entries))
  assert.deepEqual(await detailsOf(said), [seen, seen])
})
