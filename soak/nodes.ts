// A node: the built service as a process, started as an operator starts it, and killed without warning.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Installation } from './install.ts'

export interface NodeOptions {
  readonly name: string
  readonly installation: Installation
  readonly port: number
  readonly environment: Readonly<Record<string, string>>
  readonly logPath: string
}

const readyEveryMs = 20
/** A start under load takes a few seconds; one that waits for its database at most half a minute. */
const startMaxMs = 90_000
const stopMaxMs = 45_000

export class ServiceNode {
  readonly baseUrl: string
  readonly options: NodeOptions
  private child: ChildProcess | undefined
  private ended: Promise<void> = Promise.resolve()

  constructor(options: NodeOptions) {
    this.options = options
    this.baseUrl = `http://127.0.0.1:${options.port}`
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null
  }

  get pid(): number | undefined {
    return this.child?.pid
  }

  spawn(): void {
    const { installation, environment, logPath, port } = this.options
    const log = openSync(logPath, 'a')
    const { PATH = '', HOME = '' } = process.env
    const child = spawn(process.execPath, [...installation.startArgs], {
      cwd: installation.directory,
      env: { PATH, HOME, PORT: String(port), ...environment },
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.child = child
    this.ended = new Promise((resolve) => child.once('exit', () => resolve()))
  }

  /** Starts it, and resolves with the time at which it said that it is ready. */
  async start(): Promise<number> {
    this.spawn()
    return this.ready()
  }

  async ready(): Promise<number> {
    const deadline = Date.now() + startMaxMs
    const { child } = this
    while (Date.now() < deadline) {
      const isReady = await this.isReady()
      if (this.child !== child) throw new Error(`${this.options.name} was killed before it was ready`)
      if (isReady) return Date.now()
      if (!this.isRunning)
        throw new Error(`${this.options.name} ended instead of starting; see ${this.options.logPath}`)
      await sleep(readyEveryMs)
    }
    throw new Error(`${this.options.name} was not ready within ${startMaxMs / 1000} s; see ${this.options.logPath}`)
  }

  async isReady(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.baseUrl}/ready`, { signal: AbortSignal.timeout(2_000) })
      await answer.arrayBuffer()
      return answer.status === 200
    } catch {
      return false
    }
  }

  async kill(): Promise<void> {
    this.child?.kill('SIGKILL')
    await this.ended
  }

  freeze(): void {
    this.child?.kill('SIGSTOP')
  }

  thaw(): void {
    this.child?.kill('SIGCONT')
  }

  /** In order, or by force when that takes too long. */
  async stop(): Promise<void> {
    if (!this.isRunning) return
    this.thaw()
    this.child?.kill('SIGTERM')
    const late = setTimeout(() => this.child?.kill('SIGKILL'), stopMaxMs)
    await this.ended
    clearTimeout(late)
  }
}

/** A port that is free now; a node keeps it over all its lives. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
