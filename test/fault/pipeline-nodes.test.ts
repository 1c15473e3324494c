// Several nodes on one database: they share the work, take over from one that dies, and hand over when asked to stop.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { FaultNode, Sink } from '../support/fault-scene.ts'
import {
  completed,
  detailsOf,
  FaultScene,
  makeIntegration,
  makeWorkflow,
  startSink,
  trigger,
} from '../support/fault-scene.ts'
import { eventually } from '../support/service.ts'
import { email, inApp } from '../support/workflow-scene.ts'

/** A lease lasts a minute: whoever is quicker has not waited for its end. */
const leaseMs = 60_000
const slots = 50

let scene: FaultScene
let api: FaultNode
let one: FaultNode
let two: FaultNode
let sink: Sink
before(async () => {
  scene = await FaultScene.create()
  sink = await startSink(scene)
  // The first start is alone: what the others find is made.
  api = await scene.start('api', { POSTHORN_ROLE: 'api' })
  // A node that waits long for a lock would not be seen to trip over one.
  const variables = { POSTHORN_ROLE: 'worker', POSTHORN_DATABASE_LOCK_TIMEOUT_MS: '2000' }
  ;[one, two] = await Promise.all([scene.start('one', variables), scene.start('two', variables)])
  await makeIntegration(api, 'webhook', 'email-webhook', { webhookUrl: sink.url, secretKey: 'secret' })
  await makeWorkflow(api, 'feed', [inApp('{{ payload.text }}'), inApp('Then {{ payload.text }}')])
  await makeWorkflow(api, 'mail', [email('{{ payload.text }}')])
  // Who wrote which message, as the database saw it.
  await scene.run('create table written (message_id uuid, step smallint, state text, node text)')
  await scene.run(`create function note_writer() returns trigger language plpgsql as $$ begin
    insert into written values (new.id, new.step, new.state, current_setting('application_name')); return null; end $$`)
  await scene.run('create trigger note_writer after insert on messages for each row execute function note_writer()')
})
after(() => scene.close())

let calls = 0
const eventsOf = (workflow: string, count: number, text = 'Hello') =>
  Array.from({ length: count }, () => {
    calls += 1
    const id = `${workflow}-${calls}`
    return {
      name: workflow,
      to: { subscriberId: id, email: `${id}@example.org` },
      payload: { text },
      transactionId: id,
    }
  })
const idsOf = (events: readonly { transactionId: string }[]) => events.map((event) => event.transactionId)

async function writersOf(transactionIds: readonly string[]): Promise<string[]> {
  const rows = await scene.rows(sql`
    select distinct w.node from written w join messages m on m.id = w.message_id join events e on e.id = m.event_id
    where e.transaction_id = any(${transactionIds}::text[]) order by 1`)
  return rows.map((row) => row.node)
}

const countOf = (transactionIds: readonly string[]) =>
  scene.count(sql`
    select count(*) as count from messages m join events e on e.id = m.event_id
    where e.transaction_id = any(${transactionIds}::text[])`)

const beganBy = (name: string) =>
  scene.count(sql`
    select count(*) as count from written w join messages m on m.id = w.message_id
    where w.node = ${name} and m.state = 'calling'`)

/** Locks one job whose message the node has begun to send, until asked. */
async function lockJobBegunBy(name: string): Promise<{ id: string; unlock: () => Promise<void> }> {
  const [row] = await scene.rows(sql`
    select m.job_id as id from written w join messages m on m.id = w.message_id
    where w.node = ${name} and m.state = 'calling' order by m.id limit 1`)
  let unlock = (): void => {}
  const unlocked = new Promise<void>((resolve) => {
    unlock = resolve
  })
  let locked = (): void => {}
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve
  })
  const holding = scene.database.another({ poolSize: 1, statementTimeoutMs: leaseMs }).transaction(async (tx) => {
    await tx.run(sql`select 1 from jobs where id = ${row.id} for update`)
    locked()
    await unlocked
  })
  await Promise.race([isLocked, holding])
  return {
    id: row.id,
    unlock: async () => {
      unlock()
      await holding
    },
  }
}

test('an API node accepts and two workers share the work; each step is done once', async () => {
  const all: string[] = []
  await eventually(async () => {
    const events = eventsOf('feed', 100)
    all.push(...idsOf(events))
    await trigger(api, events)
    return (await writersOf(all)).length === 2
  })
  assert.deepEqual(await writersOf(all), ['one', 'two'])
  await scene.settled()
  const [reported] = await scene.rows(sql`
    select count(*) as messages, count(distinct (notification_id, step)) as steps from messages`)
  assert.deepEqual(reported, { messages: all.length * 2, steps: all.length * 2 })
  assert.equal(
    await scene.count(sql`select count(*) as count from jobs where status <> 'completed' or due_at is not null`),
    0,
  )
  const { status } = await one.ask('POST', '/v1/events/trigger', {})
  assert.equal(status, 404, 'a worker accepts nothing')
})

