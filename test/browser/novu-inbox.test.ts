// The public Inbox of @novu/react, unchanged, in a real browser: where its packages are installed.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { PluginBuild } from 'esbuild'
import { build } from 'esbuild'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { Browser, chromium } from '../support/browser.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { identifierOf } from '../support/inbox-scene.ts'
import { hasPackage, packagesFolder, versionOf, withoutPackage } from '../support/public-packages.ts'
import { addressOf } from '../support/stream-scene.ts'

/** `@novu/react`, or what stands on it: `@novu/nextjs`. `@novu/js` is below both, and its own interface is tried as well. */
const name = process.env['NOVU_INBOX'] ?? '@novu/react'
const skip = chromium === undefined ? 'there is no Chromium on this machine' : withoutPackage(name)
const pictures = process.env['SCREENSHOTS']

const entries: Readonly<Record<string, string>> = {
  '@novu/js': `
    import { NovuUI } from '@novu/js/ui'
    const { tabs, preferencesFilter, ...options } = globalThis.options
    const ui = new NovuUI({ options, ...(tabs === undefined ? {} : { tabs }) })
    ui.mountComponent({ name: 'Inbox', element: document.querySelector('#root') })`,
}
const reactEntry = `
  import { createElement } from 'react'
  import { createRoot } from 'react-dom/client'
  import { Inbox } from '${name}'
  createRoot(document.querySelector('#root')).render(createElement(Inbox, globalThis.options))`

