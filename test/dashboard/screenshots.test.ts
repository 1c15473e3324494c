// Pictures of every page, light and dark, wide and narrow: `POSTHORN_SCREENSHOTS=folder npm test -- dashboard/screenshots`.
// With `docs` as the folder, those of the documentation are made again. POSTHORN_SCREENSHOTS_OF=failures,queue makes those alone.
// Runs in a process of its own: it starts a service and a browser.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { failSome } from './failed-samples.ts'
import type { SampleIds } from './sample-data.ts'
import { fill } from './sample-data.ts'
import { DashboardScene, developmentKey, noBrowser } from './service.ts'

const asked = process.env['POSTHORN_SCREENSHOTS']
const only = process.env['POSTHORN_SCREENSHOTS_OF']?.split(',')
const skip = noBrowser || (asked === undefined && 'POSTHORN_SCREENSHOTS names no folder')

const allPages = (
  { workflowId, notificationId, endpointId }: SampleIds,
  messageId: string,
): Record<string, string> => ({
  overview: '',
  start: '/start',
  activity: '/activity',
  notification: `/activity/${notificationId}`,
  messages: '/activity/messages',
  message: `/activity/messages/${notificationId}`,
  failures: '/activity/failures',
  abandoned: '/activity/queue?state=buried',
  events: '/activity/events',
  queue: '/activity/queue?state=waiting',
  workflows: '/workflows',
  editor: `/workflows/${workflowId}`,
  subscribers: '/subscribers',
  subscriber: '/subscribers/ada',
  topics: '/topics',
  tenants: '/tenants',
  tenant: '/tenants/acme',
  contexts: '/contexts',
  context: '/contexts/workspace/design',
  versions: `/workflows/${workflowId}/versions`,
  integrations: '/integrations',
  gallery: '/integrations?add=email',
  outbox: `/outbox/${messageId}`,
  webhooks: '/webhooks',
  endpoint: `/webhooks/${endpointId}`,
  layouts: '/layouts',
  translations: '/translations',
  keys: '/settings',
  users: '/settings/users',
  environments: '/settings/environments',
  signing: '/settings/signing',
  retention: '/settings/retention',
  audit: '/settings/audit',
  suppressions: '/settings/suppressions',
  health: '/settings/health',
})

test('pictures of the pages are made', { skip }, async () => {
  const isForDocs = asked === 'docs'
  const folder = isForDocs ? join(projectRoot, 'docs', 'images') : (asked ?? '')
  mkdirSync(folder, { recursive: true })
  const scene = new DashboardScene()
  let stop = () => {}
  try {
    await scene.open({ POSTHORN_OUTBOUND_ALLOW: '127.0.0.1' })
    const { workflowId, notificationId, endpointId } = await fill(scene)
    // The pictures of the documentation show a day on which all is well.
    if (!isForDocs) stop = await failSome(scene)
    const outbox = await scene.call('GET', '/v1/outbox?limit=1&channel=email')
    const pages: Record<string, string> = isForDocs
      ? { overview: '', activity: `/activity/${notificationId}`, workflow: `/workflows/${workflowId}` }
      : allPages({ workflowId, notificationId, endpointId }, outbox.data[0]._id)
    for (const dark of [false, true]) {
      for (const width of isForDocs ? [1280] : [1280, 360, 768, 1920]) {
        const page = await scene.visitor({ key: developmentKey, dark, width })
        for (const [name, path] of Object.entries(pages)) {
          if (only !== undefined && !only.includes(name)) continue
          await page.goto(`development${path}`)
          await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => undefined)
          if (name === 'workflow') await page.getByRole('button', { name: /^Mail/ }).first().click()
          await page.waitForTimeout(name === 'workflow' ? 1_500 : 350)
          const end = isForDocs
            ? `dashboard-${name}-${dark ? 'dark' : 'light'}`
            : `${name}-${width}-${dark ? 'dark' : 'light'}`
          await page.screenshot({ path: join(folder, `${end}.png`), fullPage: false })
        }
        await page.context().close()
      }
    }
    if (scene.complaints.length > 0) console.log(scene.complaints.join('\n'))
  } finally {
    stop()
    await scene.close()
  }
})
