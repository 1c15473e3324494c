// The public Inbox of @novu/react, unchanged, in a real browser: where its packages are installed.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { build } from 'esbuild'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { Browser, chromium } from '../support/browser.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { identifierOf } from '../support/inbox-scene.ts'
import { projectRoot } from '../support/project-root.ts'
import { addressOf } from '../support/stream-scene.ts'

/** A folder with node_modules; they are no dependencies of the project. */
const packages = [process.env['NOVU_PACKAGES'] ?? '', projectRoot].find(
  (folder) => folder !== '' && existsSync(join(folder, 'node_modules/@novu/react')),
)
const missing = packages === undefined ? '@novu/react is not installed' : 'there is no Chromium on this machine'
const skip = (packages === undefined || chromium === undefined) && missing
const pictures = process.env['SCREENSHOTS']

const entry = `
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
import { Inbox } from '@novu/react'
createRoot(document.querySelector('#root')).render(createElement(Inbox, globalThis.options))
`

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
  if (chromium === undefined || packages === undefined) return
  const built = await build({
    stdin: { contents: entry, resolveDir: packages },
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

async function openPage(subscriber: string, address: string): Promise<void> {
  const applicationIdentifier = await identifierOf(app)
  options = { applicationIdentifier, subscriber, backendUrl: address, socketUrl: address }
  const place = pages.address()
  await browser.open(`http://127.0.0.1:${typeof place === 'object' ? place?.port : ''}/`)
  await browser.resize(700, 800)
}

async function picture(name: string): Promise<void> {
  if (pictures === undefined) return
  mkdirSync(pictures, { recursive: true })
  await browser.screenshot(join(pictures, `novu-${name}.png`))
}

const click = (name: string) => browser.value(`document.querySelector('.nv-${name}').click()`)
const has = (name: string) => browser.until(`document.querySelector('.nv-${name}') !== null`)
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
