// One service with the built dashboard and one browser for all stories: the service as `npm start` runs it, on a database of its own.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Json } from '../support/app.ts'
import { chromium } from '../support/browser.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import { projectRoot } from '../support/project-root.ts'
import type { Service } from '../support/service.ts'
import { ServiceScene } from '../support/service.ts'

export const noBrowser = chromium === undefined && 'there is no Chromium on this machine'
export const developmentKey = 'story-key-of-development'
export const productionKey = 'story-key-of-production'
/** A page that has not shown what it should by then does not work. */
export const waitMaxMs = 60_000

/** What axe finds, beside what a browser itself complains of. */
const axeSource = (): string => fromDashboard.resolve('axe-core/axe.min.js')
const fromDashboard = createRequire(join(projectRoot, 'dashboard', 'package.json'))

export class DashboardScene {
  readonly #scene = new ServiceScene()
  #database: TestDatabase | undefined
  #browser: Json
  #variables: Readonly<Record<string, string>> = {}
  service: Service | undefined
  /** What the pages complained of since it was last looked at. */
  readonly complaints: string[] = []
  /** Where pages may lead beside the service: an identity provider. */
  readonly friends: string[] = []

  async open(variables: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#database = await createTestDatabase()
    this.#variables = {
      DATABASE_URL: this.#database.url,
      POSTHORN_API_KEY: developmentKey,
      POSTHORN_API_KEY_2: productionKey,
      POSTHORN_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      POSTHORN_DATA_DIR: await this.#scene.directory(),
      POSTHORN_LOG_LEVEL: 'error',
      POSTHORN_DASHBOARD: 'on',
      ...variables,
    }
    this.service = await this.#scene.start(this.#variables)
    const playwright: Json = fromDashboard('playwright-core')
    this.#browser = await playwright.chromium.launch({
      executablePath: chromium,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    })
  }

  async close(): Promise<void> {
    await this.#browser?.close()
    await this.service?.stop()
    await this.#scene.close()
    await this.#database?.drop()
  }

  get url(): string {
    return this.service?.url ?? ''
  }

  /** The link that the start printed. */
  signInLink(): string {
    return /Dashboard\s+(http\S+)/.exec(this.service?.stdout() ?? '')?.[1] ?? ''
  }

  /** Runs a command beside the service. */
  command(...args: readonly string[]): Promise<{ stdout: string }> {
    return this.#scene.run(args, this.#variables)
  }

  async call(method: string, path: string, body?: unknown, key = developmentKey): Promise<Json> {
    const answer = await this.service?.call(method, path, key, body)
    assert.ok(answer !== undefined && answer.status < 300, `${method} ${path}: ${JSON.stringify(answer)}`)
    return answer.body
  }

  /** A browser of its own: no cookies of the others. `key` signs in. */
  async visitor({
    key,
    width = 1280,
    dark = false,
  }: {
    key?: string
    width?: number
    dark?: boolean
  } = {}): Promise<Json> {
    const context = await this.#browser.newContext({
      viewport: { width, height: 860 },
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
      baseURL: `${this.url}/`,
    })
    context.setDefaultTimeout(waitMaxMs)
    this.#listen(context)
    const page = await context.newPage()
    if (key !== undefined) {
      // As its page does it, which has stories of its own: here it would be a second page to load.
      const headers = { 'x-posthorn-dashboard': '*' }
      const opened = await context.request.post('v1/dashboard/sessions', { headers, data: { apiKey: key } })
      assert.equal(opened.status(), 201, await opened.text())
      await page.goto('')
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
    }
    return page
  }

  /** Of what the pages complained of, what was expected: calls refused with a status, or words. */
  forget(...expected: readonly (number | RegExp)[]): void {
    const isExpected = (text: string) =>
      expected.some((one) =>
        typeof one === 'number'
          ? text.includes(`Failed to load resource: the server responded with a status of ${one} `)
          : one.test(text),
      )
    this.complaints.splice(0, Number.POSITIVE_INFINITY, ...this.complaints.filter((text) => !isExpected(text)))
  }

  /** In every window of a browser, also in those that a page opens: errors, and requests to anywhere but the service. */
  #listen(context: Json): void {
    context.on('console', (message: Json) => {
      if (message.type() === 'error')
        this.complaints.push(`${message.page()?.url()}: ${message.text()} ${message.location().url}`)
    })
    context.on('weberror', (thrown: Json) =>
      this.complaints.push(`${thrown.page()?.url()}: uncaught ${thrown.error().message}`),
    )
    context.on('request', (request: Json) => {
      const { origin, protocol } = new URL(request.url())
      const isOutside = protocol.startsWith('http') && !this.#origins().has(origin)
      if (isOutside) this.complaints.push(`a request to ${request.url()}`)
    })
  }

  #origins(): Set<string> {
    return new Set([this.url, ...this.friends].map((url) => new URL(url).origin))
  }

  /** What axe finds wrong with a page, in short. */
  async violations(page: Json): Promise<string[]> {
    // The page's policy lets no script in; evaluating one is what the browser's own tools may do.
    await page.evaluate(readFileSync(axeSource(), 'utf8'))
    return page.evaluate(`axe.run(document, { iframes: false, resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map((node) => node.target.join(' ') + ' ' + (node.any[0]?.message ?? '')).join(' | ')))`)
  }
}
