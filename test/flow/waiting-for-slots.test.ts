// Messages that wait long for a slot: they go back to the queue before their leases end, uncounted, and are sent later.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import { eventually } from '../support/service.ts'
import { email } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const slots = 50

/** Lets others work until it is true, for a bounded number of turns. */
async function soon(isTrue: () => boolean): Promise<void> {
  for (let turns = 0; turns < 100_000 && !isTrue(); turns += 1) await new Promise(setImmediate)
  assert.ok(isTrue(), 'it did not come true')
}

test('who waited 20 seconds for a slot goes back, and is sent when there is one', async () => {
  const mail = new MailScript(scene)
  await mail.account(fresh('mail'))
  const workflow = await scene.workflow([email('Hello')])
  const people = Array.from({ length: slots + 5 }, () => fresh('person'))
  await scene.subscribers(...people)
  const hanging: (() => void)[] = []
  mail.meanwhile = () => new Promise<void>((resolve) => void hanging.push(resolve))
  await scene.trigger(workflow, people)
  const working = scene.work()
  await soon(() => hanging.length === slots)
  app.world.advance(21_000)
  hanging.pop()?.()
  const back = sql`select count(*) as count from jobs where status = 'queued' and lease is null and interruptions = 0`
  await eventually(async () => (await scene.rows(back))[0]?.count === 5)
  assert.equal(hanging.length, slots - 1, 'nothing was begun meanwhile')
  mail.meanwhile = undefined
  for (const answer of hanging) answer()
  await working
  // One was served in 21 seconds: their turns are that far apart.
  await scene.advance(120_000, 10_000)
  assert.equal(mail.asked.length, slots + 5)
  const left = await scene.rows(sql`select 1 from jobs where due_at is not null`)
  assert.deepEqual(left, [])
})
