// kill -9 in the middle of an expansion: at any page no one is lost and no one is notified twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { FaultNode, StallOptions } from '../support/fault-scene.ts'
import { completed, FaultScene, makeWorkflow, progress, trigger } from '../support/fault-scene.ts'
import { createRandom } from '../support/random.ts'
import { inApp } from '../support/workflow-scene.ts'

/** Six pages, and a seventh that finds no one. */
const size = 3_000

let scene: FaultScene
let node: FaultNode
before(async () => {
  scene = await FaultScene.create()
  node = await scene.start('first')
  await makeWorkflow(node, 'hello', [inApp('First'), inApp('Second')])
  await scene.topic(node, 'crowd', size)
})
after(() => scene.close())

async function triggered(transactionId: string): Promise<string> {
  await trigger(node, [{ name: 'hello', to: [{ type: 'Topic', topicKey: 'crowd' }], transactionId }])
  return transactionId
}

/** Kills the node where it hangs, undoes what it had begun, and starts another. */
async function killAt(options: StallOptions, name: string, begin: () => Promise<unknown> = async () => {}) {
  const stall = await scene.stall({ ...options, node: node.name })
  await begin()
  await stall.reached()
  await node.kill()
  await stall.release()
  await scene.gone(node)
  node = await scene.start(name)
}

async function assertAllNotifiedOnce(transactionId: string): Promise<void> {
  await completed(node, [transactionId])
  const { counts, warnings } = (await progress(node, transactionId)) ?? assert.fail('it is missing')
  assert.deepEqual(
    [counts.recipients, counts.notifications, counts.byOutcome.completed, warnings],
    [size, size, size, []],
  )
  const [reported] = await scene.rows(sql`
    select count(*) as messages, count(distinct (m.subscriber_id, m.step)) as reported, count(distinct m.subscriber_id) as people
    from messages m join events e on e.id = m.event_id where e.transaction_id = ${transactionId}`)
  assert.deepEqual(reported, { messages: size * 2, reported: size * 2, people: size })
  assert.equal(await scene.count(sql`select count(*) as count from tasks`), 0)
}

test('killed in the first page, between the pages and in the last, everyone is notified once', async () => {
  const transactionId = 'pages'
  await killAt({ on: 'notifications', event: 'insert', at: 1 }, 'second', () => triggered(transactionId))
  assert.equal((await progress(node, transactionId))?.state, 'expanding')
  // The page's rows are written, and how far the event has come is not yet committed.
  await killAt({ on: 'tasks', event: 'update', when: 'new.state is distinct from old.state', at: 2 }, 'third')
  await killAt(
    { on: 'tasks', event: 'update', when: 'new.state is distinct from old.state', inCommit: true, at: 1 },
    'fourth',
  )
  await assertAllNotifiedOnce(transactionId)
})

test('killed at chance places of expansion and steps, everyone is notified once', async (t) => {
  const seed = 20_251
  t.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  const places = [
    { on: 'notifications', event: 'insert' },
    { on: 'jobs', event: 'insert' },
    { on: 'messages', event: 'insert' },
    { on: 'jobs', event: 'update' },
  ] as const
  let begin: (() => Promise<unknown>) | undefined = () => triggered('chance')
  for (const round of [1, 2]) {
    await killAt({ ...random.oneOf(places), at: 1 + random.integer(4) }, `chance-${round}`, begin)
    begin = undefined
  }
  await assertAllNotifiedOnce('chance')
})
