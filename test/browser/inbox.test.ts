// <posthorn-inbox> in a real browser: on the demo page, and on a page of another origin.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, before, mock, test } from 'node:test'
import { blocksOf } from '../docs/blocks.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { Browser, chromium } from '../support/browser.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { hmac, identifierOf } from '../support/inbox-scene.ts'
import { projectRoot } from '../support/project-root.ts'
import { addressOf, withoutSweeps } from '../support/stream-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

const skip = chromium === undefined && 'there is no Chromium on this machine'
/** SCREENSHOTS names a folder: pictures are left there. */
const pictures = process.env['SCREENSHOTS']

let app: TestApp
let scene: FlowScene
let base: string
let browser: Browser
let shop: string
const pages = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(page)
})
let page = ''
before(async () => {
  if (chromium === undefined) return
  withoutSweeps(mock)
  app = await createTestApp({ works: true, inboxDemo: 'local' })
  scene = new FlowScene(app)
  base = await addressOf(app)
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
  const address = pages.address()
  shop = typeof address === 'object' ? `http://127.0.0.1:${address?.port}/` : ''
  browser = new Browser(chromium)
})
after(async () => {
  await browser?.close()
  pages.close()
  await app?.close()
})

async function picture(name: string): Promise<void> {
  if (pictures === undefined) return
  mkdirSync(pictures, { recursive: true })
  await browser.screenshot(join(pictures, `${name}.png`))
}

async function openShop(subscriber: string, more = '', origin = base): Promise<void> {
  const application = await identifierOf(app)
  // The page's clock is that of the service.
  page = `<!doctype html><html lang="en"><body style="margin:16px;text-align:end"><script>Date.now = () => ${app.world.now().getTime()}</script><script src="${origin}/inbox.js"></script>
    <posthorn-inbox application="${application}" subscriber="${subscriber}" ${more}></posthorn-inbox></body></html>`
  await browser.open(shop)
  await browser.resize(900, 700)
}

const root = `document.querySelector('posthorn-inbox').shadowRoot`
const textOf = (selector: string): string => `${root}.querySelector('${selector}')?.textContent`
const click = (selector: string): Promise<Json> => browser.value(`${root}.querySelector('${selector}').click()`)
const rows = `[...${root}.querySelectorAll('li .main')].map((one) => one.innerText)`
const rowCount = (count: number): Promise<void> => browser.until(`${root}.querySelectorAll('li').length === ${count}`)

test('the demo page sends itself a first notification, and is used by keyboard alone', { skip }, async () => {
  await browser.open(`${base}/demo/inbox`)
  await browser.resize(900, 700)
  await browser.until(`${textOf('.badge')} === '1'`)
  await browser.value(`${root}.querySelector('.bell').focus()`)
  await browser.press('Enter')
  await rowCount(1)
  await picture('demo-open')
  const spoken = await browser.spoken()
  for (const expected of ['dialog: Notifications', 'heading: Notifications', 'button: Settings', 'button: Archive']) {
    assert.ok(spoken.includes(expected), `${expected} is not among ${JSON.stringify(spoken)}`)
  }
  assert.ok(
    spoken.some((one) => /^button: Notifications, 1 unread/.test(one)),
    JSON.stringify(spoken),
  )
  await browser.value(`document.querySelector('#send').click()`)
  await rowCount(2)
  assert.match(await browser.value(textOf('[role=status]')), /^New notification: Notification number/)
  await browser.press('ArrowDown', 'ArrowDown')
  assert.match(await browser.value(`${root}.activeElement.innerText`), /Welcome/)
  await browser.press('Enter')
  await browser.until(`${textOf('.badge')} === '1'`)
  await browser.press('Escape')
  assert.equal(await browser.value(`${root}.querySelector('.panel').hidden`), true)
  assert.equal(await browser.value(`${root}.activeElement.className`), 'bell')
  assert.deepEqual(browser.complaints, [])
})

