// The dashboard in a real browser, and what is done to many there: chosen, confirmed, stopped, continued, refused.
// Runs in a process of its own: it starts a service and a browser.
import './stories/many.ts'
import './stories/selection-bar.ts'
import './stories/focus.ts'
import './stories/runs.ts'
import './stories/send-again.ts'
import { withSampleData } from './story.ts'

withSampleData({ POSTHORN_OUTBOUND_ALLOW: '127.0.0.1' })
