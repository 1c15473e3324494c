// Preferences through the public client @novu/api: its calls parse our answers, and errors are typed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Novu } from '@novu/api'
import { ErrorDto, ValidationErrorDto } from '@novu/api/models/errors/index.js'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let novu: Novu
before(async () => {
  app = await createTestApp({ vendor: 'novu' })
  const address = await app.app.listen({ port: 0, host: '127.0.0.1' })
  novu = new Novu({ secretKey: app.developmentKey, serverURL: address })
  await create(app, { name: 'Orders', workflowId: 'orders', active: true, steps: [email(), inApp()] })
  await create(app, { name: 'Alarms', workflowId: 'alarms', active: true, critical: true, steps: [email()] })
  await novu.subscribers.create({ subscriberId: 'ada' })
})
after(() => app.close())

test('preferences are listed, changed for all and for one, and changed in bulk', async () => {
  const { preferences } = novu.subscribers
  const weeklySchedule = { monday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] } }
  const globally = await preferences.update(
    { channels: { email: false, inApp: true, tool: true }, schedule: { isEnabled: true, weeklySchedule } },
    'ada',
  )
  assert.equal(globally.result.global.channels.email, false)
  assert.deepEqual(globally.result.global.schedule, { isEnabled: true, weeklySchedule })
  const one = await preferences.update({ workflowId: 'orders', channels: { email: true } }, 'ada')
  assert.equal(one.result.workflows[0]?.channels.email, true)
  const listed = await preferences.list({ subscriberId: 'ada' })
  assert.deepEqual(
    listed.result.workflows.map(({ workflow }) => workflow.slug),
    ['orders'],
  )
  assert.deepEqual(listed.result.workflows[0]?.overrides[1], { channel: 'email', source: 'subscriber' })
  const critical = await preferences.list({ subscriberId: 'ada', criticality: 'critical' })
  assert.equal(critical.result.workflows[0]?.workflow.identifier, 'alarms')
  const bulk = await preferences.bulkUpdate(
    { preferences: [{ workflowId: 'orders', channels: { inApp: false } }] },
    'ada',
  )
  assert.equal(bulk.result[0]?.level, 'template')
  assert.equal(bulk.result[0]?.channels.inApp, false)
  assert.equal(bulk.result[0]?.workflow?.severity, 'none')
})

test('what is refused is an error with its type', async () => {
  const { preferences } = novu.subscribers
  await assert.rejects(
    preferences.update({ workflowId: 'alarms', channels: { email: false } }, 'ada'),
    ValidationErrorDto,
  )
  await assert.rejects(preferences.list({ subscriberId: 'nobody' }), ErrorDto)
})
