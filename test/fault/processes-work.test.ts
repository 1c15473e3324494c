// Two processes on a database server: what a killed one was sending is taken over at once, and nothing is lost.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../src/db/sql.ts'
import type { FaultNode, Sink } from '../support/fault-scene.ts'
import { completed, FaultScene, makeIntegration, makeWorkflow, startSink } from '../support/fault-scene.ts'
import { eventually } from '../support/service.ts'
import { polite, startScript } from '../support/smtp-script.ts'
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
async function mails(count: number, more: object = {}): Promise<string[]> {
  const events = Array.from({ length: count }, () => {
    calls += 1
    const id = `mail-${calls}`
    return {
      name: 'mail',
      to: { subscriberId: id, email: `${id}@example.org` },
      payload: {},
      transactionId: id,
      ...more,
    }
  })
  // A connection of its own: connections are handed out in turn.
  const { status } = await service.ask('POST', '/v1/events/trigger/bulk', { events }, { connection: 'close' })
  assert.equal(status, 201)
  return events.map(({ transactionId }) => transactionId)
}

/** Takes a while over each message. */
async function startSlowMailServer(t: TestContext) {
  const reading = new Set<Socket>()
  let [taken, mostAtOnce] = [0, 0]
  const port = await startScript(t, async (line, socket) => {
    if (!reading.has(socket)) {
      polite(line, socket)
      if (line === 'DATA') reading.add(socket)
      mostAtOnce = Math.max(mostAtOnce, reading.size)
      return
    }
    if (line !== '.') return
    await sleep(50)
    taken += 1
    reading.delete(socket)
    polite(line, socket)
  })
  return { port, taken: () => taken, mostAtOnce: () => mostAtOnce }
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

test('a mail server that takes five messages at once is given no more by both processes together', async (t) => {
  const server = await startSlowMailServer(t)
  const credentials = { host: '127.0.0.1', port: server.port, from: 'us@example.org', ignoreTls: true }
  await makeIntegration(service, 'smtp', 'nodemailer', credentials)
  const overrides = { email: { integrationIdentifier: 'smtp' } }
  const all: string[] = []
  for (let call = 0; call < 10; call += 1) all.push(...(await mails(12, { overrides })))
  let sharing = 0
  await eventually(async () => {
    const [row] = await scene.rows(sql`select jsonb_array_length(holders) as nodes from call_shares`)
    sharing = Math.max(sharing, row?.nodes ?? 0)
    return server.taken() >= all.length
  })
  await completed(service, all)
  assert.equal(server.taken(), all.length)
  assert.ok(server.mostAtOnce() <= 5, `${server.mostAtOnce()} at once`)
  assert.equal(sharing, 2, 'both processes had mail to send')
  await eventually(async () => (await scene.count(sql`select count(*) as count from call_shares`)) === 0)
})

test('a child that is asked to stop by itself drains and is started again; the service continues', async () => {
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
