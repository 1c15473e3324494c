// The public Inbox of @novu/react, unchanged, in a real browser: where its packages are installed.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, mock, test } from 'node:test'
import { blocksOf } from '../docs/blocks.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { Browser, chromium } from '../support/browser.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { hmac, identifierOf } from '../support/inbox-scene.ts'
import { bundled, PackagePage } from '../support/package-page.ts'
import { projectRoot } from '../support/project-root.ts'
import { hasPackage, versionOf, withoutPackage } from '../support/public-packages.ts'
import { addressOf, withoutSweeps } from '../support/stream-scene.ts'

/** `@novu/react`, or what stands on it: `@novu/nextjs`. `@novu/js` is below both, and its own interface is tried as well. */
const name = process.env['NOVU_INBOX'] ?? '@novu/react'
const skip = chromium === undefined ? 'there is no Chromium on this machine' : withoutPackage(name)
const pictures = process.env['SCREENSHOTS']

/** Severities, tag groups and snoozes are newer than version 2. */
const skipOld = skip || (versionOf(name).includes(' 2.') && 'version 2 does not have it')

const entries: Readonly<Record<string, string>> = {
  '@novu/js': `
    import { NovuUI } from '@novu/js/ui'
    const { tabs, showsNumbers, ...options } = globalThis.options
    const numbers = (element, count) => {
      element.innerHTML = '<b id="numbers"></b>'
      element.firstChild.textContent = JSON.stringify(count)
      return () => {}
    }
    const ui = new NovuUI({ options, ...(tabs === undefined ? {} : { tabs }) })
    const props = showsNumbers ? { renderBell: numbers } : {}
    ui.mountComponent({ name: 'Inbox', element: document.querySelector('#root'), props })`,
}
const reactEntry = `
  import { createElement } from 'react'
  import { createRoot } from 'react-dom/client'
  import { Inbox } from '${name}'
  const { showsNumbers, ...options } = globalThis.options
  const numbers = (count) => createElement('b', { id: 'numbers' }, JSON.stringify(count))
  const props = showsNumbers ? { ...options, renderBell: numbers } : options
  createRoot(document.querySelector('#root')).render(createElement(Inbox, props))`

let app: TestApp
let scene: FlowScene
let base: string
let browser: Browser
let script = ''
const page = new PackagePage()
before(async () => {
  if (chromium === undefined || !hasPackage(name)) return
  script = await bundled(entries[name] ?? reactEntry)
  withoutSweeps(mock)
  app = await createTestApp({ works: true })
  scene = new FlowScene(app)
  base = await addressOf(app)
  await page.listen()
  browser = new Browser(chromium)
})
after(async () => {
  await browser?.close()
  page.close()
  await app?.close()
})

