// What a node leaves behind when it ends in the middle of sending, and that a lost lease changes nothing.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { leaseMs } from '../../src/queue/queue.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, reported, statuses } from '../support/flow-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let node: TestApp
let scene: FlowScene
let mail: MailScript
let workflow: string
before(async () => {
  app = await createTestApp()
  node = await createTestApp({ nodeOf: app })
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  workflow = await scene.workflow([email('Hello'), inApp('After')])
})
after(async () => {
  await node.close()
  await app.close()
})
beforeEach(() => mail.clear())

const newSubscriber = () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` })

/** The first node asks and never hears the end of it, until it is let go. */
async function stuck(count: number): Promise<{ letGo(): Promise<void> }> {
  let letGo: () => void = () => {}
  let allAsked: () => void = () => {}
  const gate = new Promise<void>((resolve) => (letGo = resolve))
  const asked = new Promise<void>((resolve) => (allAsked = resolve))
  mail.meanwhile = () => {
    if (mail.asked.length === count) allAsked()
    return gate
  }
  const working = app.pipeline.work()
  await asked
  mail.meanwhile = undefined
  // Those that found no slot are waiting for one by now.
  for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate)
  return {
    letGo: async () => {
      letGo()
      await working
    },
  }
}

test('an e-mail that was being sent when its node ended is perhaps sent: it is repeated', async () => {
  await mail.account('provider')
  const transactionId = await scene.trigger(workflow, newSubscriber())
  const first = await stuck(1)
  app.world.advance(leaseMs)
  await node.pipeline.work()
  const { jobs } = await scene.notification(transactionId)
  const again = new Date(app.world.now().getTime() + 500).toISOString()
  assert.deepEqual(reported(jobs[0]).slice(-2), [
    ['Unexpected provider error', 'Warning'],
    [`The message will be tried again at ${again}`, 'Queued'],
  ])
  assert.match(jobs[0].executionDetails.at(-2).raw, /it is unknown whether the message was sent/)
  assert.equal(mail.asked.length, 1)
  app.world.advance(1_000)
  await node.pipeline.work()
  assert.equal(mail.asked.length, 2)
  const over = await scene.notification(transactionId)
  assert.deepEqual(statuses(over), ['completed', 'completed'])
  await first.letGo()
  const unchanged = await scene.notification(transactionId)
  assert.deepEqual(unchanged, over, 'who lost the lease changes nothing')
})

test('a provider’s yes is applied although the lease was lost meanwhile: nothing is sent again', async () => {
  await mail.account('provider')
  const transactionId = await scene.trigger(workflow, newSubscriber())
  const first = await stuck(1)
  app.world.advance(leaseMs)
  await node.pipeline.work()
  await first.letGo()
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['running', 'pending'])
  app.world.advance(1_000)
  await node.pipeline.work()
  const { jobs } = await scene.notification(transactionId)
  assert.deepEqual([jobs[0].status, jobs[1].status], ['completed', 'completed'])
  assert.deepEqual(reported(jobs[0]).at(-1), ['Message sent', 'Success'])
  assert.equal(mail.asked.length, 1)
  const sent = (await scene.messages(transactionId)).map(({ channel, status }) => [channel, status])
  assert.deepEqual(sent.sort(), [
    ['email', 'sent'],
    ['in_app', 'sent'],
  ])
})

test('an e-mail whose node ends in the middle of every call is repeated until an answer comes', async () => {
  await mail.account('provider')
  const transactionId = await scene.trigger(workflow, newSubscriber())
  const hanging: { letGo(): Promise<void> }[] = []
  for (let deaths = 1; deaths <= 12; deaths += 1) {
    hanging.push(await stuck(deaths))
    app.world.advance(leaseMs)
    // The other node finds the call under way, and that nothing more is heard of it.
    await node.pipeline.work()
    app.world.advance(60_000)
  }
  await node.pipeline.work()
  const { jobs } = await scene.notification(transactionId)
  assert.deepEqual([jobs[0].status, jobs[1].status], ['completed', 'completed'])
  assert.equal(mail.asked.length, 13)
  const [row] = await scene.rows(sql`
    select sending from messages where job_id = ${jobs[0]._id} and status = 'sent'`)
  assert.deepEqual([row.sending.attempts, row.sending.interruptions], [1, 12])
  for (const { letGo } of hanging) await letGo()
})

test('what only waited for its turn is not perhaps sent: it is sent, once, and not reported as a retry', async () => {
  await mail.account('provider')
  const people = Array.from({ length: 60 }, newSubscriber)
  const transactionId = await scene.trigger(workflow, people)
  const first = await stuck(50)
  const asked = new Set(mail.asked.flatMap((one) => one.to))
  app.world.advance(leaseMs)
  await node.pipeline.work()
  const sent = mail.asked.slice(50).flatMap((one) => one.to)
  assert.deepEqual(
    [...sent].sort(),
    people
      .map((person) => person.email)
      .filter((address) => !asked.has(address))
      .sort(),
  )
  const rows = await scene.rows(sql`
    select m.sending->>'attempts' as attempts, count(*) as count from messages m
    join events e on e.id = m.event_id
    where e.transaction_id = ${transactionId} and m.channel = 'email' and m.status = 'sent' group by 1`)
  assert.deepEqual(rows, [{ attempts: '1', count: 10 }])
  app.world.advance(500)
  await node.pipeline.work()
  await first.letGo()
  const { counts } = await scene.progress(transactionId)
  assert.equal(counts.byOutcome.completed, 60)
  assert.equal(mail.asked.length, 110)
})

test('jobs that were claimed and not begun run on another node when the lease ends, once', async () => {
  await mail.account('provider')
  const people = Array.from({ length: 20 }, newSubscriber)
  const transactionId = await scene.trigger(workflow, people)
  await scene.rows(sql`
    update jobs set lease = gen_random_uuid(), claims = 1,
      due_at = ${new Date(app.world.now().getTime() + leaseMs)}::timestamptz where due_at is not null`)
  await node.pipeline.work()
  assert.equal(mail.asked.length, 0)
  app.world.advance(leaseMs)
  await Promise.all([node.pipeline.work(), app.pipeline.work()])
  assert.equal(mail.asked.length, 20)
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 20)
})

test('two nodes share the work without doing anything twice', async () => {
  await mail.account('provider')
  const people = Array.from({ length: 400 }, newSubscriber)
  const transactionId = await scene.trigger(workflow, people)
  for (let round = 0; round < 6; round += 1) {
    await Promise.all([node.pipeline.work(), app.pipeline.work()])
    app.world.advance(500)
  }
  assert.equal(mail.asked.length, 400)
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 400)
  assert.equal((await scene.messages(transactionId)).length, 800)
})

/** The database refuses whatever would be reported of this job. */
async function refuseToSettle(jobId: string): Promise<() => Promise<void>> {
  await app.database.db.run({
    text: `create function refuse_to_settle() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`,
    values: [],
  })
  await app.database.db.run({
    text: `create trigger refuse_to_settle before update on jobs for each row
           when (old.id = '${jobId}' and new.details <> old.details) execute function refuse_to_settle()`,
    values: [],
  })
  return async () => {
    await app.database.db.run(sql`drop function refuse_to_settle cascade`)
  }
}

test('a job that cannot be settled when it is resumed doubles nothing of its batch', async () => {
  await mail.account('provider')
  mail.answers('provider', 503, 202)
  const culprit = await scene.run(workflow, newSubscriber())
  const culpritId = culprit.jobs[0]._id
  await scene.rows(sql`update messages set state = 'calling' where job_id = ${culpritId}`)
  const accept = await refuseToSettle(culpritId)
  app.world.advance(1_000)
  const people = [newSubscriber(), newSubscriber(), newSubscriber()]
  const transactionId = await scene.trigger(workflow, people)
  const isPutAside = () => app.world.logged.some((line) => 'jobId' in line.facts && line.facts.jobId === culpritId)
  // Their calls are still under way when the trouble comes.
  mail.meanwhile = async () => {
    while (!isPutAside()) await new Promise(setImmediate)
  }
  await scene.work()
  const asked = mail.asked.slice(1).flatMap((one) => one.to)
  assert.deepEqual(asked.sort(), people.map((person) => person.email).sort())
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 3)
  await accept()
  await scene.advance(12_000, 1_000)
  assert.deepEqual(statuses(await scene.notification(culprit.transactionId)), ['completed', 'completed'])
})

test('a message whose job had not heard of its end is not sent again', async () => {
  await mail.account('provider')
  const { jobs, transactionId } = await scene.run(workflow, newSubscriber())
  await scene.rows(sql`
    update jobs set status = 'running', lease = gen_random_uuid(), due_at = ${app.world.now()}::timestamptz
    where id = ${jobs[0]._id}`)
  // As it was before that end: the step after it had not come.
  await scene.rows(sql`delete from messages where job_id = ${jobs[1]._id}`)
  await scene.rows(sql`delete from jobs where id = ${jobs[1]._id}`)
  await scene.work()
  assert.equal(mail.asked.length, 1)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
  assert.equal((await scene.messages(transactionId)).length, 2)
})

test('what was perhaps sent is not reported as failed when no integration is left', async () => {
  const all: Json[] = await scene.expect(200, 'GET', '/v1/integrations')
  const capture = all.find((one) => one.providerId === 'platform-email') ?? assert.fail('no capture')
  await scene.expect(200, 'PUT', `/v1/integrations/${capture._id}`, { active: false })
  await mail.account('provider')
  const transactionId = await scene.trigger(workflow, newSubscriber())
  const first = await stuck(1)
  await mail.remove('provider')
  app.world.advance(leaseMs)
  await node.pipeline.work()
  await first.letGo()
  const { jobs } = await scene.notification(transactionId)
  assert.deepEqual([jobs[0].status, jobs[0].messages[0].status], ['skipped', 'warning'])
  await scene.expect(200, 'PUT', `/v1/integrations/${capture._id}`, { active: true })
})
