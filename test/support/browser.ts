// A real browser, where the machine has one: Chromium without a window, spoken to over a pipe in its own protocol.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Json } from './app.ts'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Undefined where there is none: tests that need it are then skipped. */
export const chromium = places.find((place) => existsSync(place))

const answerMs = 120_000

/** Their number, the text they type, their name. */
const codes = {
  Tab: [9, '', 'Tab'],
  Space: [32, ' ', ' '],
  Enter: [13, '\r', 'Enter'],
  Escape: [27, '', 'Escape'],
  ArrowDown: [40, '', 'ArrowDown'],
  ArrowUp: [38, '', 'ArrowUp'],
  End: [35, '', 'End'],
} as const

export class Browser {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #waiting = new Map<number, (answer: Json) => void>()
  readonly #events = new Map<string, () => void>()
  /** What the page complained of: scripts, styles and forms that its policy refused, files that were not there. */
  readonly complaints: string[] = []
  #session = ''
  /** The tabs that are not spoken to now. */
  readonly #tabs: string[] = []
  #sent = 0

  constructor(path: string) {
    this.#folder = mkdtempSync(join(tmpdir(), 'posthorn-browser-'))
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe', '--no-first-run']
    this.#child = spawn(path, [...flags, `--user-data-dir=${this.#folder}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    })
    let text = ''
    const answers = this.#child.stdio[4] as Readable
    answers.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (text + chunk).split('\0')
      text = parts.pop() ?? ''
      for (const part of parts) this.#hear(JSON.parse(part))
    })
  }

  async open(url: string): Promise<void> {
    const { targetInfos } = await this.#ask('Target.getTargets')
    const { targetId } = targetInfos.find((one: Json) => one.type === 'page')
    this.#session = (await this.#ask('Target.attachToTarget', { targetId, flatten: true })).sessionId
    for (const domain of ['Page', 'Runtime', 'Log', 'Accessibility']) await this.#ask(`${domain}.enable`)
    await this.#load(() => this.#ask('Page.navigate', { url }))
  }

  /** Another tab of the same browser, which is then the one that is spoken to. */
  async openTab(url: string): Promise<void> {
    this.#tabs.push(this.#session)
    const { targetId } = await this.#ask('Target.createTarget', { url: 'about:blank' })
    this.#session = (await this.#ask('Target.attachToTarget', { targetId, flatten: true })).sessionId
    for (const domain of ['Page', 'Runtime', 'Log', 'Accessibility']) await this.#ask(`${domain}.enable`)
    await this.#load(() => this.#ask('Page.navigate', { url }))
  }

  /** Back to the tab before, or forward again. In front: what is behind draws nothing, and its timers wait. */
  async switchTab(): Promise<void> {
    const other = this.#tabs.pop() ?? this.#session
    this.#tabs.push(this.#session)
    this.#session = other
    await this.#ask('Page.bringToFront')
  }

  /** Closes the tab that is not in front. */
  async closeOtherTab(): Promise<void> {
    const [own, other] = [this.#session, this.#tabs.pop()]
    if (other === undefined) return
    this.#session = other
    await this.#ask('Page.close')
    this.#session = own
  }

  /** Presses keys one after the other. */
  async press(...keys: readonly (keyof typeof codes)[]): Promise<void> {
    for (const code of keys) {
      const [windowsVirtualKeyCode, text, key] = codes[code]
      const pressed = { code, key, windowsVirtualKeyCode, ...(text === '' ? {} : { text }) }
      await this.#ask('Input.dispatchKeyEvent', { type: text === '' ? 'rawKeyDown' : 'keyDown', ...pressed })
      await this.#ask('Input.dispatchKeyEvent', { type: 'keyUp', code, key, windowsVirtualKeyCode })
    }
  }

  /** Presses a key that leads to another page. */
  submit(key: 'Space' | 'Enter'): Promise<void> {
    return this.#load(() => this.press(key))
  }

  /** Of a promise, what it comes to. */
  async value(expression: string): Promise<Json> {
    const asked = { expression, returnByValue: true, awaitPromise: true }
    const { result, exceptionDetails } = await this.#ask('Runtime.evaluate', asked)
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? 'a script failed')
    return result.value
  }

  /** When the expression has become true. */
  async until(expression: string): Promise<void> {
    for (let startedAt = performance.now(); performance.now() - startedAt < answerMs; ) {
      if ((await this.value(expression)) === true) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error(`It did not become true: ${expression}`)
  }

  async resize(width: number, height: number): Promise<void> {
    await this.#ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
  }

  async scheme(name: 'light' | 'dark'): Promise<void> {
    await this.#ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: name }] })
  }

  /** A picture of the page, for people to look at. */
  async screenshot(path: string): Promise<void> {
    const { data } = await this.#ask('Page.captureScreenshot', { format: 'png' })
    writeFileSync(path, Buffer.from(data, 'base64'))
  }

  /** What a screen reader is notified, as `role: name`, in order. */
  async spoken(): Promise<string[]> {
    const { nodes } = await this.#ask('Accessibility.getFullAXTree')
    return nodes
      .filter((node: Json) => !node.ignored && node.name?.value)
      .map((node: Json) => `${node.role.value}: ${node.name.value}`)
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await ended
    // Its own children end a little later, and write to the last.
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }

  async #load(act: () => Promise<unknown>): Promise<void> {
    const loaded = new Promise<void>((resolve) => this.#events.set('Page.loadEventFired', resolve))
    await act()
    await inTime(loaded, 'the page did not load')
  }

  #ask(method: string, params: object = {}): Promise<Json> {
    this.#sent += 1
    const id = this.#sent
    const isOfPage = !method.startsWith('Target.')
    const pipe = this.#child.stdio[3] as Writable
    const answered = new Promise<Json>((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)))
    })
    pipe.write(`${JSON.stringify({ id, method, params, ...(isOfPage ? { sessionId: this.#session } : {}) })}\0`)
    return inTime(answered, `${method} was not answered`)
  }

  #hear(heard: Json): void {
    if (heard.id !== undefined) this.#waiting.get(heard.id)?.(heard)
    else if (heard.method === 'Log.entryAdded')
      this.complaints.push(`${heard.params.entry.text} ${heard.params.entry.url ?? ''}`.trim())
    else this.#events.get(heard.method)?.()
  }
}

async function inTime<Value>(work: Promise<Value>, otherwise: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(otherwise)), answerMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
