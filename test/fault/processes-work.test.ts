// Two processes on a database server: what a killed one was sending is taken over at once, and nothing is lost.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { FaultNode, Sink } from '../support/fault-scene.ts'
import { completed, FaultScene, makeIntegration, makeWorkflow, startSink } from '../support/fault-scene.ts'
import { eventually } from '../support/service.ts'
import { email } from '../support/workflow-scene.ts'

/** A lease lasts a minute: whoever is quicker has not waited for its end. */
const leaseMs = 60_000

let scene: FaultScene
let service: FaultNode
let sink: Sink
before(async () => {
  scene = await FaultScene.create()
  sink = await startSink(scene)
  service = await scene.start('pair', { POSTHORN_PROCESSES: '2' })
  await makeIntegration(service, 'webhook', 'email-webhook', { webhookUrl: sink.url, secretKey: 'secret' })
  await makeWorkflow(service, 'mail', [email('Hello')])
})
after(() => scene.close())

const nodes = () => scene.rows(sql`select pid, lease_key::text as key from node_heartbeats where ended_at is null`)

/** How many jobs each process holds, by its pid: a lease begins with its node's key. */
async function heldBy(pid: number): Promise<number> {
  return scene.count(sql`
    select count(*) as count from jobs j join node_heartbeats h on h.pid = ${pid} and h.ended_at is null
    where j.lease is not null and ('x' || left(replace(j.lease::text, '-', ''), 16))::bit(64)::bigint = h.lease_key`)
}

let calls = 0
async function mails(count: number): Promise<string[]> {
  const events = Array.from({ length: count }, () => {
    calls += 1
    const id = `mail-${calls}`
    return { name: 'mail', to: { subscriberId: id, email: `${id}@example.org` }, payload: {}, transactionId: id }
  })
  // A connection of its own: connections are handed out in turn.
  const { status } = await service.ask('POST', '/v1/events/trigger/bulk', { events }, { connection: 'close' })
  assert.equal(status, 201)
  return events.map(({ transactionId }) => transactionId)
}

test('what a killed process was sending is sent by the others within seconds, and it is started again', async () => {
  const pids = (await nodes()).map((row) => row.pid as number)
  assert.equal(pids.length, 2)
  const [victim = 0] = pids
  sink.hold()
  const all: string[] = []
  await eventually(async () => {
    all.push(...(await mails(5)))
    return (await heldBy(victim)) > 0
  })
  await eventually(async () => sink.keys.length === all.length)
  const held = await heldBy(victim)
  const killedAt = performance.now()
  process.kill(victim, 'SIGKILL')
  // Those of the dead process are called again while the others are still under way.
  await eventually(async () => sink.keys.length >= all.length + held)
  assert.ok(performance.now() - killedAt < leaseMs / 2, 'no lease was waited for')
  sink.release()
  await completed(service, all)
  assert.equal(new Set(sink.keys).size, all.length, 'each message has one key, however often it was called')
  await eventually(async () => {
    const now = (await nodes()).map((row) => row.pid as number)
    return now.length === 2 && !now.includes(victim)
  })
})

test('the connections of both processes together are no more than the service may hold, and those that listen', async () => {
  const [row] = await scene.rows(sql`show max_connections`)
  assert.ok(Number(row.max_connections) > 20)
  await Promise.all(Array.from({ length: 60 }, () => service.ask('GET', '/v1/subscribers?limit=1')))
  assert.ok((await scene.connections('pair')) <= 12 + 2)
})

test('a child that is asked to stop by itself drains and is started again; the service goes on', async () => {
  const [one] = (await nodes()).map((row) => row.pid as number)
  process.kill(one ?? 0, 'SIGTERM')
  await eventually(async () => {
    const now = (await nodes()).map((row) => row.pid as number)
    return now.length === 2 && !now.includes(one ?? 0)
  })
  await completed(service, await mails(5))
  const ended = await service.stop()
  assert.equal(ended.code, 0, ended.stderr)
  assert.equal(await scene.count(sql`select count(*) as count from jobs where lease is not null`), 0)
})
