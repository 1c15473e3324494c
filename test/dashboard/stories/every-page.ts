// What holds for every page: accessible in both themes, of the right width on every screen, small enough.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Json } from '../../support/app.ts'
import { projectRoot } from '../../support/project-root.ts'
import { layoutFaults } from '../layout.ts'
import { developmentKey } from '../service.ts'
import { heading, scene, shared, skip, until, written } from '../story.ts'

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
  '/activity/queue?state=buried',
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

const widths = [360, 768, 1280, 1920]

/** Until the page is drawn as wide as that: a frame more, since the first may have begun before. */
async function widened(page: Json, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 860 })
  await until(page, `innerWidth === ${width}`)
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
}

async function darkened(page: Json): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html[data-theme=dark]').waitFor()
}

test('every page is accessible in both themes, and fits from 360 to 1920 pixels', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  const found: string[] = []
  for (const path of pages()) {
    const report = (where: string, faults: readonly string[]) =>
      found.push(...faults.map((fault) => `${path} ${where}: ${fault}`))
    await visitor.emulateMedia({ colorScheme: 'light' })
    await visitor.goto(`development${path}`)
    await visitor.locator('h1').first().waitFor()
    await visitor.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
    // A theme is colours: what fits in one fits in the other.
    for (const width of widths) {
      await widened(visitor, width)
      report(`at ${width}`, await visitor.evaluate(layoutFaults(width === 360)))
      // What is shown differs most between a phone and a wide screen: each theme is looked at by axe on one of them.
      if (width === 360) report(`at ${width}, light`, await scene.violations(visitor))
    }
    await darkened(visitor)
    report(`at ${widths.at(-1)}, dark`, await scene.violations(visitor))
  }
  assert.deepEqual(found, [])
  await visitor.context().close()
})

test('colours that are too close are found in the dark theme, which a page takes on as it is', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await visitor.goto('development/topics')
  await heading(visitor, 'Topics')
  await visitor.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend', '<p id="grey">Dark on dark</p>')
    document.querySelector('#grey').style.color = '#222'`)
  assert.deepEqual(await scene.violations(visitor), [])
  await darkened(visitor)
  assert.match((await scene.violations(visitor)).join(), /^color-contrast: #grey/)
  await visitor.context().close()
})

test('what is too wide, cut off or too small is found', { skip }, async () => {
  const { page } = shared
  await page.goto('development/topics')
  await heading(page, 'Topics')
  try {
    await widened(page, 360)
    assert.deepEqual(await page.evaluate(layoutFaults(true)), [])
    await page.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend',
      '<p id="wide">Wide</p><p id="cut">Words that are cut off</p><button id="small">a</button><button>b</button>')
      Object.assign(document.querySelector('#wide').style, { width: '400px' })
      Object.assign(document.querySelector('#cut').style, { width: '40px', overflow: 'hidden', whiteSpace: 'nowrap' })
      Object.assign(document.querySelector('#small').style, { width: '10px', height: '10px' })`)
    const faults = (await page.evaluate(layoutFaults(true))).join('\n')
    assert.match(faults, /the page is \d+ pixels too wide/)
    assert.match(faults, /p "Wide" lies beyond the edge/)
    assert.match(faults, /p "Words that are cut off" is cut off/)
    assert.match(faults, /button "a" is 10 × 10 pixels small/)
  } finally {
    // Other stories share the page.
    await page.reload()
    await widened(page, 1280)
  }
})

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