test('what a killed worker held is taken over by the other within seconds, long before the leases end', async (t) => {
  sink.hold()
  const all: string[] = []
  await eventually(async () => {
    const events = eventsOf('mail', 10)
    all.push(...idsOf(events))
    await trigger(api, events)
    return (await beganBy('one')) > 0 && (await beganBy('two')) > 0
  })
  // What a worker begins after it was counted would count as another's.
  await eventually(async () => (await beganBy('one')) + (await beganBy('two')) === all.length)
  await eventually(async () => sink.keys.length === all.length)
  const held = await beganBy('one')
  // A transaction of the dying node may outlive it for a while, and keep a row that it held.
  const { id, unlock } = await lockJobBegunBy('one')
  t.after(unlock)
  await one.kill()
  const killedAt = performance.now()
  sink.release()
  const others = sql`
    select count(*) as count from messages where channel = 'email' and status is distinct from 'sent' and job_id <> ${id}`
  await eventually(async () => (await scene.count(others)) === 0, leaseMs / 2)
  const tookMs = performance.now() - killedAt
  assert.ok(tookMs < leaseMs / 2, `${tookMs} ms`)
  assert.equal((await two.ask('GET', '/ready')).status, 200)
  await unlock()
  await completed(api, all)
  const times = [...sink.timesSeen().values()]
  assert.deepEqual([times.length, times.filter((count) => count === 2).length], [all.length, held])
  assert.equal(await scene.count(sql`select count(*) as count from messages where status <> 'sent'`), 0)
  // The dead one is forgotten.
  await eventually(async () => (await scene.count(sql`select count(*) as count from node_heartbeats`)) === 1)
})

test('a node asked to stop releases at once what it has not started, finishes the rest, and ends with 0', async () => {
  const send = async (node: FaultNode, events: ReturnType<typeof eventsOf>) => {
    await trigger(node, events)
    return idsOf(events)
  }
  const leaving = await scene.start('leaving')
  await eventually(async () => (await leaving.ask('GET', '/ready')).body.worker === 'up')
  const before = sink.keys.length
  sink.hold()
  // Created already leased on the node that accepted them: as many as it may send at once are begun, the others wait in
  // line.
  const mails = await send(leaving, eventsOf('mail', slots + 10))
  await eventually(async () => sink.keys.length === before + slots)
  assert.deepEqual(await writersOf(mails), ['leaving'])
  const inLine = sql`select count(*) as count from jobs where status = 'queued' and lease is not null`
  assert.equal(await scene.count(inLine), 10)
  // Three batches are being written and hang; the fourth waits for one of them to end.
  const stall = await scene.stall({ on: 'messages', event: 'insert', node: 'leaving' })
  const writing: string[] = []
  for (const batch of [1, 2, 3]) {
    writing.push(...(await send(leaving, eventsOf('feed', 100))))
    await stall.reached(batch)
  }
  const waiting = await send(leaving, eventsOf('feed', 100))
  leaving.signal('SIGTERM')
  const reportedAt = performance.now()
  await eventually(async () => (await countOf(waiting)) === waiting.length * 2)
  assert.deepEqual(await writersOf(waiting), ['two'])
  await eventually(async () => sink.keys.length === before + slots + 10, leaseMs / 2)
  assert.ok(performance.now() - reportedAt < leaseMs / 2)
  await stall.release()
  sink.release()
  const ended = await leaving.ended
  assert.deepEqual([ended.code, ended.stderr], [0, ''])
  await scene.settled()
  assert.ok((await writersOf(writing)).includes('leaving'), 'what was being written was finished')
  assert.equal(new Set(sink.keys.slice(before)).size, slots + 10)
  assert.equal(sink.keys.length, before + slots + 10, 'nothing was sent twice')
  for (const transactionId of [mails[0], mails.at(-1)]) {
    const [details = []] = await detailsOf(api, transactionId ?? '')
    assert.deepEqual([details.at(-1)?.detail, details.at(-1)?.isRetry], ['Message sent', false])
  }
})

test('two nodes that do everything share it too, and a hint wakes the other', async () => {
  await two.stop()
  const [left, right] = await Promise.all([scene.start('left'), scene.start('right')])
  const all: string[] = []
  await eventually(async () => {
    for (const node of [left, right]) {
      const events = eventsOf('feed', 50)
      all.push(...idsOf(events))
      await trigger(node, events)
    }
    return (await writersOf(all)).length === 2
  })
  await scene.settled()
  const doubled = sql`
    select count(*) as count from (select 1 from messages group by notification_id, step having count(*) > 1) as twice`
  assert.equal(await scene.count(doubled), 0)
  const ended = await Promise.all([left.stop(), right.stop()])
  assert.deepEqual(
    ended.map(({ code }) => code),
    [0, 0],
  )
  assert.equal(await scene.count(sql`select count(*) as count from node_heartbeats where ended_at is null`), 0)
})
