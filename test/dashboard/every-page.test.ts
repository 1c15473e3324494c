// What holds for every page of the dashboard, in a real browser: accessible in both themes, of the right width on every screen, small enough.
// Runs in a process of its own: it starts a service and a browser.
import './stories/every-page.ts'
import { withSampleData } from './story.ts'

withSampleData()
