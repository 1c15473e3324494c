// The progress of an event over the API: its state, what became of its notifications, and what the caller should know.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { JobStatus } from '../../src/domain/delivery/job.ts'
import type { SceneEvent, SceneJob, SceneWorkflow } from '../support/activity-scene.ts'
import { ActivityScene, reported, stepOf } from '../support/activity-scene.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { addSubscribers } from '../support/topic-scene.ts'

let app: TestApp
let scene: ActivityScene
let workflow: SceneWorkflow
let people: string[]
before(async () => {
  app = await createTestApp()
  scene = await ActivityScene.of(app)
  // The last step is inactive: a run ends before it.
  workflow = await scene.addWorkflow('ship', [stepOf('delay'), stepOf('in_app'), stepOf('email', { active: false })])
  people = [...(await addSubscribers(app, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'])).values()]
})
after(() => app.close())

async function progress(transactionId: string): Promise<Json> {
  const reply = await app.call('GET', `/v1/events/${encodeURIComponent(transactionId)}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const nothing = { completed: 0, failed: 0, skipped: 0, canceled: 0, merged: 0, delayed: 0, open: 0 }

/** An event with a notification for each list of jobs. */
async function eventOf(jobs: readonly (readonly SceneJob[])[]): Promise<SceneEvent> {
  const event = await scene.addEvent(
    workflow,
    people.slice(0, jobs.length).map((subscriberId) => ({ subscriberId })),
  )
  for (const [index, notification] of event.notifications.entries())
    await scene.addJobs(notification, jobs[index] ?? [])
  return event
}

const ended = (status: JobStatus, last: JobStatus): SceneJob[] => [
  { step: 0, status },
  { step: 1, status: last },
]

test('each notification is counted once, by how its last step ended or by where it stands', async () => {
  const failure = [reported(app.world.now(), 'previousFailed')]
  const event = await eventOf([
    ended('completed', 'completed'),
    ended('failed', 'completed'),
    ended('completed', 'failed'),
    [
      { step: 0, status: 'failed' },
      { step: 1, status: 'canceled', details: failure },
    ],
    ended('completed', 'canceled'),
    ended('merged', 'merged'),
    ended('completed', 'skipped'),
    ended('completed', 'queued'),
    ended('completed', 'running'),
    [{ step: 0, status: 'delayed' }],
  ])
  assert.deepEqual(await progress(event.transactionId), {
    transactionId: event.transactionId,
    name: 'ship',
    state: 'running',
    createdAt: app.world.now().toISOString(),
    counts: {
      recipients: 10,
      notifications: 10,
      byOutcome: { completed: 2, failed: 2, skipped: 1, canceled: 1, merged: 1, delayed: 1, open: 2 },
    },
    countsCapped: false,
    warnings: [],
  })
})

test('an event is completed when all its notifications are over, and running while one waits', async () => {
  const over = await eventOf([ended('completed', 'completed'), ended('completed', 'failed')])
  assert.equal((await progress(over.transactionId)).state, 'completed')
  const waiting = await eventOf([ended('completed', 'completed'), [{ step: 0, status: 'delayed' }]])
  assert.equal((await progress(waiting.transactionId)).state, 'running')
})

test('while recipients are still being found their number is not known', async () => {
  const more = { expandedAt: null, transactionId: 'broad/cast 1', lane: 1 }
  const event = await scene.addEvent(workflow, [{ subscriberId: people[0] ?? '' }], more)
  const [notification] = event.notifications
  await scene.addJobs(notification ?? assert.fail('no notification'), ended('completed', 'completed'))
  const reported = await progress('broad/cast 1')
  assert.deepEqual([reported.state, reported.transactionId], ['expanding', 'broad/cast 1'])
  assert.deepEqual(reported.counts, { notifications: 1, byOutcome: { ...nothing, completed: 1 } })
})

test('an event that reached no one is there, with its warnings', async () => {
  const warnings = ['There is no topic nowhere']
  const event = await scene.addEvent(workflow, [], { warnings })
  const reported = await progress(event.transactionId)
  assert.deepEqual([reported.state, reported.warnings], ['completed', warnings])
  assert.deepEqual(reported.counts, { recipients: 0, notifications: 0, byOutcome: nothing })
})

test('an event of a workflow that was deleted since is still reported', async () => {
  const gone = await scene.addWorkflow('gone', [stepOf('in_app')])
  const event = await scene.addEvent(gone, [])
  await app.database.db.run(sql`
    update workflows set deleted_at = now() where environment_id = ${scene.environment.id} and id = ${gone.id}`)
  assert.equal((await progress(event.transactionId)).name, 'gone')
})

test('the jobs of an event whose ids lie in the same range are not counted', async () => {
  const event = await eventOf([ended('completed', 'completed')])
  await app.database.db.run(sql`
    insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, claims,
                      details, created_at, updated_at)
    select environment_id, overlay(id::text placing '000000000000' from 25)::uuid, notification_id, gen_random_uuid(),
           subscriber_id, version_id, step, 'failed', lane, 0, '[]', created_at, updated_at
    from jobs where environment_id = ${scene.environment.id} and event_id = ${event.id}`)
  assert.deepEqual((await progress(event.transactionId)).counts.byOutcome, { ...nothing, completed: 1 })
})

test('of a very large event the first notifications are counted, and it says so', async () => {
  const event = await eventOf([ended('completed', 'completed')])
  await app.database.db.run(sql`
    update events set notified = 50001 where environment_id = ${scene.environment.id} and id = ${event.id}`)
  const reported = await progress(event.transactionId)
  assert.deepEqual([reported.countsCapped, reported.counts.notifications], [true, 50_001])
  await app.database.db.run(sql`
    update events set notified = 50000 where environment_id = ${scene.environment.id} and id = ${event.id}`)
  assert.equal((await progress(event.transactionId)).countsCapped, false)
})

test('an id that no event has is not found, nor is another environment’s', async () => {
  const event = await eventOf([])
  const own = await scene.addEvent(workflow, [], { transactionId: 'my own' })
  for (const [id, key] of [
    ['unknown', app.developmentKey],
    [scene.newId(), app.developmentKey],
    // An event whose transactionId is the caller's goes by that alone.
    [own.id, app.developmentKey],
    [event.transactionId, app.productionKey],
    ['my%20own', app.productionKey],
  ] as const) {
    const reply = await app.call('GET', `/v1/events/${id}`, { key })
    assert.equal(reply.status, 404, id)
    assert.match(reply.body.message, /^No event has the transactionId /)
  }
})
