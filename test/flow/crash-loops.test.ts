// Processes that end again and again: nothing is given up for having been in flight, only what ends its process by itself.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Job } from '../../src/domain/delivery/job.ts'
import { createClaims, createSoloClaims } from '../../src/queue/claims.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import type { QueueTable } from '../../src/queue/leases.ts'
import { freeLeases } from '../../src/queue/leases.ts'
import { leaseMs } from '../../src/queue/queue.ts'
import { interruptionsBeforeSolo, soloDeathsMax } from '../../src/queue/suspicion.ts'
import { jobQueue } from '../../src/store/jobs/queue-table.ts'
import { taskQueue } from '../../src/store/jobs/tasks.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { connectionLost, createFaultyDb, sqlError } from '../support/faulty-db.ts'
import { FlowScene, fresh, MailScript, statuses } from '../support/flow-scene.ts'
import { createTestPipeline, worldClock } from '../support/pipeline.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
})
after(() => app.close())
beforeEach(async () => {
  await mail.clear()
  await scene.rows(sql`delete from tasks`)
})

const people = (count: number): Json[] =>
  Array.from({ length: count }, () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` }))

/** A node that claims what is due and ends before anything comes of it. How many rows it had. */
async function dies(queue: QueueTable, limit = 300): Promise<number> {
  const { db } = app.database
  const clock = worldClock(app.world)
  const leases = createLeaseSource()
  const parts = { db, queue, clock }
  const claimed = await createClaims<Job>(parts)(limit, leases.newLease())
  const alone = await createSoloClaims<Job>(parts)(limit, leases.newLease())
  assert.ok(alone.length <= 1, 'a row that runs alone is claimed alone')
  await freeLeases(db, queue, clock, { ...leases.all, leaseMs })
  return claimed.length + alone.length
}

/** How many notifications came to what. */
async function outcomes(transactionId: string): Promise<Record<string, number>> {
  const { byOutcome } = (await scene.progress(transactionId)).counts
  return Object.fromEntries(Object.entries<number>(byOutcome).filter(([, count]) => count > 0))
}

for (const deaths of [5, 10, 30]) {
  test(`jobs that were in flight at ${deaths} deaths in a row are not buried, and all of them end`, async () => {
    await mail.account('provider')
    const workflow = await scene.workflow([inApp('First'), email('Then'), inApp('Last')])
    const transactionId = await scene.trigger(workflow, people(40))
    let inFlight = 0
    for (let death = 1; death <= deaths; death += 1) {
      inFlight += await dies(jobQueue)
      app.world.advance(3_000)
    }
    assert.ok(inFlight >= 3 * 40, `${inFlight} in flight`)
    // Those that were running alone wait a minute.
    await scene.advance(61_000, 20_000)
    assert.deepEqual(await outcomes(transactionId), { completed: 40 })
    assert.equal(mail.asked.length, 40)
    const left = await scene.rows(sql`select 1 from jobs where due_at is not null or interruptions > 0 or lane > 1`)
    assert.deepEqual(left, [])
  })
}

test('tasks that were in flight at thirty deaths are not buried either', async () => {
  const workflow = await scene.workflow([inApp('Hello')])
  const topics: string[] = []
  for (let count = 0; count < 8; count += 1) {
    const topic = fresh('topic')
    const [one, other] = [fresh('person'), fresh('person')]
    await scene.subscribers(one, other)
    await scene.topic(topic, [one, other])
    topics.push(topic)
  }
  const sent: string[] = []
  for (const topicKey of topics) sent.push(await scene.trigger(workflow, { type: 'Topic', topicKey }))
  for (let death = 1; death <= 30; death += 1) {
    await dies(taskQueue)
    app.world.advance(3_000)
  }
  await scene.advance(61_000, 20_000)
  for (const transactionId of sent) assert.deepEqual(await outcomes(transactionId), { completed: 2 })
})

test('after each death what was in flight runs in smaller groups, and in the end alone', async () => {
  const workflow = await scene.workflow([inApp('Hello')])
  const sizes: number[] = []
  for (const deaths of [0, 1, 2, 3]) {
    const transactionId = await scene.trigger(workflow, people(120))
    await app.pipeline.workers.tasks.drain()
    for (let death = 1; death <= deaths; death += 1) assert.equal(await dies(jobQueue), 120)
    await scene.work()
    // Those that were recorded by one transaction were decided together.
    const [largest] = await scene.rows(sql`
      select count(*) as count from messages
      where event_id = (select id from events where transaction_id = ${transactionId})
      group by xmin::text order by count desc limit 1`)
    sizes.push(largest?.count)
    assert.deepEqual(await outcomes(transactionId), { completed: 120 })
  }
  assert.deepEqual(sizes, [100, 50, 10, 1], 'a batch has a hundred at most')
})

test('a lease that ended accuses less than a death: it never leaves a job to run alone', async () => {
  const transactionId = await scene.trigger(await scene.workflow([inApp('Late')]), people(3))
  const parts = { db: app.database.db, queue: jobQueue, clock: worldClock(app.world) }
  for (let expiries = 0; expiries < 12; expiries += 1) {
    assert.equal((await createClaims<Job>(parts)(100, createLeaseSource().newLease())).length, 3)
    app.world.advance(leaseMs)
  }
  const rows = await scene.rows(sql`
    select interruptions, lane & 2 as alone, count(*) as count from jobs where due_at is not null group by 1, 2`)
  assert.deepEqual(rows, [{ interruptions: 2, alone: 0, count: 3 }])
  await scene.work()
  assert.deepEqual(await outcomes(transactionId), { completed: 3 })
})

test('a job that ends its process each time it runs is found, and buried after deaths alone, a minute apart', async () => {
  const workflow = await scene.workflow([inApp('One'), inApp('Two')])
  const neighbours = await scene.trigger(workflow, people(30))
  const poison = await scene.trigger(workflow, people(1))
  const [job] = await scene.rows(sql`
    select id from jobs where event_id = (select id from events where transaction_id = ${poison})`)
  const others = await scene.trigger(workflow, people(30))
  const deathsAtMs: number[] = []
  for (let starts = 1; starts <= 60; starts += 1) {
    let ended: (value: 'ended') => void = () => {}
    const end = new Promise<'ended'>((resolve) => (ended = resolve))
    let isBuried = false
    const db = createFaultyDb(app.database.db, (statement) => {
      isBuried ||= isBurial(statement)
      if (isBuried || !isAbout(statement, job.id)) return undefined
      ended('ended')
      return 'silent'
    })
    const node = createTestPipeline(db, app.world)
    const fate = await Promise.race([node.work(), end])
    if (fate === 'ended') deathsAtMs.push(app.world.now().getTime())
    await node.died()
    if (deathsAtMs.length === 5) {
      assert.deepEqual(await outcomes(neighbours), { completed: 30 })
      assert.deepEqual(await outcomes(others), { completed: 30 })
    }
    app.world.advance(fate === 'ended' ? 1_000 : 20_000)
  }
  assert.equal(deathsAtMs.length, interruptionsBeforeSolo + soloDeathsMax, 'with others, then alone')
  const alone = deathsAtMs.slice(-5)
  for (const [index, atMs] of alone.slice(1).entries()) assert.ok(atMs - (alone[index] as number) >= 60_000)
  assert.deepEqual(statuses(await scene.notification(poison)), ['failed', 'canceled'])
  assert.deepEqual(await outcomes(neighbours), { completed: 30 })
  assert.deepEqual(await outcomes(others), { completed: 30 })
})

const isAbout = ({ values }: Statement, id: string): boolean =>
  values.some((value) => value === id || (Array.isArray(value) && value.includes(id)))
const isBurial = ({ values }: Statement): boolean =>
  JSON.stringify(values).includes('times while it ran only this step')

test('errors of connections, timeouts, disks and deadlocks never count against a job', async () => {
  const codes = ['57P01', '57014', '53100', '58030', '40P01', '25006']
  const errors = [connectionLost, ...codes.map((code) => () => sqlError(code))]
  const workflow = await scene.workflow([inApp('One'), inApp('Two')])
  const transactionId = await scene.trigger(workflow, people(5))
  let failures = 0
  const logged = app.world.logged.length
  const db = createFaultyDb(app.database.db, ({ name }) => {
    if (name?.endsWith('-claim') || failures >= 5 * errors.length) return undefined
    failures += 1
    return { fails: (errors[failures % errors.length] as () => Error)() }
  })
  await createTestPipeline(db, app.world).advance(1_000)
  assert.equal(failures, 5 * errors.length)
  assert.deepEqual(await outcomes(transactionId), { completed: 5 })
  const rows = await scene.rows(sql`
    select 1 from jobs where event_id = (select id from events where transaction_id = ${transactionId})
      and (faults > 0 or interruptions > 0 or faulted_since is not null)`)
  assert.deepEqual(rows, [])
  assert.deepEqual(
    app.world.logged.slice(logged).filter(({ level }) => level === 'error'),
    [],
  )
})
