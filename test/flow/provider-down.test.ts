// Providers that are down or want a pause: the next integration takes over, or messages are held, visibly and unharmed.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Renderer } from '../../src/domain/workflows/rendering.ts'
import { createRenderer } from '../../src/render/renderer.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, rawOf, statuses } from '../support/flow-scene.ts'
import { createTestPipeline } from '../support/pipeline.ts'
import { email } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
let workflow: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  workflow = await scene.workflow([email('Hello')])
})
after(() => app.close())
beforeEach(() => mail.clear())

const hourMs = 3_600_000
const people = (count: number): Json[] =>
  Array.from({ length: count }, () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` }))
const heldDetails = (job: Json): Json[] =>
  job.executionDetails.filter(({ detail }: Json) =>
    detail.startsWith('The message is held: SendGrid has been down since'),
  )
const sending = async (job: Json): Promise<Json> =>
  (await scene.rows(sql`select sending from messages where job_id = ${job._id}`))[0]?.sending

test('after five failures in a row the next integration takes over at once, and new messages go to it', async () => {
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', 503)
  const transactionId = await scene.trigger(workflow, people(5))
  await scene.advance(1_000)
  assert.deepEqual(mail.accounts(), [
    ...Array.from({ length: 5 }, () => 'first'),
    ...Array.from({ length: 5 }, () => 'second'),
  ])
  await scene.run(workflow, people(1))
  assert.equal(mail.accounts().at(-1), 'second')
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 5)
})

test('one call finds out whether the provider is back; then it is used again', async () => {
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', ...Array.from({ length: 5 }, () => 503), 202)
  await scene.trigger(workflow, people(5))
  await scene.advance(1_000)
  mail.asked.length = 0
  app.world.advance(2_000)
  await scene.trigger(workflow, people(3))
  await scene.work()
  assert.deepEqual(mail.accounts().filter((account) => account === 'first').length, 1)
  await scene.run(workflow, people(1))
  assert.equal(mail.accounts().at(-1), 'first')
})

test('without another integration a message is held, which is said once, and sent when the provider is back', async () => {
  await mail.account('only')
  mail.answers('only', 503)
  const { transactionId } = await scene.run(workflow, people(1))
  await scene.advance(200_000, 1_000)
  const [job] = (await scene.notification(transactionId)).jobs
  assert.equal(job.status, 'running')
  assert.equal(heldDetails(job).length, 1, JSON.stringify(job.executionDetails))
  const { downSince, nextAttemptAt } = rawOf(job, heldDetails(job)[0].detail)
  assert.match(
    heldDetails(job)[0].detail,
    new RegExp(`down since ${downSince}; the next attempt is at ${nextAttemptAt}`),
  )
  const count = job.executionDetails.length
  await scene.advance(9 * hourMs, 60_000)
  const [held] = (await scene.notification(transactionId)).jobs
  assert.equal(held.status, 'running')
  assert.equal(held.executionDetails.length, count, 'hours of waiting add nothing to the activity')
  assert.ok((await sending(job)).attempts <= 5)
  mail.answers('only', 202)
  await scene.advance(120_000, 10_000)
  const over = await scene.notification(transactionId)
  assert.deepEqual(statuses(over), ['completed'])
  assert.equal((await scene.message(transactionId)).status, 'sent')
})

test('a message is held for three days at the most', async () => {
  await mail.account('only')
  mail.answers('only', 503)
  const { transactionId } = await scene.run(workflow, people(1))
  await scene.advance(600_000, 10_000)
  await scene.advance(71 * hourMs, hourMs / 2)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['running'])
  await scene.advance(3 * hourMs, 600_000)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['failed'])
  assert.equal((await scene.message(transactionId)).status, 'error')
})

/** How many e-mails are rendered from now on, by a node of its own. */
function counting(): { renderer: Renderer; rendered(): number } {
  let count = 0
  const renderer = createRenderer(() => app.world.now())
  const email: Renderer['email'] = (...args) => {
    count += 1
    return renderer.email(...args)
  }
  return { renderer: { ...renderer, email }, rendered: () => count }
}

const waiting = (): Promise<Json[]> =>
  scene.rows(sql`
    select j.status, j.due_at, j.lease, (select count(*) from messages m where m.job_id = j.id) as messages
    from jobs j where j.due_at is not null order by j.due_at`)

test('while a provider is down new messages are held before they are rendered, each says so once, and all are sent', async () => {
  await mail.account('only')
  mail.answers('only', 503)
  const { renderer, rendered } = counting()
  const node = createTestPipeline(app.database.db, app.world, { renderer })
  await scene.trigger(workflow, people(5))
  await node.work()
  const before = rendered()
  const transactionId = await scene.trigger(workflow, people(20))
  await node.work()
  assert.equal(rendered(), before)
  await node.advance(hourMs, 30_000)
  mail.answers('only', 202)
  await node.advance(300_000, 5_000)
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 20)
  for (const { _id } of await scene.notifications(transactionId)) {
    const { jobs } = await scene.expect(200, 'GET', `/v1/notifications/${_id}`)
    assert.equal(heldDetails(jobs[0]).length, 1, JSON.stringify(jobs[0].executionDetails))
  }
})

test('whoever finds out whether a provider is back is rendered alone; the others are held, for three days at the most', async () => {
  await mail.account('only')
  mail.answers('only', 503)
  const { renderer, rendered } = counting()
  const node = createTestPipeline(app.database.db, app.world, { renderer })
  await scene.trigger(workflow, people(5))
  await node.work()
  const before = rendered()
  const transactionId = await scene.trigger(workflow, people(20))
  await node.work()
  await node.advance(hourMs, 30_000)
  assert.ok(rendered() - before <= 20, `${rendered() - before} e-mails were rendered for 20`)
  await node.advance(70 * hourMs, hourMs)
  const { byOutcome } = (await scene.progress(transactionId)).counts
  assert.deepEqual([byOutcome.failed ?? 0, byOutcome.completed ?? 0], [0, 0])
  await node.advance(3 * hourMs, hourMs / 4)
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.failed, 20)
  assert.deepEqual(await waiting(), [])
})

test('a pause postpones what comes until it ends, unrendered, a little later each', async () => {
  await mail.account('only')
  mail.answers('only', { status: 429, headers: { 'retry-after': '600' } }, 202)
  const { renderer, rendered } = counting()
  const node = createTestPipeline(app.database.db, app.world, { renderer })
  const pausedAtMs = app.world.now().getTime()
  await scene.trigger(workflow, people(1))
  await node.work()
  await scene.trigger(workflow, people(40))
  let random = 0
  app.world.random = () => {
    random = (random + 0.377) % 1
    return random
  }
  await node.advance(590_000, 59_000)
  assert.equal(rendered(), 1)
  assert.equal(mail.asked.length, 1)
  const [, ...postponed] = await waiting()
  assert.equal(postponed.length, 40)
  const endMs = pausedAtMs + 600_000
  for (const { status, due_at, lease, messages } of postponed) {
    assert.deepEqual([status, lease, messages], ['queued', null, 0])
    assert.ok(due_at.getTime() >= endMs && due_at.getTime() <= endMs + 60_000, due_at.toISOString())
  }
  assert.ok(new Set(postponed.map(({ due_at }) => due_at.getTime())).size > 20, 'they come back spread')
  app.world.random = () => 0.5
  await node.advance(80_000, 5_000)
  assert.equal(mail.asked.length, 42)
})
