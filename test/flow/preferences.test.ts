// What subscribers want to hear of, in a run: who is asked, in which order, and what the activity reports of it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { delay, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

async function person(preferences: object = {}): Promise<string> {
  const subscriberId = fresh('person')
  await scene.subscribers(subscriberId)
  await prefer(subscriberId, preferences)
  return subscriberId
}

const prefer = (subscriberId: string, preferences: object) =>
  scene.expect(200, 'PATCH', `/v2/subscribers/${subscriberId}/preferences`, preferences)

test('a channel that the subscriber switched off everywhere is skipped, and the others run', async () => {
  const workflow = await scene.workflow([email(), inApp('Hello')])
  const run = await scene.run(workflow, await person({ channels: { email: false } }))
  assert.deepEqual(statuses(run), ['skipped', 'completed'])
  assert.deepEqual(reported(run.jobs[0]).at(-1), ['Step filtered by subscriber global preferences', 'Success'])
  assert.deepEqual(rawOf(run.jobs[0], 'Step filtered by subscriber global preferences'), {
    channel: 'email',
    workflow: true,
    global: { channels: { email: false } },
  })
})

test('what is chosen for the workflow wins over what is chosen for all', async () => {
  const workflow = await scene.workflow([email(), inApp('Hello')])
  const reader = await person({ channels: { email: false, in_app: true } })
  await prefer(reader, { workflowId: workflow, channels: { email: true, in_app: false } })
  const run = await scene.run(workflow, reader)
  assert.deepEqual(statuses(run), ['completed', 'skipped'])
  assert.deepEqual(reported(run.jobs[1]).at(-1), ['Step filtered by subscriber workflow preferences', 'Success'])
  const other = await scene.run(await scene.workflow([email()]), reader)
  assert.deepEqual(statuses(other), ['skipped'], 'another workflow goes by the choice for all')
})

test('the author’s default holds for those who chose nothing, and only for them', async () => {
  const workflow = await scene.workflow([email()], { preferenceSettings: { email: false } })
  const silent = await scene.run(workflow, await person())
  assert.deepEqual(reported(silent.jobs[0]).at(-1), ['Step filtered by workflow preferences', 'Success'])
  const keen = await scene.run(workflow, await person({ channels: { email: true } }))
  assert.deepEqual(statuses(keen), ['completed'])
})

test('critical workflows ask the author alone', async () => {
  const workflow = await scene.workflow([email(), inApp('Hello')], {
    critical: true,
    preferenceSettings: { in_app: false },
  })
  const run = await scene.run(workflow, await person({ enabled: false, channels: { email: false, in_app: true } }))
  assert.deepEqual(statuses(run), ['completed', 'skipped'])
  assert.deepEqual(reported(run.jobs[1]).at(-1), ['Step filtered by workflow preferences', 'Success'])
})

test('steps that report no one anything are not asked about', async () => {
  const workflow = await scene.workflow([delay(), email()])
  const run = await scene.run(workflow, await person({ enabled: false }))
  assert.equal(run.jobs[0].status, 'delayed')
})

test('a choice that is taken back no longer holds', async () => {
  const workflow = await scene.workflow([email()])
  const reader = await person({ channels: { email: false } })
  await prefer(reader, { channels: { email: null } })
  assert.deepEqual(statuses(await scene.run(workflow, reader)), ['completed'])
})
