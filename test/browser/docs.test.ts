// The API reference in a real browser: it shows every operation, light and dark, and nothing violates its policy.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { Browser, chromium } from '../support/browser.ts'
import { addressOf } from '../support/stream-scene.ts'

const skip = chromium === undefined && 'there is no Chromium on this machine'
/** SCREENSHOTS names a folder: pictures are left there. */
const pictures = process.env['SCREENSHOTS']

let app: TestApp
let base: string
let browser: Browser
before(async () => {
  if (chromium === undefined) return
  app = await createTestApp({ docs: 'on' })
  base = await addressOf(app)
  browser = new Browser(chromium)
})
after(async () => {
  await browser?.close()
  await app?.close()
})

async function picture(name: string): Promise<void> {
  if (pictures === undefined) return
  mkdirSync(pictures, { recursive: true })
  await browser.screenshot(join(pictures, `${name}.png`))
}

/** Violations are also counted by the page itself, whatever its console shows. */
async function openDocs(scheme: 'light' | 'dark'): Promise<void> {
  browser.complaints.length = 0
  await browser.open(`${base}/docs/`)
  await browser.scheme(scheme)
  await browser.resize(1200, 900)
  await browser.value(`void (window.violations = [],
    document.addEventListener('securitypolicyviolation', (one) => window.violations.push(one.violatedDirective)))`)
}

const textOfPage = 'document.body.innerText'

const violations = (): Promise<string[]> => browser.value('window.violations')

async function assertNoViolation(): Promise<void> {
  const styles = await browser.value(`[...document.querySelectorAll('style')].map((one) => one.sheet !== null)`)
  assert.ok(styles.length > 0 && styles.every(Boolean), `a style was refused: ${JSON.stringify(styles)}`)
  assert.deepEqual([await violations(), browser.complaints], [[], []])
}

for (const scheme of ['light', 'dark'] as const) {
  test(`the reference shows its operations in ${scheme} colours, and violates no policy`, { skip }, async () => {
    await openDocs(scheme)
    await browser.until(`${textOfPage}.includes('Trigger an event')`)
    await picture(`docs-${scheme}`)
    await assertNoViolation()
  })
}

test('a request is tried from the page, and violates no policy', { skip }, async () => {
  await openDocs('light')
  const button = `[...document.querySelectorAll('button')].find((one) => /test request/i.test(one.innerText))`
  await browser.until(`${button} !== undefined`)
  await browser.value(`${button}.click()`)
  await browser.until(`document.querySelector('.cm-editor') !== null`)
  await picture('docs-request')
  await assertNoViolation()
})

test('a style that arrives as markup is refused', { skip }, async () => {
  await openDocs('light')
  await browser.value(
    `document.body.insertAdjacentHTML('beforeend', '<style>p { color: red }</style><p style="color: red">a</p>')`,
  )
  await browser.until('window.violations.length === 2')
  assert.deepEqual((await violations()).sort(), ['style-src-attr', 'style-src-elem'])
})
