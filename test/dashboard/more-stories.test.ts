// More of the dashboard in a real browser: what was typed is kept, lists and their numbers, and what is taken back.
// Runs in a process of its own: it starts a service and a browser.
import './stories/kept.ts'
import './stories/step-forms.ts'
import './stories/lists.ts'
import './stories/tenants.ts'
import './stories/taken-back.ts'
import { withSampleData } from './story.ts'

withSampleData()
