// The hold after a restore over the API: what is due is shown, and released as it is or cancelled first.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { databaseClock } from '../../src/db/clock.ts'
import { sql } from '../../src/db/sql.ts'
import { sendAudit } from '../../src/manage/operate/send-audit.ts'
import { createClaims } from '../../src/queue/claims.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import type { Task } from '../../src/store/jobs/tasks.ts'
import { taskQueue } from '../../src/store/jobs/tasks.ts'
import { listHeldEnvironments } from '../../src/store/operate/sending-holds.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { worldClock } from '../support/pipeline.ts'
import { delay, digest, inApp } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
  await well('POST', '/v1/workflows', { name: 'Hello', active: true, steps: [delay(), inApp()] })
})
after(() => app.close())
/** Everything so far was in the backup; the restore was a second ago. */
beforeEach(async () => {
  const { db } = app.database
  await db.run(sql`delete from tasks`)
  await db.run(sql`delete from jobs`)
})

async function well(method: string, path: string, body?: object): Promise<Json> {
  const reply = await app.call(method, path, body === undefined ? {} : { body })
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.body.data ?? reply.body
}

async function hold(): Promise<void> {
  app.world.advance(1_000)
  await app.database.db.run(sql`
    insert into sending_holds (environment_id, held_at, backup_at)
    select id, ${app.world.now()}, ${app.world.now()} from environments where name = 'Development'`)
  app.world.advance(1_000)
}

const release = (cancel: boolean): Promise<Json> => well('POST', '/v1/environments/me/hold/release', { cancel })
const kinds = async (): Promise<string[]> =>
  (await app.database.db.rows<{ kind: string }>(sql`select kind from tasks order by kind`)).map(({ kind }) => kind)

test('a redrive that was under way is stopped where what is due is cancelled: it may have come to its end since', async () => {
  const redrive = await well('POST', '/v1/redrives', { filter: { from: '2020-01-01' } })
  await hold()
  const since = await well('POST', '/v1/redrives', { filter: { from: '2020-01-01' } })
  assert.equal((await well('GET', '/v1/environments/me/hold')).otherTasks, 2)
  await release(true)
  assert.equal((await well('GET', `/v1/redrives/${redrive._id}`)).state, 'stopped')
  assert.equal((await well('GET', `/v1/redrives/${since._id}`)).state, 'running', 'asked for after the restore')
  assert.deepEqual(await kinds(), ['redrive'])
})

test('a release without cancelling leaves redrives and events as they are', async () => {
  const redrive = await well('POST', '/v1/redrives', { filter: { from: '2020-01-01' } })
  await well('POST', '/v1/events/trigger', { name: 'hello', to: 'ada', transactionId: 'goes-on' })
  await hold()
  const { due, acceptedSince } = await well('GET', '/v1/environments/me/hold')
  assert.deepEqual([due.map((one: Json) => [one.workflow, one.count]), acceptedSince], [[['hello', 1]], 0])
  assert.equal((await release(false)).canceledEvents, 0)
  assert.equal((await well('GET', `/v1/redrives/${redrive._id}`)).state, 'running')
  assert.deepEqual(await kinds(), ['redrive'])
  assert.equal((await app.call('POST', '/v1/environments/me/hold/release', { body: {} })).status, 409)
})

/** The work goes on: what is due now, and in the hours after. */
const goOn = (): Promise<void> => app.pipeline.advance(3 * 3_600_000, 600_000)
const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'

async function gathered(steps: readonly Json[], count: number): Promise<{ scene: FlowScene; person: string }> {
  const scene = new FlowScene(app)
  const [workflow, person] = [await scene.workflow(steps), fresh('digested')]
  for (let n = 1; n <= count; n += 1) await scene.run(workflow, person, { payload: { n } })
  return { scene, person }
}

test('a digest that is due is cancelled for all of its events, so that none of it is sent', async () => {
  const { scene, person } = await gathered([digest(), inApp(list)], 3)
  await hold()
  assert.equal((await well('GET', '/v1/environments/me/hold')).due[0].count, 1)
  assert.equal((await release(true)).canceledEvents, 3)
  await goOn()
  assert.deepEqual(await scene.texts(person), [])
})

test('so is one that is closed and has a step that is due', async () => {
  const { scene, person } = await gathered([digest(), delay(), inApp(list)], 3)
  await app.pipeline.advance(5 * 60_000)
  await hold()
  assert.equal((await release(true)).canceledEvents, 3)
  await goOn()
  assert.deepEqual(await scene.texts(person), [])
})

