// The dashboard as people use it, in a real browser, against the built pages and a real service.
// Runs in a process of its own: it starts a service and a browser.
import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'
import './stories/sign-in.ts'
import './stories/activity.ts'
import './stories/content.ts'
import './stories/conflicts.ts'
import './stories/editor.ts'
import './stories/settings.ts'
import './stories/more.ts'
import './stories/versions.ts'
import './stories/edges.ts'
import './stories/webhooks.ts'
import { scene, skip } from './story.ts'

before(async () => {
  // For the story of webhooks, whose backend listens here.
  if (!skip) await scene.open({ POSTHORN_OUTBOUND_ALLOW: '127.0.0.1' })
})
after(async () => {
  if (!skip) await scene.close()
})
// Nothing that a page complains of is passed over.
afterEach(() => {
  assert.deepEqual(scene.complaints.splice(0), [])
})
