// Still more of the dashboard in a real browser: numbers and the lists behind them, columns, details beside their lists,
// charts, and the page of all parts.
// Runs in a process of its own: it starts a service and a browser.
import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'
import './stories/numbers.ts'
import './stories/columns.ts'
import './stories/beside.ts'
import './stories/charts.ts'
import './stories/ui-parts.ts'
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
