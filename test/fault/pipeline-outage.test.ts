// A database that goes away under a working node: it stops sending, says so, and continues where it was.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { FaultNode, Sink } from '../support/fault-scene.ts'
import {
  completed,
  FaultScene,
  makeIntegration,
  makeWorkflow,
  nodeOf,
  startSink,
  trigger,
  variablesOf,
} from '../support/fault-scene.ts'
import { eventually, postgresPid, ServiceScene } from '../support/service.ts'
import { email, inApp } from '../support/workflow-scene.ts'

const slots = 50

let scene: FaultScene
let node: FaultNode
let sink: Sink
before(async () => {
  scene = await FaultScene.create()
  sink = await startSink(scene)
  node = await scene.start('node')
  await makeIntegration(node, 'webhook', 'email-webhook', { webhookUrl: sink.url, secretKey: 'secret' })
  await makeWorkflow(node, 'mail', [email('{{ payload.text }}')])
  await makeWorkflow(node, 'feed', [inApp('{{ payload.text }}')])
  await isReady(node)
})
after(() => scene.close())

const eventsOf = (workflow: string, name: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: workflow,
    to: { subscriberId: `${name}-${index}`, email: `${name}-${index}@example.org` },
    payload: { text: name },
    transactionId: `${name}-${index}`,
  }))
const idsOf = (events: readonly { transactionId: string }[]) => events.map((event) => event.transactionId)

async function isReady(of: FaultNode): Promise<void> {
  await eventually(async () => {
    const { status, body } = await of.ask('GET', '/ready')
    return status === 200 && body.worker === 'up'
  })
}

test('without its database a node begins no call, says that it is not ready, and afterwards loses nothing', async () => {
  sink.hold()
  const events = eventsOf('mail', 'away', slots + 10)
  await trigger(node, events)
  await eventually(async () => sink.keys.length === slots)
  assert.ok((await scene.connections('node')) > 1)
  await scene.allowConnections(false)
  await scene.rows(sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'node'`)
  await eventually(async () => (await node.ask('GET', '/ready')).status === 503)
  assert.deepEqual((await node.ask('GET', '/ready')).body, { status: 'not ready', database: 'down' })
  // Calls come to their end, and slots come free: no one may use them.
  sink.release()
  const refused = await node.ask('POST', '/v1/events/trigger', eventsOf('feed', 'refused', 1)[0])
  assert.equal(refused.status, 503)
  assert.equal(sink.keys.length, slots)
  await scene.allowConnections(true)
  await isReady(node)
  await completed(node, idsOf(events))
  const mails = await scene.rows(sql`
    select m.id, m.status, jsonb_path_exists(j.details, '$[*] ? (@.isRetry == true)') as repeated
    from messages m join jobs j on j.environment_id = m.environment_id and j.id = m.job_id where m.channel = 'email'`)
  const times = sink.timesSeen()
  assert.deepEqual([mails.length, times.size], [slots + 10, slots + 10])
  for (const { id, status, repeated } of mails) {
    assert.deepEqual([status, repeated], ['sent', times.get(id) !== 1], 'what went out twice is reported as a repeat')
  }
  // The answers came while nothing could be written, and the node still knew them when it could.
  assert.equal(sink.keys.length, slots + 10, 'what is known to be sent is not sent again')
})

/** Keeps every heartbeat waiting, and nothing else, until asked. */
async function holdHeartbeats(): Promise<() => Promise<void>> {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let held = (): void => {}
  const isHeld = new Promise<void>((resolve) => {
    held = resolve
  })
  const holding = scene.database.another({ poolSize: 1, statementTimeoutMs: 60_000 }).transaction(async (tx) => {
    await tx.run(sql`select 1 from node_heartbeats for update`)
    held()
    await released
  })
  await Promise.race([isHeld, holding])
  return async () => {
    release()
    await holding
  }
}

test('a node that cannot show that it lives says so, works on nothing, and takes up what was accepted meanwhile', async (t) => {
  const identity = sql`select node_id, epoch from node_heartbeats`
  const before = await scene.rows(identity)
  const release = await holdHeartbeats()
  t.after(release)
  const down = { status: 'not ready', database: 'up', worker: 'down' }
  await eventually(async () => JSON.stringify((await node.ask('GET', '/ready')).body) === JSON.stringify(down))
  const events = eventsOf('feed', 'meanwhile', 3)
  await trigger(node, events)
  const open = sql`select count(*) as count from jobs where status = 'queued' and due_at is not null and lease is null`
  assert.equal(await scene.count(open), 3, 'accepted, and left alone')
  await release()
  await isReady(node)
  assert.deepEqual(await scene.rows(identity), before, 'it is the node that it was')
  await completed(node, idsOf(events))
  const reported = sql`select count(*) as count from messages where content #>> '{}' = 'meanwhile'`
  assert.equal(await scene.count(reported), 3)
})

test('when the embedded PostgreSQL is killed it is started again, and the node continues with what it had accepted', async () => {
  const services = new ServiceScene()
  scene.onClose(() => services.close())
  const directory = await services.directory()
  const alone = nodeOf(await services.start(variablesOf(directory)), 'alone')
  await makeWorkflow(alone, 'feed', [inApp('{{ payload.text }}')])
  await isReady(alone)
  const events = eventsOf('feed', 'embedded', 100)
  await trigger(alone, events)
  const pid = (await postgresPid(directory)) ?? assert.fail('PostgreSQL does not run')
  process.kill(pid, 'SIGQUIT')
  await eventually(async () => (await postgresPid(directory)) !== pid)
  await isReady(alone)
  await completed(alone, idsOf(events))
  const { body } = await alone.ask('GET', '/v1/messages?limit=1000')
  assert.equal(body.totalCount, 100)
  assert.equal((await alone.stop()).code, 0)
})
