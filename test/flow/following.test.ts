// Steps that follow others at once: decided and written with them, and alone where that could cost the ones before.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { jobIdOf } from '../../src/domain/derived-id.ts'
import { leaseMs } from '../../src/queue/queue.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, statuses } from '../support/flow-scene.ts'
import { eventually } from '../support/service.ts'
import { condition, delay, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let other: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  other = await createTestApp({ nodeOf: app })
  scene = new FlowScene(app)
  mail = new MailScript(scene)
})
after(async () => {
  await other.close()
  await app.close()
})
beforeEach(() => mail.clear())

const newSubscriber = () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` })

/** Whether the first step asks for it or not, it has run when the second is decided. */
const ifRead = {
  filters: [
    {
      isNegated: false,
      type: 'GROUP',
      value: 'AND',
      children: [{ on: 'previousStep', step: 'first', stepType: 'unread' }],
    },
  ],
}

test('a step after an in-app message takes no turn of its own', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two'), inApp('Three'), inApp('Four')])
  const transactionId = await scene.trigger(name, newSubscriber())
  const turns = await app.pipeline.work()
  assert.deepEqual(statuses(await scene.notification(transactionId)), [
    'completed',
    'completed',
    'completed',
    'completed',
  ])
  assert.equal(turns, 2, 'in-app and e-mail, then in-app and in-app')
  assert.equal(mail.asked.length, 1)
  assert.equal((await scene.messages(transactionId)).length, 4)
})

test('all of it is one transaction: when the provider is asked, both steps are written', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two')])
  const transactionId = await scene.trigger(name, newSubscriber())
  let written: unknown
  mail.meanwhile = async () => {
    written = await scene.rows(sql`
      select count(distinct xmin::text) as transactions, count(*) as rows from (
        select j.xmin from jobs j join events e on e.id = j.event_id where e.transaction_id = ${transactionId}
        union all
        select m.xmin from messages m join events e on e.id = m.event_id where e.transaction_id = ${transactionId}) as all_rows`)
  }
  await scene.work()
  assert.deepEqual(written, [{ transactions: 1, rows: 4 }])
})

test('a delay that is over takes the step after it along', async () => {
  await mail.account('provider')
  const name = await scene.workflow([delay(), email('Late')])
  const transactionId = await scene.trigger(name, newSubscriber())
  assert.equal(await app.pipeline.work(), 1)
  app.world.advance(2 * 3_600_000)
  assert.equal(await app.pipeline.work(), 1)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
})

test('a step that asks what became of the one before has a turn of its own, and so has one that waits', async () => {
  await mail.account('provider')
  const first = inApp('One', { uuid: 'first' })
  for (const second of [email('Two', ifRead), email('{{ steps.first.seen }}'), delay()]) {
    const name = await scene.workflow([first, second])
    await scene.trigger(name, newSubscriber())
    assert.equal(await app.pipeline.work(), 2, JSON.stringify(second))
  }
})

test('who follows and is skipped, or finds no one to send, lets the run continue as ever', async () => {
  const never = { filters: [condition('gold')] }
  const skipped = await scene.run(
    await scene.workflow([inApp('One'), inApp('Two', never), inApp('Three')]),
    newSubscriber(),
  )
  assert.deepEqual(statuses(skipped), ['completed', 'skipped', 'completed'])
  for (const one of await scene.expect(200, 'GET', '/v1/integrations')) {
    if (one.channel === 'email') await scene.expect(200, 'DELETE', `/v1/integrations/${one._id}`)
  }
  const failed = await scene.run(await scene.workflow([inApp('One'), email('Two'), inApp('Three')]), newSubscriber())
  assert.deepEqual(statuses(failed), ['completed', 'failed', 'completed'])
  const stopping = { shouldStopOnFail: true }
  const name = await scene.workflow([inApp('One'), email('Two', stopping), inApp('Three'), inApp('Four')])
  assert.deepEqual(statuses(await scene.run(name, newSubscriber())), ['completed', 'failed', 'canceled', 'canceled'])
})

test('who follows and is held back waits for its hour, and the run continues from there', async () => {
  await mail.account('provider')
  const person = newSubscriber()
  await scene.expect(201, 'POST', '/v2/subscribers', person)
  const weeklySchedule = { sunday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] } }
  const schedule = { isEnabled: true, outside: 'hold', weeklySchedule }
  await scene.expect(200, 'PATCH', `/v2/subscribers/${person.subscriberId}/preferences`, { schedule })
  const name = await scene.workflow([inApp('One'), email('Two'), inApp('Three')])
  const { transactionId, jobs } = await scene.run(name, person)
  assert.deepEqual(statuses({ jobs }), ['completed', 'delayed', 'pending'])
  assert.equal(mail.asked.length, 0)
  await scene.advance(7 * 24 * 3_600_000, 3_600_000)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed', 'completed'])
  assert.equal(mail.asked.length, 1)
})

/** Changes something after the notification's first job was claimed and before anything else of it is looked at. */
async function meanwhile(transactionId: string, change: (tx: Tx, job: Record<string, string>) => Promise<unknown>) {
  let working: Promise<unknown> = Promise.resolve()
  await other.database.db.transaction(async (tx) => {
    const [job] = await scene.rows(sql`
      select j.id, j.event_id, j.notification_id from jobs j join events e on e.id = j.event_id
      where e.transaction_id = ${transactionId}`)
    await tx.run(sql`lock table subscribers in access exclusive mode`)
    working = app.pipeline.work()
    const isClaimed = sql`select 1 from jobs where id = ${job.id} and lease is not null`
    await eventually(async () => (await tx.rows(isClaimed)).length > 0)
    await change(tx, job)
  })
  await working
}

/** How many steps were counted as over, by their place. */
const countedSteps = (transactionId: string) =>
  scene.rows(sql`
    select step, outcome, sum(count)::int as count from count_deltas
    where measure = 'steps' and version_id = (select version_id from events where transaction_id = ${transactionId})
    group by 1, 2 order by 1, 2`)

test('where the lease of the first was lost, nothing of the second is written and no one is asked', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two')])
  const transactionId = await scene.trigger(name, newSubscriber())
  const theirs = '00000000-0000-4000-8000-000000000001'
  await meanwhile(transactionId, (tx, { id }) => tx.run(sql`update jobs set lease = ${theirs} where id = ${id}`))
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['queued', 'pending'])
  assert.deepEqual(await scene.messages(transactionId), [])
  assert.deepEqual(await countedSteps(transactionId), [])
  assert.equal(mail.asked.length, 0)
  app.world.advance(leaseMs)
  await other.pipeline.work()
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
  assert.equal(mail.asked.length, 1)
})

test('where the second was cancelled meanwhile, it stays so and no one is asked', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two')])
  const transactionId = await scene.trigger(name, newSubscriber())
  await meanwhile(transactionId, (tx, { id, event_id, notification_id }) =>
    tx.run(sql`
      insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, details,
        claims, created_at, updated_at)
      select environment_id, ${jobIdOf(event_id ?? '', notification_id ?? '', 1)}, notification_id, event_id, subscriber_id,
        version_id, 1, 'canceled', lane, '[]', 0, created_at, updated_at
      from jobs where id = ${id}`),
  )
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'canceled'])
  assert.deepEqual(await countedSteps(transactionId), [{ step: 0, outcome: 'completed', count: 1 }])
  assert.equal((await scene.messages(transactionId)).length, 1)
  assert.equal(mail.asked.length, 0)
})

/** Holds whoever writes an e-mail until `change` is done, and reports it when someone waits behind them. */
async function whileWriting(change: (othersWait: () => Promise<void>) => Promise<unknown>): Promise<void> {
  await scene.rows(sql`create function wait_for_test() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(1); return new; end $$`)
  await scene.rows(sql`create trigger wait_for_test before insert on messages for each row when (new.channel = 'email')
    execute function wait_for_test()`)
  const waiters = async (count: number): Promise<void> => {
    const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await eventually(async () => (await other.database.db.rows(waiting)).length === count)
  }
  let working: Promise<unknown> = Promise.resolve()
  try {
    await other.database.db.transaction(async (tx) => {
      await tx.rows(sql`select pg_advisory_xact_lock(1)`)
      working = app.pipeline.work()
      await waiters(1)
      await change(() => waiters(2))
    })
    await working
  } finally {
    await scene.rows(sql`drop function wait_for_test() cascade`)
  }
}

test('who calls the event off while both steps are written is too late for them, and not for the next', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two'), inApp('Three')])
  const transactionId = await scene.trigger(name, newSubscriber())
  let canceling: Promise<unknown> = Promise.resolve()
  mail.meanwhile = () => canceling.then(() => {})
  await whileWriting(async (othersWait) => {
    canceling = scene.expect(200, 'DELETE', `/v1/events/trigger/${transactionId}`)
    await othersWait()
  })
  assert.equal(await canceling, true)
  mail.meanwhile = undefined
  await scene.work()
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed', 'canceled'])
})

test('who calls one notification off while both steps are written is not too late for the next either', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two'), inApp('Three')])
  const transactionId = await scene.trigger(name, newSubscriber())
  const { _id } = await scene.notification(transactionId)
  let canceling: Promise<unknown> = Promise.resolve()
  mail.meanwhile = () => canceling.then(() => {})
  await whileWriting(async (othersWait) => {
    canceling = scene.expect(200, 'POST', `/v1/notifications/${_id}/cancel`)
    await othersWait()
  })
  await canceling
  mail.meanwhile = undefined
  await scene.work()
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed', 'canceled'])
})

test('two steps that failed and are redriven together run once each, and at once', async () => {
  for (const one of await scene.expect(200, 'GET', '/v1/integrations')) {
    if (one.active && one.channel === 'in_app')
      await scene.expect(200, 'PUT', `/v1/integrations/${one._id}`, { active: false })
    if (one.channel === 'email') await scene.expect(200, 'DELETE', `/v1/integrations/${one._id}`)
  }
  const name = await scene.workflow([inApp('One'), email('Two'), inApp('Three')])
  const failed = await scene.run(name, newSubscriber())
  assert.deepEqual(statuses(failed), ['failed', 'failed', 'failed'])
  for (const one of await scene.expect(200, 'GET', '/v1/integrations')) {
    if (one.channel === 'in_app') await scene.expect(200, 'PUT', `/v1/integrations/${one._id}`, { active: true })
  }
  await mail.account('provider')
  await scene.expect(202, 'POST', `/v1/notifications/${failed._id}/redrive`)
  await scene.work()
  assert.deepEqual(statuses(await scene.notification(failed.transactionId)), ['completed', 'completed', 'completed'])
  assert.equal((await scene.messages(failed.transactionId)).length, 3)
  assert.equal(mail.asked.length, 1)
})

/** No one is answered until they are let go; `asked` resolves when so many have asked. */
function held(count: number): { readonly asked: Promise<void>; letGo(): void } {
  let open: () => void = () => {}
  let allAsked: () => void = () => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  const asked = new Promise<void>((resolve) => (allAsked = resolve))
  mail.meanwhile = () => {
    if (mail.asked.length === count) allAsked()
    return gate
  }
  const letGo = (): void => {
    mail.meanwhile = undefined
    open()
  }
  return { asked, letGo }
}

test('who follows and finds no slot waits for one, while all the first steps are done', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two')])
  const people = Array.from({ length: 55 }, newSubscriber)
  const { asked, letGo } = held(50)
  const transactionId = await scene.trigger(name, people)
  const working = app.pipeline.work()
  await asked
  const waiting = await scene.rows(sql`
    select j.status, j.lease is not null as held, count(*) as count from jobs j join events e on e.id = j.event_id
    where e.transaction_id = ${transactionId} group by 1, 2 order by 1, 2`)
  assert.deepEqual(waiting, [
    { status: 'completed', held: false, count: 55 },
    { status: 'queued', held: true, count: 5 },
    { status: 'running', held: true, count: 50 },
  ])
  letGo()
  await working
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 55)
  assert.equal(mail.asked.length, 55)
  assert.equal(new Set(mail.asked.flatMap((one) => one.to)).size, 55)
})

test('who follows and waits for a slot while the node stops is given back, and sent once by another', async () => {
  await mail.account('provider')
  const stopping = await createTestApp({ nodeOf: app })
  const name = await scene.workflow([inApp('One'), email('Two')])
  const transactionId = await scene.trigger(name, Array.from({ length: 55 }, newSubscriber))
  const { asked, letGo } = held(50)
  const working = stopping.pipeline.work()
  await asked
  await stopping.pipeline.workers.stop()
  const open = sql`
    select j.status, j.lease is not null as held, count(*) as count from jobs j join events e on e.id = j.event_id
    where e.transaction_id = ${transactionId} and j.due_at is not null group by 1, 2 order by 1, 2`
  assert.deepEqual(await scene.rows(open), [
    { status: 'queued', held: false, count: 5 },
    { status: 'running', held: true, count: 50 },
  ])
  letGo()
  await working
  await stopping.close()
  // Draining claims once more after the stop, and finds that it may not wait: those come back within a second.
  await scene.advance(2_000, 1_000)
  assert.deepEqual(await scene.rows(open), [])
  assert.equal(mail.asked.length, 55)
  assert.equal(new Set(mail.asked.flatMap((one) => one.to)).size, 55)
})

test('a fault in what follows costs only that: when it is decided', async () => {
  const { _id, triggers } = await scene.created([inApp('One'), email('Two')])
  await scene.rows(sql`
    update workflow_versions set definition = jsonb_set(definition, '{steps,1,template,content}', '{"broken": true}')
    where workflow_id = ${_id}`)
  const { transactionId } = await scene.run(triggers[0].identifier, newSubscriber())
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'queued'])
  await scene.advance(4_000_000, 10_000)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'failed'])
})

test('a fault in what follows costs only that: when it is written', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two')])
  await scene.rows(sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`)
  await scene.rows(sql`create trigger refuse before insert on messages for each row when (new.channel = 'email')
    execute function refuse()`)
  try {
    const { transactionId } = await scene.run(name, newSubscriber())
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['queued', 'pending'])
    await scene.advance(10_000)
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'queued'])
    await scene.advance(4_000_000, 10_000)
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'failed'])
    assert.equal(mail.asked.length, 0)
  } finally {
    await scene.rows(sql`drop function refuse() cascade`)
  }
})

test('a quarter of what a node has in flight may wait for one integration; the rest comes back later', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two')])
  const people = Array.from({ length: 2_100 }, newSubscriber)
  for (let from = 0; from < people.length; from += 100) await scene.trigger(name, people.slice(from, from + 100))
  const { letGo } = held(50)
  const undecided = sql`select count(*) as count from jobs where step = 0 and due_at is not null`
  const working: Promise<number>[] = []
  // One batch after the other: several at once look for room together, and all find some.
  for (let left = people.length; left > 0; left = (await scene.rows(undecided))[0]?.count) {
    working.push(app.pipeline.workers.jobs.drain())
    await eventually(async () => (await scene.rows(undecided))[0]?.count !== left)
  }
  assert.deepEqual(
    await scene.rows(sql`
      select status, lease is not null as held, count(*) as count from jobs where due_at is not null
      group by 1, 2 order by 1, 2`),
    [
      { status: 'queued', held: false, count: people.length - 50 - 1_250 },
      { status: 'queued', held: true, count: 1_250 },
      { status: 'running', held: true, count: 50 },
    ],
  )
  letGo()
  await Promise.all(working)
  await scene.advance(120_000, 5_000)
  assert.equal(mail.asked.length, people.length)
})