async function openPage(subscriberId: string, address: string, more: object = {}): Promise<void> {
  const applicationIdentifier = await identifierOf(app)
  page.options = { applicationIdentifier, subscriberId, backendUrl: address, socketUrl: address, ...more }
  page.script = script
  await browser.open(page.url)
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

test('a new notification is announced by the socket, without a reload', { skip }, async () => {
  const workflow = await scene.workflow([{ template: { type: 'in_app', content: 'Quick' } }])
  await openPage('cyd', base)
  await has('inbox__popoverTrigger')
  await browser.value(`new Promise((resolve) => setTimeout(resolve, 500))`)
  assert.equal(await browser.value(`document.querySelector('.nv-bellDot') === null`), true)
  await scene.run(workflow, 'cyd')
  await has('bellDot')
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

const tabNumbers = (numbers: string) =>
  browser.until(
    `[...document.querySelectorAll('.nv-notificationsTabsTriggerCount')].map((one) => one.innerText).join() === '${numbers}'`,
  )

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
  await tabNumbers('3,1,2')
  await press('notificationsTabs__tabsTrigger', 1)
  await browser.until(
    `[...document.querySelectorAll('.nv-notification')].filter((one) => one.offsetParent !== null).length === 1`,
  )
  await shows('Of news')
  await picture('tabs')
})

test('tabs with groups of tags, with data and with a severity have their own numbers', { skip: skipOld }, async () => {
  const say = async (tags: string[], severity: string, data: object): Promise<void> => {
    const template = { type: 'in_app', content: 'One', data }
    await scene.run(await scene.workflow([{ template }], { tags, severity }), 'tia')
  }
  await say(['news', 'shop'], 'high', { kind: 'a' })
  await say(['news', 'shop'], 'none', { kind: 'a' })
  await say(['news'], 'none', { kind: 'a' })
  await say(['other'], 'high', { kind: 'b', at: { place: 1 } })
  await openPage('tia', base, {
    tabs: [
      { label: 'All', filter: { tags: [] } },
      { label: 'Both', filter: { tags: { and: [{ or: ['news'] }, { or: ['shop', 'x'] }] } } },
      { label: 'Data', filter: { data: { kind: 'a' } } },
      { label: 'Deep', filter: { data: { at: { place: [1, 2] } } } },
      { label: 'High', filter: { severity: ['high'] } },
    ],
  })
  await has('bellDot')
  await click('inbox__popoverTrigger')
  await items(4)
  await tabNumbers('4,2,3,1,2')
  await picture('filters')
})

test('the bell has the number of each severity, also of one that comes', { skip: skipOld }, async () => {
  const workflowOf = (severity: string) =>
    scene.workflow([{ template: { type: 'in_app', content: severity } }], { severity })
  const [high, medium, none] = [await workflowOf('high'), await workflowOf('medium'), await workflowOf('none')]
  for (const workflow of [high, high, medium, none]) await scene.run(workflow, 'sue')
  await openPage('sue', base, { showsNumbers: true })
  const numbers = (expected: object) =>
    browser.until(`(() => {
      const { total, severity } = JSON.parse(document.querySelector('#numbers')?.textContent ?? '{}')
      const expected = ${JSON.stringify(expected)}
      return total === 4 + expected.more && ['high', 'medium', 'low', 'none'].every((name) => severity[name] === expected[name])
    })()`)
  await numbers({ more: 0, high: 2, medium: 1, low: 0, none: 1 })
  await scene.run(medium, 'sue')
  await numbers({ more: 1, high: 2, medium: 2, low: 0, none: 1 })
  await openPage('sue', base)
  await has('severityHigh__bellContainer')
  await picture('severity')
})

test('what docs/inbox.md prints for this package works as it stands there', { skip: skipOld }, async () => {
  const guide = blocksOf('docs/inbox.md', readFileSync(join(projectRoot, 'docs', 'inbox.md'), 'utf8'))
  const language = name === '@novu/js' ? 'ts' : 'tsx'
  const [printed, ...others] = guide.filter((block) => block.language === language)
  assert.equal(others.length, 0, 'each block of the guide has to be tried here')
  // What a reader of the guide replaces: the host and the application, and the package by the one beside it.
  const own = (printed?.text ?? '')
    .replaceAll('https://posthorn.example', base)
    .replaceAll('Wn3kfM2Qp0aZ', await identifierOf(app))
    .replace(`'@novu/react'`, `'${name}'`)
  const around =
    language === 'ts'
      ? `globalThis.said = []; console.log = (text) => globalThis.said.push(text);`
      : `import { createRoot } from 'react-dom/client'
         createRoot(document.querySelector('#root')).render(<Bell hash="${hmac(app.developmentKey, 'user-1')}" />)`
  page.script = await bundled(`${own}\n${around}`, language)
  const workflow = await scene.workflow([{ template: { type: 'in_app', subject: 'As printed', content: 'Hello' } }])
  await browser.open(page.url)
  await browser.value(`new Promise((resolve) => setTimeout(resolve, 500))`)
  await scene.run(workflow, 'user-1')
  if (language === 'ts') await browser.until(`globalThis.said.includes('As printed')`)
  else {
    await has('bellDot')
    await click('inbox__popoverTrigger')
    await shows('As printed')
    await picture('guide')
  }
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
  await browser.openTab(page.url)
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

/** Before its socket is open the package hears of nothing. */
async function isConnected(subscriberId: string): Promise<void> {
  const isOnline = async () => (await app.call('GET', `/v2/subscribers/${subscriberId}`)).body.isOnline
  for (let tries = 0; (await isOnline()) !== true; tries += 1) {
    assert.ok(tries < 200, `${subscriberId} is not online`)
    await browser.value(`new Promise((resolve) => setTimeout(resolve, 50))`)
  }
}

test('what comes while the service is away is there after its restart', { skip }, async () => {
  const workflow = await scene.workflow([{ template: { type: 'in_app', content: 'Order {{ payload.id }}' } }])
  const first = await createTestApp({ nodeOf: app })
  const address = await addressOf(first)
  await scene.run(workflow, 'bea', { payload: { id: 1 } })
  await openPage('bea', address)
  await has('bellDot')
  await click('inbox__popoverTrigger')
  await items(1)
  await isConnected('bea')
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
