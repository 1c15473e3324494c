// Two nodes, one an hour ahead and one an hour behind: what one writes is read by the other as it is meant.
// Runs in a process of its own: its statements go by the database's clock, under names that others use for the tests' clock.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { databaseClock } from '../../src/db/clock.ts'
import { sql } from '../../src/db/sql.ts'
import { eraseEnvironments } from '../../src/manage/operate/erase-environments.ts'
import { sweep } from '../../src/manage/operate/housekeeping.ts'
import { sendAudit } from '../../src/manage/operate/send-audit.ts'
import { sweepBackoffs } from '../../src/store/events/digests.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, rawOf, statuses } from '../support/flow-scene.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { digest, email, inApp } from '../support/workflow-scene.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** What a loaded machine may take between a write and the look at it. */
const slackMs = minuteMs

const apps: TestApp[] = []
after(async () => {
  for (const app of apps.reverse()) await app.close()
})

async function opened(options: { skewMs: number; nodeOf?: TestApp }): Promise<FlowScene> {
  const app = await createTestApp(options)
  apps.push(app)
  return new FlowScene(app)
}

type Nodes = readonly [first: FlowScene, second: FlowScene]

/** The first node is the one that acts first. */
const onTwoNodes = (title: string, work: (nodes: Nodes) => Promise<void>): void => {
  for (const [words, ...skews] of [
    ['an hour behind and an hour ahead', -hourMs, hourMs],
    ['an hour ahead and an hour behind', hourMs, -hourMs],
  ] as const) {
    test(`${title}: by nodes that are ${words}`, async () => {
      const first = await opened({ skewMs: skews[0] })
      await work([first, await opened({ skewMs: skews[1], nodeOf: first.app })])
    })
  }
}

/** Triggers and runs it on this node alone; the statuses of its steps. */
async function ran(scene: FlowScene, workflow: string, to: unknown, payload: object = {}): Promise<Json> {
  const transactionId = await scene.trigger(workflow, to, { payload })
  await scene.work()
  return scene.notification(transactionId)
}

const throttle = (metadata: object = {}): Json => ({
  template: { type: 'throttle' },
  metadata: { type: 'fixed', amount: 30, unit: 'minutes', ...metadata },
})

async function leftMs(scene: FlowScene): Promise<number> {
  const [row] = await scene.rows(sql`select extract(epoch from until_at - now()) * 1000 as left from throttle_windows`)
  return Number(row.left)
}

function assertAbout(ms: number, expectedMs: number): void {
  assert.ok(ms <= expectedMs + 1_000 && ms >= expectedMs - slackMs, `${ms} ms, not ${expectedMs}`)
}

const passes = (scene: FlowScene, minutes: number): Promise<Json[]> =>
  scene.rows(sql`update throttle_windows set until_at = until_at - ${minutes * minuteMs} * interval '1 millisecond'`)

onTwoNodes('a throttle of half an hour holds for both, and is over for both', async ([first, second]) => {
  const workflow = await first.workflow([throttle(), inApp('Hi')])
  const person = fresh('person')
  const one = await ran(first, workflow, person)
  assert.deepEqual(statuses(one), ['completed', 'completed'])
  assertAbout(await leftMs(first), 30 * minuteMs)
  await passes(first, 20)
  for (const scene of [second, first]) assert.equal(statuses(await ran(scene, workflow, person))[0], 'skipped')
  await passes(first, 10)
  assert.equal(statuses(await ran(second, workflow, person))[0], 'completed')
  assertAbout(await leftMs(first), 30 * minuteMs)
  assert.equal(statuses(await ran(first, workflow, person))[0], 'skipped')
})

onTwoNodes('a throttle ends at the timestamp that the payload gives', async ([first, second]) => {
  const workflow = await first.workflow([throttle({ type: 'dynamic', dynamicKey: 'payload.until' }), inApp('Hi')])
  const person = fresh('person')
  const payload = { until: new Date(Date.now() + 3 * hourMs).toISOString() }
  const one = await ran(first, workflow, person, payload)
  assert.equal(rawOf(one.jobs[0], 'Throttle let the step through').throttledUntil, payload.until)
  await passes(first, 170)
  assert.equal(statuses(await ran(second, workflow, person, payload))[0], 'skipped')
})

onTwoNodes('no node sweeps the window of a throttle that is open', async (nodes) => {
  const [first] = nodes
  await ran(first, await first.workflow([throttle(), inApp('Hi')]), fresh('person'))
  for (const { app } of nodes) await sweep(app.database.db, app.world)
  assert.equal((await first.rows(sql`select 1 from throttle_windows`)).length, 1)
})

const lookingBack = digest({ metadata: { type: 'backoff', amount: 30, unit: 'minutes' } })

