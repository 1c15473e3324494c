// The dashboard in a real browser, and what is done to many there: chosen, confirmed, stopped, continued, refused.
// Runs in a process of its own: it starts a service and a browser.
import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'
import './stories/many.ts'
import './stories/selection-bar.ts'
import './stories/runs.ts'
import './stories/send-again.ts'
import { fill } from './sample-data.ts'
import { developmentKey } from './service.ts'
import { scene, shared, skip } from './story.ts'

before(async () => {
  if (skip) return
  await scene.open({ POSTHORN_OUTBOUND_ALLOW: '127.0.0.1' })
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
