// kill -9 in the middle of accept: a call is there wholly or not at all, and its repeat runs once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { FaultNode } from '../support/fault-scene.ts'
import { completed, FaultScene, makeWorkflow, progress, trigger } from '../support/fault-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let scene: FaultScene
let node: FaultNode
before(async () => {
  scene = await FaultScene.create()
  node = await scene.start('first')
  await makeWorkflow(node, 'hello', [inApp('Hello {{ payload.text }}')])
  assert.equal((await node.ask('POST', '/v1/tenants', { identifier: 'north' })).status, 201)
})
after(() => scene.close())

const eventsOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: 'hello',
    to: [`${name}-${index}-a`, `${name}-${index}-b`],
    payload: { text: `${name}-${index}` },
    transactionId: `${name}-${index}`,
  }))
const idsOf = (events: readonly { transactionId: string }[]) => events.map((event) => event.transactionId)

/** How many messages say each text that begins with the name. */
async function said(name: string): Promise<Record<string, number>> {
  const rows = await scene.rows(sql`
    select content #>> '{}' as text, count(*) as count from messages
    where content #>> '{}' like ${`Hello ${name}%`} group by 1 order by 1`)
  return Object.fromEntries(rows.map((row) => [row.text, row.count]))
}

const twiceEach = (name: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`Hello ${name}-${index}`, 2]))

async function everythingOf(name: string): Promise<number> {
  return scene.count(sql`
    select (select count(*) from transactions where transaction_id like ${`${name}-%`})
         + (select count(*) from events where transaction_id like ${`${name}-%`})
         + (select count(*) from subscribers where subscriber_id like ${`${name}-%`}) as count`)
}

/** A bulk call whose node is killed where it stalls; the database goes on. */
async function killedAt(
  place: Parameters<FaultScene['stall']>[0],
  events: readonly object[],
  headers: Record<string, string>,
): Promise<void> {
  const stall = await scene.stall(place)
  const call = node.ask('POST', '/v1/events/trigger/bulk', { events }, headers).catch((error: Error) => error)
  await stall.reached()
  await node.kill()
  assert.ok((await call) instanceof Error, 'no one was answered that it was accepted')
  await stall.release()
  await scene.gone(node)
}

/** Those that take the longer way, a transaction of several statements. */
const changingTenant = <Event extends object>(events: readonly Event[]) =>
  events.map((event) => ({ ...event, tenant: { identifier: 'north', name: 'North' } }))

test('a bulk call that was killed before its commit left nothing; repeated with its key it runs once, and a repeat of that not at all', async () => {
  const before = eventsOf('before', 3)
  await trigger(node, before)
  const events = changingTenant(eventsOf('torn', 5))
  const headers = { 'idempotency-key': 'bulk-of-torn' }
  await killedAt({ on: 'jobs', event: 'insert' }, events, headers)
  assert.equal(await everythingOf('torn'), 0)
  node = await scene.start('second')
  await completed(node, idsOf(before))
  assert.deepEqual(await said('before'), twiceEach('before', 3))
  const repeated = await node.ask('POST', '/v1/events/trigger/bulk', { events }, headers)
  assert.deepEqual([repeated.status, repeated.headers.get('idempotency-replay')], [201, null])
  const again = await node.ask('POST', '/v1/events/trigger/bulk', { events }, headers)
  assert.deepEqual([again.status, again.headers.get('idempotency-replay')], [201, 'true'])
  assert.deepEqual(again.body, repeated.body)
  await trigger(node, events)
  await completed(node, idsOf(events))
  assert.deepEqual(await said('torn'), twiceEach('torn', 5))
})

test('a call that was killed within its only statement is there wholly or not at all, and repeated with its key it runs once', async () => {
  const events = eventsOf('only', 5)
  const headers = { 'idempotency-key': 'bulk-of-only' }
  await killedAt({ on: 'jobs', event: 'insert' }, events, headers)
  const written = await everythingOf('only')
  assert.ok(written === 0 || written === 20, `${written} rows`)
  node = await scene.start('after only')
  const repeated = await node.ask('POST', '/v1/events/trigger/bulk', { events }, headers)
  assert.deepEqual([repeated.status, repeated.headers.get('idempotency-replay')], [201, written === 0 ? null : 'true'])
  await completed(node, idsOf(events))
  assert.deepEqual(await said('only'), twiceEach('only', 5))
})

test('a call that was killed within its commit is there wholly; its repeat is answered as the first would have been', async () => {
  const events = eventsOf('kept', 5)
  const headers = { 'idempotency-key': 'bulk-of-kept' }
  await killedAt({ on: 'transactions', event: 'insert', inCommit: true }, events, headers)
  node = await scene.start('third')
  await completed(node, idsOf(events))
  const repeated = await node.ask('POST', '/v1/events/trigger/bulk', { events }, headers)
  assert.deepEqual([repeated.status, repeated.headers.get('idempotency-replay')], [201, 'true'])
  await trigger(node, events)
  assert.deepEqual(await said('kept'), twiceEach('kept', 5))
})

test('single calls that shared a commit are each there or not, and their repeats run once, while the torn transaction still hangs', async () => {
  const events = eventsOf('single', 12)
  const stall = await scene.stall({ on: 'notifications', event: 'insert', at: 2 })
  const send = (event: object) => node.ask('POST', '/v1/events/trigger', event).catch((error: Error) => error)
  const [first, ...rest] = events
  assert.ok(first)
  const acknowledged = await send(first)
  assert.ok(!(acknowledged instanceof Error) && acknowledged.status === 201)
  const calls = rest.map(send)
  await stall.reached()
  await node.kill()
  for (const answer of await Promise.all(calls)) assert.ok(answer instanceof Error)
  node = await scene.start('fourth')
  // A repeat of what still hangs waits for it to end.
  const repeats = events.map(send)
  await stall.release()
  for (const answer of await Promise.all(repeats)) assert.ok(!(answer instanceof Error) && answer.status === 201)
  await completed(node, idsOf(events))
  assert.deepEqual(await said('single'), twiceEach('single', 12))
  assert.equal((await progress(node, 'single-0'))?.counts.recipients, 2)
})
