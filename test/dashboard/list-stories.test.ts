// Still more of the dashboard in a real browser: numbers and the lists behind them, columns, details beside their lists,
// charts, and the page of all parts.
// Runs in a process of its own: it starts a service and a browser.
import './stories/numbers.ts'
import './stories/columns.ts'
import './stories/beside.ts'
import './stories/charts.ts'
import './stories/failures.ts'
import './stories/complaints.ts'
import './stories/ui-parts.ts'
import { withSampleData } from './story.ts'

withSampleData({ POSTHORN_OUTBOUND_ALLOW: '127.0.0.1' })
