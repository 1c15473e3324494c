// A job that ends whoever runs it: it is buried, and those it happened to be run with are not.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { FaultNode } from '../support/fault-scene.ts'
import { completed, FaultScene, makeWorkflow, progress, trigger } from '../support/fault-scene.ts'
import { poisonousAfter } from '../support/flow-scene.ts'
import { eventually } from '../support/service.ts'
import { inApp } from '../support/workflow-scene.ts'

const bystanders = 60

let scene: FaultScene
let node: FaultNode
before(async () => {
  scene = await FaultScene.create()
  node = await scene.start('node-0')
  await makeWorkflow(node, 'feed', [inApp('{{ payload.text }}')])
})
after(() => scene.close())

const eventOf = (id: string) => ({ name: 'feed', to: id, payload: { text: id }, transactionId: id })

test('a job that kills its node each time is buried; the jobs that were in hand with it are done', async () => {
  const names = Array.from({ length: bystanders }, (_, index) => `innocent-${index}`)
  // The node is killed whenever it writes this one's message: that is what a poisonous job looks like from outside.
  const stall = await scene.stall({ on: 'messages', event: 'insert', when: `new.content = '"poison"'::jsonb` })
  await trigger(node, [...names.slice(0, 30), 'poison', ...names.slice(30)].map(eventOf))
  const isOver = async () => (await scene.count(sql`select count(*) as count from jobs where due_at is not null`)) === 0
  let kills = 0
  for (; kills <= 4; kills += 1) {
    let over = false
    await eventually(async () => {
      // The minute between two solo runs is not what is shown here.
      await scene.run('update jobs set due_at = now() where due_at > now() and lease is null and lane >= 2')
      over = await isOver()
      return over || (await stall.count()) > 0
    })
    if (over) break
    await node.kill()
    await stall.cutOff()
    await scene.gone(node)
    // As after some deaths more: each would be one more start of the service.
    if (kills === 0) {
      await scene.run(`update jobs set interruptions = ${poisonousAfter - 3}, lane = lane | 2 where due_at is not null`)
    }
    node = await scene.start(`node-${kills + 1}`)
  }
  assert.ok(kills >= 2 && kills <= 3, `${kills} kills`)
  assert.equal((await progress(node, 'poison'))?.counts.byOutcome.failed, 1)
  await completed(node, names)
  const reported = await scene.rows(sql`select content #>> '{}' as text from messages order by 1`)
  assert.deepEqual(
    reported.map((row) => row.text),
    [...names].sort(),
  )
})