test('so is what an event brought along from an earlier digest', async () => {
  const later = digest({ metadata: { type: 'regular', amount: 60, unit: 'minutes' } })
  const { scene, person } = await gathered([digest(), later, inApp(list)], 2)
  await app.pipeline.advance(6 * 60_000)
  // The second pair comes to the second digest, which the first pair has opened.
  const [workflow] = await scene.rows(sql`
    select w.identifier from workflows w join events e on e.workflow_id = w.id order by e.id desc limit 1`)
  for (const n of [3, 4]) await scene.run(String(workflow.identifier), person, { payload: { n } })
  await app.pipeline.advance(6 * 60_000)
  await hold()
  assert.equal((await release(true)).canceledEvents, 4)
  await goOn()
  assert.deepEqual(await scene.texts(person), [])
})

test('a digest that is released without cancelling is sent with all of its events', async () => {
  const { scene, person } = await gathered([digest(), inApp(list)], 3)
  await hold()
  assert.equal((await release(false)).canceledEvents, 0)
  await goOn()
  assert.deepEqual(await scene.texts(person), ['3: 1 2 3'])
})

test('webhooks and entries of the audit log wait with the rest, are counted, and go when it is released', async () => {
  const asked: string[] = []
  app.world.onFetch = async ({ url }) => {
    asked.push(new URL(url).host)
    return { status: 200, headers: new Headers(), body: '' }
  }
  await well('POST', '/v1/audit/streams', { url: 'https://siem.example.com/in' })
  const { _id } = await well('POST', '/v1/webhook-endpoints', { url: 'https://hooks.example.com/in' })
  await well('POST', `/v1/webhook-endpoints/${_id}/test`)
  await hold()
  const { db } = app.database
  assert.equal(await sendAudit(db, app.world, worldClock(app.world)), 0)
  // As every node does: what is held is known from its heartbeat.
  const environments = await listHeldEnvironments(db)
  const heldEnvironments = () => new Set(environments.map(({ id }) => id))
  const leases = createLeaseSource()
  const claim = createClaims<Task>({ db, queue: taskQueue, clock: databaseClock, heldEnvironments })
  assert.deepEqual(await claim(10, leases.newLease()), [])
  assert.deepEqual(asked, [])
  const { otherTasks, auditEntries } = await well('GET', '/v1/environments/me/hold')
  assert.ok(otherTasks >= 1 && auditEntries >= 2, `${otherTasks} ${auditEntries}`)
  await release(false)
  assert.ok((await sendAudit(db, app.world, worldClock(app.world))) >= auditEntries)
  await app.pipeline.work()
  assert.deepEqual([...new Set(asked)].sort(), ['hooks.example.com', 'siem.example.com'])
})

test('events accepted before the restore are cancelled, those accepted since are not', async () => {
  await well('POST', '/v1/events/trigger', { name: 'hello', to: 'ada', transactionId: 'before' })
  await hold()
  await well('POST', '/v1/events/trigger', { name: 'hello', to: 'ada', transactionId: 'since' })
  assert.equal((await release(true)).canceledEvents, 1)
  const events = await app.database.db.rows<{ id: string; canceled: boolean }>(sql`
    select transaction_id as id, canceled_at is not null as canceled from events where transaction_id in ('before', 'since') order by 1`)
  assert.deepEqual(events, [
    { id: 'before', canceled: true },
    { id: 'since', canceled: false },
  ])
  assert.deepEqual(await kinds(), ['cancel'])
})

test('an event is cancelled as a whole: what waits of it for a later time is counted apart from what stays', async () => {
  const { db } = app.database
  await well('POST', '/v1/events/trigger', { name: 'hello', to: ['ada', 'grace'], transactionId: 'in-part' })
  await well('POST', '/v1/events/trigger', { name: 'hello', to: 'ada', transactionId: 'waits' })
  await db.run(sql`
    update jobs j set due_at = now() + interval '1 hour' from events e, subscribers s
    where e.id = j.event_id and s.id = j.subscriber_id and (e.transaction_id = 'waits' or s.subscriber_id = 'grace')`)
  await hold()
  const { due, later, laterOfDue } = await well('GET', '/v1/environments/me/hold')
  assert.deepEqual([due[0].count, later, laterOfDue], [1, 2, 1])
  assert.equal((await release(true)).canceledEvents, 1)
  await app.pipeline.work()
  const open = await db.rows(sql`
    select e.transaction_id as id from jobs j join events e on e.id = j.event_id where j.due_at is not null`)
  assert.deepEqual(open, [{ id: 'waits' }])
})
