// Conditions that cost as much as they may, asked for each event of a bulk call: no one else waits for long.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import { watchWork } from '../support/turn-cpu.ts'
import { email } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
})
after(() => app.close())

/** More than may be rendered, and never equal to the plan. */
const endless =
  '{% for i in (1..200) %}{% for j in (1..200) %}{% if i == j %}{{ i }}{% endif %}{% endfor %}{% endfor %}'
const conditions = (value: string) => [
  {
    ...{ isNegated: false, type: 'GROUP', value: 'AND' },
    children: [{ field: 'plan', value, operator: 'EQUAL', on: 'payload' }],
  },
]

test('a bulk call for integrations with endless conditions, accepted and worked on, takes its time in short turns', async () => {
  await mail.account('usual')
  for (const name of ['one', 'two', 'three']) await mail.account(name, { conditions: conditions(`${endless}${name}`) })
  const name = await scene.workflow([email('Hello')])
  const event = () => ({
    name,
    to: { subscriberId: fresh('person'), email: 'ada@example.org' },
    payload: { plan: 'a' },
  })
  const send = async (count: number): Promise<void> => {
    await scene.results(Array.from({ length: count }, event))
    await scene.work()
  }
  // What is loaded and compiled when it is first needed does not count.
  await send(5)
  const { share } = await watchWork(() => send(100))
  assert.ok(share < 1, `a turn took ${share.toFixed(1)} times as long as one may`)
  assert.deepEqual(new Set(mail.accounts()), new Set(['usual']))
})

test('so does what becomes of them when their provider fails: what is judged, and what is sent again', async () => {
  const name = await scene.workflow([email('Hello')])
  mail.answers('usual', 503)
  const event = () => ({
    name,
    to: { subscriberId: fresh('person'), email: 'ada@example.org' },
    payload: { plan: 'a' },
  })
  const { share } = await watchWork(async () => {
    await scene.results(Array.from({ length: 100 }, event))
    await scene.work()
    await scene.advance(60_000, 5_000)
  })
  assert.ok(share < 1, `a turn took ${share.toFixed(1)} times as long as one may`)
})
