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

const somebody = () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` })

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
  const transactionId = await scene.trigger(name, somebody())
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
  const transactionId = await scene.trigger(name, somebody())
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
  const transactionId = await scene.trigger(name, somebody())
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
    await scene.trigger(name, somebody())
    assert.equal(await app.pipeline.work(), 2, JSON.stringify(second))
  }
})

test('who follows and is skipped, or finds nobody to send, lets the run go on as ever', async () => {
  const never = { filters: [condition('gold')] }
  const skipped = await scene.run(await scene.workflow([inApp('One'), inApp('Two', never), inApp('Three')]), somebody())
  assert.deepEqual(statuses(skipped), ['completed', 'skipped', 'completed'])
  for (const one of await scene.expect(200, 'GET', '/v1/integrations')) {
    if (one.channel === 'email') await scene.expect(200, 'DELETE', `/v1/integrations/${one._id}`)
  }
  const failed = await scene.run(await scene.workflow([inApp('One'), email('Two'), inApp('Three')]), somebody())
  assert.deepEqual(statuses(failed), ['completed', 'failed', 'completed'])
  const stopping = { shouldStopOnFail: true }
  const name = await scene.workflow([inApp('One'), email('Two', stopping), inApp('Three'), inApp('Four')])
  assert.deepEqual(statuses(await scene.run(name, somebody())), ['completed', 'failed', 'canceled', 'canceled'])
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
    for (let looks = 0; looks < 10_000 && (await tx.rows(isClaimed)).length === 0; looks += 1);
    await change(tx, job)
  })
  await working
}

test('where the lease of the first was lost, nothing of the second is written and nobody is asked', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two')])
  const transactionId = await scene.trigger(name, somebody())
  const theirs = '00000000-0000-4000-8000-000000000001'
  await meanwhile(transactionId, (tx, { id }) => tx.run(sql`update jobs set lease = ${theirs} where id = ${id}`))
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['queued', 'pending'])
  assert.deepEqual(await scene.messages(transactionId), [])
  assert.equal(mail.asked.length, 0)
  app.world.advance(leaseMs)
  await other.pipeline.work()
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
  assert.equal(mail.asked.length, 1)
})

test('where the second was called off meanwhile, it stays so and nobody is asked', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two')])
  const transactionId = await scene.trigger(name, somebody())
  await meanwhile(transactionId, (tx, { id, event_id, notification_id }) =>
    tx.run(sql`
      insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, details,
        claims, created_at, updated_at)
      select environment_id, ${jobIdOf(event_id ?? '', notification_id ?? '', 1)}, notification_id, event_id, subscriber_id,
        version_id, 1, 'canceled', lane, '[]', 0, created_at, updated_at
      from jobs where id = ${id}`),
  )
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'canceled'])
  assert.equal((await scene.messages(transactionId)).length, 1)
  assert.equal(mail.asked.length, 0)
})

test('who follows and finds no slot waits for one, while all the first steps are done', async () => {
  await mail.account('provider')
  const name = await scene.workflow([inApp('One'), email('Two')])
  const people = Array.from({ length: 55 }, somebody)
  let letGo: () => void = () => {}
  let allAsked: () => void = () => {}
  const gate = new Promise<void>((resolve) => (letGo = resolve))
  const asked = new Promise<void>((resolve) => (allAsked = resolve))
  mail.meanwhile = () => {
    if (mail.asked.length === 50) allAsked()
    return gate
  }
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
  mail.meanwhile = undefined
  letGo()
  await working
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 55)
  assert.equal(mail.asked.length, 55)
  assert.equal(new Set(mail.asked.flatMap((one) => one.to)).size, 55)
})

test('a fault in what follows costs only that: when it is decided', async () => {
  const { _id, triggers } = await scene.created([inApp('One'), email('Two')])
  await scene.rows(sql`
    update workflow_versions set definition = jsonb_set(definition, '{steps,1,template,content}', '{"broken": true}')
    where workflow_id = ${_id}`)
  const { transactionId } = await scene.run(triggers[0].identifier, somebody())
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'queued'])
  await scene.advance(400_000, 1_000)
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
    const { transactionId } = await scene.run(name, somebody())
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['queued', 'pending'])
    await scene.advance(1_000)
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'queued'])
    await scene.advance(400_000, 1_000)
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'failed'])
    assert.equal(mail.asked.length, 0)
  } finally {
    await scene.rows(sql`drop function refuse() cascade`)
  }
})