test('on a page of another origin: count, new ones, marks, snooze, an action, delete', { skip }, async () => {
  const cta = { type: 'redirect', action: { buttons: [{ type: 'primary', content: 'Track' }] } }
  const workflow = await scene.workflow([
    { template: { type: 'in_app', subject: 'Order {{ payload.id }}', content: '**Shipped** today', cta } },
  ])
  await scene.run(workflow, 'ada', { payload: { id: 1 } })
  await openShop('ada')
  await browser.until(`${textOf('.badge')} === '1'`)
  await scene.run(workflow, 'ada', { payload: { id: 2 } })
  // Without a reload, by the stream.
  await browser.until(`${textOf('.badge')} === '2'`)
  await click('.bell')
  await rowCount(2)
  await picture('shop-list')
  assert.match((await browser.value(rows))[0], /Order 2[\s\S]*Shipped today/)
  assert.equal(await browser.value(textOf('li strong')), 'Shipped')
  await click('li .primary')
  await browser.until(`${root}.querySelector('li .primary').disabled`)
  await click('li .main')
  await browser.until(`${textOf('.badge')} === '1'`)
  await click('li [aria-label=Archive]')
  await rowCount(1)
  await browser.value(`(() => {
    const select = ${root}.querySelector('li select')
    select.value = '24'
    select.dispatchEvent(new Event('change'))
  })()`)
  await rowCount(0)
  await picture('shop-empty')
  await click('.tabs button:nth-child(4)')
  await rowCount(1)
  await click('li [aria-label="End snooze"]')
  await rowCount(0)
  await click('.tabs button:nth-child(3)')
  await rowCount(1)
  await click('li [aria-label=Delete]')
  await rowCount(0)
  await click('.tabs button:nth-child(1)')
  await rowCount(1)
})

test('what comes while the service is away is there after its restart', { skip }, async () => {
  const workflow = await scene.workflow([inApp('Order {{ payload.id }}')])
  const first = await createTestApp({ nodeOf: app })
  const address = await addressOf(first)
  await openShop('bea', `url="${address}"`)
  await scene.run(workflow, 'bea', { payload: { id: 1 } })
  await click('.bell')
  await rowCount(1)
  await first.close()
  await scene.run(workflow, 'bea', { payload: { id: 2 } })
  const second = await createTestApp({ nodeOf: app })
  await addressOf(second, Number(new URL(address).port))
  await rowCount(2)
  await browser.until(`${textOf('.badge')} === '2'`)
  await openShop('nobody')
  await second.close()
})

test('a script that comes from below a path asks its service there', { skip }, async () => {
  const below = await createTestApp({ nodeOf: app, baseUrl: 'https://example.com/posthorn' })
  const origin = await addressOf(below)
  await scene.run(await scene.workflow([inApp('Below')]), 'dora')
  await openShop('dora', '', `${origin}/posthorn`)
  await browser.until(`${textOf('.badge')} === '1'`)
  const asked = await browser.value(`performance.getEntriesByType('resource').map(({ name }) => name)`)
  assert.ok(asked.includes(`${origin}/posthorn/v1/inbox/session`), JSON.stringify(asked))
  await openShop('dora')
  await below.close()
})

test('preferences, dark, right to left and narrow', { skip }, async () => {
  await scene.workflow([email(), inApp()], { name: 'Weekly news' })
  const workflow = await scene.workflow([inApp('مرحبا {{ payload.id }}')])
  await scene.run(workflow, 'cleo', { payload: { id: 1 } })
  await openShop('cleo', 'locale="ar"')
  await browser.scheme('dark')
  await click('.bell')
  await rowCount(1)
  assert.equal(await browser.value(`getComputedStyle(${root}.querySelector('.panel')).direction`), 'rtl')
  await picture('dark-arabic')
  await browser.value(`document.querySelector('posthorn-inbox').setAttribute('locale', 'de')`)
  await browser.until(`${textOf('h2')} === 'Benachrichtigungen'`)
  await click('header button:last-child')
  await browser.until(`${root}.querySelectorAll('fieldset').length > 1`)
  await picture('dark-settings')
  await click('fieldset input')
  await browser.resize(360, 640)
  await browser.scheme('light')
  await picture('narrow-settings')
  await click('header button')
  await rowCount(1)
  await picture('narrow-list')
})

test('the script and the element that docs/inbox.md prints are a bell', { skip }, async () => {
  const guide = readFileSync(join(projectRoot, 'docs', 'inbox.md'), 'utf8')
  const [printed, ...others] = blocksOf('docs/inbox.md', guide).filter(({ language }) => language === 'html')
  assert.equal(others.length, 0, 'each page of the guide has to be opened here')
  // What a reader of the guide replaces: the host, the application and the hash.
  const values = [
    ['https://posthorn.example', base],
    ['Wn3kfM2Qp0aZ', await identifierOf(app)],
    ['9f86d0…', hmac(app.developmentKey, 'user-1')],
  ] as const
  const own = values.reduce((text, [shown, value]) => {
    assert.ok(text.includes(shown), shown)
    return text.replaceAll(shown, value)
  }, printed?.text ?? '')
  await scene.trigger(await scene.workflow([inApp('As printed')]), 'user-1')
  page = `<!doctype html><html lang="en"><body>${own}</body></html>`
  await browser.open(shop)
  await browser.until(`${textOf('.badge')} === '1'`)
  await click('.bell')
  await rowCount(1)
  assert.match(String(await browser.value(rows)), /As printed/)
})