onTwoNodes('a digest that looks back sees what the other node heard of', async ([first, second]) => {
  const workflow = await first.workflow([lookingBack, inApp('Hi')])
  const person = fresh('person')
  assert.deepEqual(statuses(await ran(first, workflow, person)), ['skipped', 'completed'])
  assert.equal(statuses(await ran(second, workflow, person))[0], 'delayed')
  // Nothing for half an hour: the next goes on at once, on either node.
  const silence = sql`update digest_backoffs set last_at = last_at - interval '31 minutes'`
  await first.rows(silence)
  assert.deepEqual(statuses(await ran(second, workflow, person)), ['skipped', 'completed'])
  await first.rows(silence)
  assert.deepEqual(statuses(await ran(first, workflow, person)), ['skipped', 'completed'])
})

onTwoNodes('no node forgets when a digest last heard of something', async (nodes) => {
  const [first] = nodes
  await ran(first, await first.workflow([lookingBack, inApp('Hi')]), fresh('person'))
  for (const { app } of nodes) {
    const environment = await environmentOf(app)
    const bounds = { now: app.world.now(), silentMs: 30 * minuteMs, limit: 10 }
    assert.equal(await app.database.db.transaction((tx) => sweepBackoffs(tx, environment, bounds)), 0)
  }
})

onTwoNodes('a simulation sees the windows as they are', async ([first, second]) => {
  const workflow = await first.workflow([throttle(), lookingBack, inApp('Hi')])
  const person = fresh('person')
  const outcomes = async (scene: FlowScene): Promise<string[]> => {
    const { recipients } = await scene.expect(200, 'POST', '/v1/events/simulate', { name: workflow, to: person })
    return recipients[0].steps.map((step: Json) => step.outcome)
  }
  const before = await outcomes(second)
  await ran(first, workflow, person)
  const throttled = await outcomes(second)
  assert.notDeepEqual(throttled, before)
  await passes(first, 30)
  const digested = await outcomes(second)
  assert.notDeepEqual(digested, throttled)
  assert.notDeepEqual(digested, before)
  await first.rows(sql`update digest_backoffs set last_at = last_at - interval '31 minutes'`)
  assert.deepEqual(await outcomes(second), before)
})

onTwoNodes('a message that a busy provider has put off is not given up by the other node', async ([first, second]) => {
  const mail = new MailScript(first)
  await mail.account('busy')
  mail.answers('busy', 429, 429, 202)
  second.app.world.onFetch = first.app.world.onFetch
  const workflow = await first.workflow([email('Hello')])
  const transactionId = await first.trigger(workflow, { subscriberId: fresh('person'), email: 'ada@example.org' })
  for (const scene of [first, second, first]) {
    await scene.work()
    await first.rows(sql`update jobs set due_at = now() where due_at is not null`)
  }
  assert.deepEqual(statuses(await first.notification(transactionId)), ['completed'])
  assert.equal(mail.asked.length, 3)
})

onTwoNodes('entries of the audit log are sent by one node at a time, and again after their wait', async (nodes) => {
  const [first, second] = nodes
  const url = 'https://audit.example.com/entries'
  await first.expect(201, 'POST', '/v1/audit/streams', { url, from: 'now' })
  await first.workflow([inApp('One')])
  const send = ({ app }: FlowScene): Promise<number> => sendAudit(app.database.db, app.world, databaseClock)
  let calls = 0
  const answers = (status: number, meanwhile = async (): Promise<void> => {}): void => {
    for (const { app } of nodes)
      app.world.onFetch = async () => {
        calls += 1
        await meanwhile()
        return { status, headers: new Headers(), body: '' }
      }
  }
  answers(500, async () => assert.equal(await send(second), 0, 'its turn is that of the first'))
  assert.equal(await send(first), 0)
  assert.deepEqual([await send(second), calls], [0, 1])
  const [{ wait }] = (await first.rows(
    sql`select extract(epoch from next_try_at - now()) * 1000 as wait from audit_streams`,
  )) as [Json]
  assert.ok(wait > -slackMs && wait <= 5_000, `waits ${wait} ms`)
  await first.rows(sql`update audit_streams set next_try_at = next_try_at - interval '5 seconds'`)
  answers(200)
  assert.ok((await send(second)) > 0)
})

onTwoNodes('an environment that was deleted is erased when it has settled, and not before', async ([first, second]) => {
  const { body: made } = await first.app.call('POST', '/v1/environments', { body: { name: fresh('environment') } })
  const [{ key }] = made.apiKeys
  const path = `/v1/environments/${made._id}?confirm=${made.name}`
  const deleted = await first.app.call('DELETE', path, { key })
  assert.equal(deleted.status, 200, deleted.text)
  const pass = ({ app }: FlowScene): Promise<number> => eraseEnvironments(app.database.db, app.world, databaseClock)
  const isDone = async (): Promise<boolean> =>
    (await first.rows(sql`select 1 from environment_deletions where completed_at is not null`)).length > 0
  for (const scene of [first, second, first, second]) await pass(scene)
  assert.equal(await isDone(), false, 'what had begun may still be written')
  await first.rows(sql`update environment_deletions set requested_at = requested_at - interval '1 minute'`)
  await pass(second)
  assert.equal(await isDone(), true)
})