let app: TestApp
let scene: FlowScene
let base: string
let browser: Browser
let script = ''
let options = {}
const pages = createServer((request, response) => {
  const isScript = request.url === '/page.js'
  response.setHeader('content-type', `text/${isScript ? 'javascript' : 'html'}; charset=utf-8`)
  const page = `<!doctype html><html lang="en"><body style="margin:16px"><div id="root"></div>
    <script>globalThis.options = ${JSON.stringify(options)}</script><script src="/page.js"></script></body></html>`
  response.end(isScript ? script : page)
})
before(async () => {
  if (chromium === undefined || !hasPackage(name)) return
  const built = await build({
    stdin: { contents: entries[name] ?? reactEntry, resolveDir: packagesFolder },
    // What @novu/nextjs asks of its framework: where the page is, and how to leave it.
    plugins: [{ name: 'router', setup: withoutFramework }],
    ...{ bundle: true, write: false, format: 'iife', platform: 'browser', logLevel: 'error' },
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  script = built.outputFiles?.[0]?.text ?? ''
  app = await createTestApp({ works: true })
  scene = new FlowScene(app)
  base = await addressOf(app)
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
  browser = new Browser(chromium)
})
after(async () => {
  await browser?.close()
  pages.close()
  await app?.close()
})

function withoutFramework({ onResolve, onLoad }: PluginBuild): void {
  // Version 2 names what is for browsers in a way that only other bundlers follow.
  const client = join(packagesFolder, 'node_modules/@novu/react/dist/client/index.mjs')
  if (existsSync(client)) onResolve({ filter: /^@novu\/react$/ }, () => ({ path: client }))
  onResolve({ filter: /^next\// }, ({ path }) => ({ path, namespace: 'router' }))
  onLoad({ filter: /.*/, namespace: 'router' }, () => ({
    contents:
      'export const useRouter = () => ({ push: (url) => { location.href = url } }); export default { useRouter }',
  }))
}

const pageUrl = (): string => {
  const place = pages.address()
  return `http://127.0.0.1:${typeof place === 'object' ? place?.port : ''}/`
}

async function openPage(subscriberId: string, address: string, more: object = {}): Promise<void> {
  const applicationIdentifier = await identifierOf(app)
  options = { applicationIdentifier, subscriberId, backendUrl: address, socketUrl: address, ...more }
  await browser.open(pageUrl())
  await browser.resize(700, 800)
}

async function picture(what: string): Promise<void> {
  if (pictures === undefined) return
  mkdirSync(pictures, { recursive: true })
  await browser.screenshot(join(pictures, `${versionOf(name).replace('@', '').replaceAll(/[/ ]/g, '-')}-${what}.png`))
}

const click = (part: string) => browser.value(`document.querySelector('.nv-${part}').click()`)
const has = (part: string) => browser.until(`document.querySelector('.nv-${part}') !== null`)
/** Menus open on the press of a pointer. */
const press = (part: string, place = 0) =>
  browser.value(`(() => {
    const element = document.querySelectorAll('.nv-${part}')[${place}]
    for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) {
      const Kind = type.startsWith('pointer') ? PointerEvent : MouseEvent
      element.dispatchEvent(new Kind(type, { bubbles: true, cancelable: true, button: 0, pointerType: 'mouse' }))
    }
  })()`)
const shows = (text: string) => browser.until(`document.body.innerText.includes(${JSON.stringify(text)})`)
/** With the list open, new ones wait behind a button. */
const showNew = async (): Promise<void> => {
  await has('notificationListNewNotificationsNotice__button')
  await click('notificationListNewNotificationsNotice__button')
}
const items = (count: number) => browser.until(`document.querySelectorAll('.nv-notification').length === ${count}`)

test('the bell rings for a new notification, which is answered and read', { skip }, async () => {
  const buttons = [{ type: 'primary', content: 'Track' }]
  const workflow = await scene.workflow([
    {
      template: { type: 'in_app', subject: 'Order {{ payload.id }}', content: 'Shipped', cta: { action: { buttons } } },
    },
  ])
  await scene.run(workflow, 'ada', { payload: { id: 1 } })
  await openPage('ada', base)
  await has('bellDot')
  await click('inbox__popoverTrigger')
  await items(1)
  await scene.run(workflow, 'ada', { payload: { id: 2 } })
  await showNew()
  await items(2)
  await picture('list')
  await click('notificationPrimaryAction__button')
  await click('notification')
  await browser.until(`document.querySelectorAll('.nv-notificationDot').length === 1`)
  await picture('read')
  assert.equal(
    await browser.value(`/Novu/i.test(document.querySelector('.nv-inbox__popoverContent')?.innerText)`),
    false,
  )
})

test('a new notification is announced within a second, without a reload', { skip }, async () => {
  const workflow = await scene.workflow([{ template: { type: 'in_app', content: 'Quick' } }])
  await openPage('cyd', base)
  await has('inbox__popoverTrigger')
  await browser.value(`new Promise((resolve) => setTimeout(resolve, 500))`)
  assert.equal(await browser.value(`document.querySelector('.nv-bellDot') === null`), true)
  const startedAt = performance.now()
  await scene.run(workflow, 'cyd')
  const committedMs = performance.now() - startedAt
  await has('bellDot')
  const tookMs = performance.now() - startedAt - committedMs
  assert.ok(tookMs < 1_000, `${tookMs.toFixed(0)} ms`)
  await picture('bell')
})

test('one is archived and found among the archived, another is snoozed and gone from the list', { skip }, async (t) => {
  const workflow = await scene.workflow([{ template: { type: 'in_app', content: 'Item {{ payload.id }}' } }])
  for (const id of [1, 2, 3]) await scene.run(workflow, 'dee', { payload: { id } })
  await openPage('dee', base)
  await has('bellDot')
  await click('inbox__popoverTrigger')
  await items(3)
  // The actions of a row are there while the pointer is over it.
  const over = `document.querySelector('.nv-notification').dispatchEvent(new MouseEvent('mouseenter', { bubbles: true }))`
  await browser.value(over)
  await has('notificationArchive__button')
  await click('notificationArchive__button')
  await items(2)
  const canSnooze = await browser.value(`document.querySelector('.nv-notificationSnooze__button') !== null`)
  if (canSnooze) {
    await press('notificationSnooze__button')
    await has('notificationSnooze__dropdownItem')
    await picture('snooze')
    await press('notificationSnooze__dropdownItem')
    await items(1)
  } else t.diagnostic('this version has no snoozing')
  await press('inboxStatus__dropdownTrigger')
  await has('inboxStatus__dropdownItem')
  await picture('status')
  await press('inboxStatus__dropdownItem', canSnooze ? 3 : 2)
  await items(1)
  await shows('Item 3')
  await picture('archived')
})

test('tabs show their own and count them', { skip }, async () => {
  const template = { type: 'in_app', content: 'Of {{ payload.id }}' }
  const news = await scene.workflow([{ template }], { tags: ['news'] })
  const orders = await scene.workflow([{ template }], { tags: ['orders'] })
  await scene.run(news, 'eve', { payload: { id: 'news' } })
  for (const id of ['order 1', 'order 2']) await scene.run(orders, 'eve', { payload: { id } })
  const tab = (label: string, tags: string[]) => ({ label, value: tags, filter: { tags } })
  await openPage('eve', base, { tabs: [tab('All', []), tab('News', ['news']), tab('Orders', ['orders'])] })
  await has('bellDot')
  await click('inbox__popoverTrigger')
  await items(3)
  await browser.until(
    `[...document.querySelectorAll('.nv-notificationsTabsTriggerCount')].map((one) => one.innerText).join() === '3,1,2'`,
  )
  await press('notificationsTabs__tabsTrigger', 1)
  await browser.until(
    `[...document.querySelectorAll('.nv-notification')].filter((one) => one.offsetParent !== null).length === 1`,
  )
  await shows('Of news')
  await picture('tabs')
})

test('preferences are shown and switched', { skip }, async () => {
  await openPage('fay', base)
  await has('inbox__popoverTrigger')
  await click('inbox__popoverTrigger')
  await has('preferences__button')
  await click('preferences__button')
  await has('workflowLabelContainer')
  // In version 2 the switches of a row show when it is opened.
  if (await browser.value(`document.querySelector('.nv-channelSwitch') === null`)) await press('workflowLabelContainer')
  await has('channelSwitch')
  await picture('preferences')
  await press('channelSwitch')
  const globalOf = async () => (await app.call('GET', '/v2/subscribers/fay/preferences')).body.global.channels
  for (let tries = 0; Object.values(await globalOf()).every((on) => on === true); tries += 1) {
    assert.ok(tries < 200, 'the switch was not stored')
    await browser.value(`new Promise((resolve) => setTimeout(resolve, 50))`)
  }
})

test('two tabs of one browser both hear of it', { skip }, async () => {
  const workflow = await scene.workflow([{ template: { type: 'in_app', content: 'Twice' } }])
  await openPage('gus', base)
  await has('inbox__popoverTrigger')
  await browser.openTab(pageUrl())
  await has('inbox__popoverTrigger')
  await browser.value(`new Promise((resolve) => setTimeout(resolve, 500))`)
  await scene.run(workflow, 'gus')
  await has('bellDot')
  await picture('second-tab')
  await browser.switchTab()
  await has('bellDot')
  await picture('first-tab')
  await browser.closeOtherTab()
})

test('what comes while the service is away is there after its restart', { skip }, async () => {
  const workflow = await scene.workflow([{ template: { type: 'in_app', content: 'Order {{ payload.id }}' } }])
  const first = await createTestApp({ nodeOf: app })
  const address = await addressOf(first)
  await openPage('bea', address)
  await click('inbox__popoverTrigger')
  await scene.run(workflow, 'bea', { payload: { id: 1 } })
  await items(1)
  await first.close()
  await scene.run(workflow, 'bea', { payload: { id: 2 } })
  const second = await createTestApp({ nodeOf: app })
  await addressOf(second, Number(new URL(address).port))
  await showNew()
  await items(2)
  await picture('restart')
  await browser.open('about:blank')
  await second.close()
})
