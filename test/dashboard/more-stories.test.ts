// More of the dashboard in a real browser: what was typed is kept, lists and their numbers, what is taken back, and what holds for every page.
// Runs in a process of its own: it starts a service and a browser.
import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'
import './stories/kept.ts'
import './stories/step-forms.ts'
import './stories/lists.ts'
import './stories/tenants.ts'
import './stories/taken-back.ts'
import './stories/every-page.ts'
import { fill } from './sample-data.ts'
import { developmentKey } from './service.ts'
import { scene, shared, skip } from './story.ts'

before(async () => {
  if (skip) return
  await scene.open()
  shared.ids = await fill(scene)
  shared.page = await scene.visitor({ key: developmentKey })
})
after(async () => {
  if (!skip) await scene.close()
})
// Nothing that a page complains of is passed over.
afterEach(() => {
  assert.deepEqual(scene.complaints.splice(0), [])
})
