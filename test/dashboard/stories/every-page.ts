// What holds for every page: accessible in both themes, narrow enough, small enough.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Json } from '../../support/app.ts'
import { projectRoot } from '../../support/project-root.ts'
import { developmentKey } from '../service.ts'
import { heading, scene, shared, skip, written } from '../story.ts'

const pages = () => [
  '',
  '/start',
  '/activity',
  `/activity/${shared.ids.notificationId}`,
  `/activity/${shared.ids.notificationId}?tab=data`,
  '/activity/messages',
  '/activity/messages?removed=with',
  `/activity/messages/${shared.ids.notificationId}`,
  '/activity/failures',
  '/activity/events',
  '/activity/queue?state=waiting',
  '/workflows',
  `/workflows/${shared.ids.workflowId}`,
  `/workflows/${shared.ids.workflowId}/versions`,
  '/subscribers',
  '/subscribers/ada',
  ...['activity', 'why', 'preferences', 'topics', 'feed'].map((tab) => `/subscribers/ada?tab=${tab}`),
  '/topics',
  '/topics/release-notes',
  '/tenants',
  '/tenants/acme',
  '/contexts',
  '/contexts/workspace/design',
  '/integrations',
  '/integrations?add=sms',
  '/outbox',
  '/webhooks',
  `/webhooks/${shared.ids.endpointId}`,
  '/layouts',
  '/translations',
  '/settings',
  '/settings/environments',
  '/settings/signing',
  '/settings/retention',
  '/settings/audit',
  '/settings/suppressions',
  '/settings/health',
]

for (const dark of [false, true]) {
  test(`every page is accessible in the ${dark ? 'dark' : 'light'} theme, and fits 360 pixels`, { skip }, async () => {
    const visitor = await scene.visitor({ key: developmentKey, dark, width: dark ? 1280 : 360 })
    const found: string[] = []
    for (const path of pages()) {
      await visitor.goto(`development${path}`)
      await visitor.locator('h1').first().waitFor()
      await visitor.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
      for (const violation of await scene.violations(visitor)) found.push(`${path} ${violation}`)
      const overflow = await visitor.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      if (overflow > 0) found.push(`${path} is ${overflow} pixels too wide`)
    }
    assert.deepEqual(found, [])
    await visitor.context().close()
  })
}

test('the editor of templates is loaded with the first page that has one, and not before', { skip }, async () => {
  const visitor = await scene.visitor()
  const loaded: string[] = []
  visitor.on('request', (request: Json) => loaded.push(request.url()))
  const isLoaded = () => loaded.some((url) => url.includes('template-editor'))
  await visitor.goto('sign-in')
  await visitor.getByLabel('API key').fill(developmentKey)
  await visitor.getByRole('button', { name: 'Sign in' }).click()
  await heading(visitor, 'Overview')
  await visitor.goto('development/workflows')
  await heading(visitor, 'Workflows')
  assert.equal(isLoaded(), false)
  await visitor.goto(`development/workflows/${shared.ids.workflowId}`)
  await written(visitor.getByLabel('Text', { exact: true }), /./)
  assert.equal(isLoaded(), true)
  await visitor.context().close()
})

test('the first page stays below 250 kB gzipped', { skip }, () => {
  const folder = join(projectRoot, 'dashboard', 'dist')
  const index = readFileSync(join(folder, 'index.html'), 'utf8')
  const names = [...index.matchAll(/assets\/[\w.-]+/g)].map(([name]) => name)
  const overview = readdirSync(join(folder, 'assets')).filter((name) => /^(?:overview|chart).*\.(?:js|css)$/.test(name))
  const all = new Set([...names, ...overview.map((name) => `assets/${name}`)])
  const bytes = [...all].reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0)
  assert.ok(bytes < 250_000, `${bytes} bytes`)
})
