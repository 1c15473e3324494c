// Nodes whose clocks are wrong: every wait is as long as it should be, by the database's clock.
// Runs in a process of its own: its statements go by the database's clock, under names that others use for the tests' clock.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, statuses } from '../support/flow-scene.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

const hourMs = 3_600_000
/** What a loaded machine may take between a write and the look at it. */
const slackMs = 60_000

const apps: TestApp[] = []
after(() => Promise.all(apps.map((app) => app.close())))

async function skewed(skewMs: number): Promise<FlowScene> {
  const app = await createTestApp({ skewMs })
  apps.push(app)
  return new FlowScene(app)
}

/** How long what is open waits from now on, by the database's clock. */
const waitsMs = async (scene: FlowScene, table: 'jobs' | 'tasks'): Promise<number[]> => {
  const rows =
    table === 'jobs'
      ? await scene.rows(
          sql`select extract(epoch from due_at - now()) * 1000 as wait from jobs where due_at is not null`,
        )
      : await scene.rows(
          sql`select extract(epoch from due_at - now()) * 1000 as wait from tasks where due_at is not null`,
        )
  return rows.map(({ wait }) => Number(wait))
}

function assertWaits(waits: readonly number[], expectedMs: number): void {
  assert.equal(waits.length, 1, `${waits}`)
  const [waitMs = 0] = waits
  assert.ok(waitMs <= expectedMs + 1_000 && waitMs >= expectedMs - slackMs, `waits ${waitMs} ms, not ${expectedMs}`)
}

const everythingIsDue = (scene: FlowScene): Promise<Json[]> =>
  scene.rows(sql`update jobs set due_at = now() where due_at is not null`)

for (const [name, skewMs] of [
  ['an hour ahead', hourMs],
  ['an hour behind', -hourMs],
] as const) {
  test(`a node whose clock is ${name} runs at once what is due at once`, async () => {
    const scene = await skewed(skewMs)
    const [one, topic] = [fresh('person'), fresh('topic')]
    await scene.subscribers(one)
    await scene.topic(topic, [one])
    const workflow = await scene.workflow([inApp('One'), inApp('Two')])
    const direct = await scene.trigger(workflow, fresh('person'))
    const fannedOut = await scene.trigger(workflow, { type: 'Topic', topicKey: topic })
    await scene.work()
    for (const transactionId of [direct, fannedOut]) {
      assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
    }
  })

  test(`a delay lasts its two hours where the node’s clock is ${name}`, async () => {
    const scene = await skewed(skewMs)
    const transactionId = await scene.trigger(await scene.workflow([delay(), inApp('Late')]), fresh('person'))
    await scene.work()
    assertWaits(await waitsMs(scene, 'jobs'), 2 * hourMs)
    await everythingIsDue(scene)
    await scene.work()
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
  })

  test(`a digest gathers for its five minutes where the node’s clock is ${name}`, async () => {
    const scene = await skewed(skewMs)
    const workflow = await scene.workflow([digest(), inApp('{{ step.total_count }}')])
    const person = fresh('person')
    await scene.trigger(workflow, person)
    await scene.work()
    await scene.trigger(workflow, person)
    await scene.work()
    assertWaits(await waitsMs(scene, 'jobs'), 300_000)
    await everythingIsDue(scene)
    await scene.work()
    assert.deepEqual(await scene.texts(person), ['2'])
  })

  test(`a retry comes after its wait where the node’s clock is ${name}`, async () => {
    const scene = await skewed(skewMs)
    const mail = new MailScript(scene)
    await mail.account('busy')
    mail.answers('busy', { status: 429, headers: { 'retry-after': '90' } }, 202)
    const person = { subscriberId: fresh('person'), email: 'ada@example.org' }
    const transactionId = await scene.trigger(await scene.workflow([email('Hello')]), person)
    await scene.work()
    assertWaits(await waitsMs(scene, 'jobs'), 90_000)
    scene.app.world.advance(90_000)
    await everythingIsDue(scene)
    await scene.work()
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed'])
    assert.equal(mail.asked.length, 2)
  })

  test(`a task that fails waits its ten seconds where the node’s clock is ${name}`, async () => {
    const scene = await skewed(skewMs)
    const [one, topic] = [fresh('person'), fresh('topic')]
    await scene.subscribers(one)
    await scene.topic(topic, [one])
    await scene.trigger(await scene.workflow([inApp('Hello')]), { type: 'Topic', topicKey: topic })
    await scene.rows(sql`update tasks set state = '{"named": 0, "after": "no-uuid"}'`)
    await scene.work()
    assertWaits(await waitsMs(scene, 'tasks'), 10_000)
  })
}
