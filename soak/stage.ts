// A scene's stage: its folder, sinks, nodes and database, all of them its own, all of them gone when it closes.
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientConfig } from 'pg'
import type { Random } from '../test/support/random.ts'
import type { Installation } from './install.ts'
import { install } from './install.ts'
import { freePort, ServiceNode } from './nodes.ts'
import type { SoakOptions } from './options.ts'
import { Pace } from './pace.ts'
import { apiKeys } from './people.ts'
import { between, randomFor } from './random.ts'
import { Recovery } from './recovery.ts'
import { Sinks } from './sinks.ts'

/** Every so many faults the service is left alone until what it owed has arrived. */
const calmEvery = 8
/** As the service writes it when a job fails by our own doing. */
const internalError = /"msg":"[^"]*internal error/
/** Between /ready and the next kill, where a start takes longer than the interval. */
const workAtLeastMs = [200, 1_500] as const
const lastLines = 4
/** A supervisor starts a service again when it ends by itself; this often, and no more. */
const startsMax = 5

export class Stage {
  readonly nodes: ServiceNode[] = []
  readonly recovery = new Recovery()
  readonly random: Random
  readonly pace: Pace
  /** Where the service finds the providers: the sinks, unless a scene puts something before them. */
  providers: { httpPort: number; smtpPort: number }
  /** For looking into the database past whatever stands between it and the nodes. */
  connection: ClientConfig = {}
  readonly startMs: number[] = []
  failedStarts = 0
  /** Nodes that ended though no one had killed them. */
  endedAlone = 0
  /** What a scene wants to be said of its result. */
  readonly remarks: string[] = []
  /** Set where the scene broke off: its data may show why. */
  keeps = false
  private readonly closers: (() => Promise<unknown> | unknown)[] = []

  readonly options: SoakOptions
  readonly directory: string
  readonly installation: Installation
  readonly sinks: Sinks

  private constructor(
    about: { options: SoakOptions; directory: string; installation: Installation; sinks: Sinks },
    kills: number,
  ) {
    const { options, directory, installation, sinks } = about
    this.options = options
    this.directory = directory
    this.installation = installation
    this.sinks = sinks
    this.random = randomFor(options.seed, 'faults')
    this.pace = new Pace({ kills, durationMs: options.durationMs })
    this.providers = { httpPort: sinks.httpPort, smtpPort: sinks.smtpPort }
  }

  static async open(options: SoakOptions, kills: number): Promise<Stage> {
    const directory = await mkdtemp(join(tmpdir(), 'posthorn-soak-'))
    // As root the database runs as another user, who must be able to enter.
    await chmod(directory, 0o711)
    const installation = await install(join(directory, 'app'))
    return new Stage({ options, directory, installation, sinks: await Sinks.start() }, kills)
  }

  /** Closed in the opposite order. */
  onClose(closer: () => Promise<unknown> | unknown): void {
    this.closers.push(closer)
  }

  async addNode(environment: Readonly<Record<string, string>>): Promise<ServiceNode> {
    const name = `node-${this.nodes.length + 1}`
    const node = new ServiceNode({
      name,
      installation: this.installation,
      port: await freePort(),
      logPath: join(this.directory, `${name}.log`),
      environment: {
        POSTHORN_DATA_DIR: join(this.directory, name),
        POSTHORN_API_KEY: apiKeys.d,
        POSTHORN_API_KEY_2: apiKeys.p,
        POSTHORN_OUTBOUND_ALLOW: '127.0.0.1',
        POSTHORN_LOG_LEVEL: 'info',
        POSTHORN_LOG_FORMAT: 'json',
        POSTHORN_RATE_LIMIT: 'off',
        ...environment,
      },
    })
    this.nodes.push(node)
    this.onClose(() => node.kill())
    return node
  }

  /** Starts a node; one that ends by itself is started again, as a supervisor would. */
  async start(node: ServiceNode): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      const startedAt = Date.now()
      try {
        const readyAt = await node.start()
        this.startMs.push(readyAt - startedAt)
        return readyAt
      } catch (error) {
        await node.kill()
        this.failedStarts++
        if (attempt === startsMax) throw error
      }
    }
  }

  get baseUrls(): string[] {
    return this.nodes.map(({ baseUrl }) => baseUrl)
  }

  /** The time until the next fault. */
  intervalMs(): number {
    return between(this.random, this.options.intervalMs)
  }

  /** Every so many faults the service is left alone, so that its recovery can be measured. */
  get isCalm(): boolean {
    return this.pace.count % calmEvery === 0
  }

  /**
   * A life of nodes that were just killed: started, and left to the next fault. That comes after the interval, counted
   * from the start; where the start itself takes longer, soon after /ready, so that every life has some work to lose. A
   * calm life is left until all that was owed has arrived. `othersAreUp`: work continues before they are back.
   */
  async live(nodes: readonly ServiceNode[], othersAreUp = false): Promise<void> {
    const startedAt = Date.now()
    const intervalMs = this.intervalMs()
    const workMs = between(this.random, workAtLeastMs)
    const starts = nodes.map((node) => this.start(node))
    this.recovery.ready(othersAreUp ? startedAt : await Promise.any(starts))
    const readyAt = Math.max(...(await Promise.all(starts)))
    await this.untilNextFault({ startedAt, readyAt, intervalMs, workMs })
  }

  async untilNextFault(life: {
    startedAt: number
    readyAt: number
    intervalMs: number
    workMs: number
  }): Promise<void> {
    const { startedAt, readyAt, intervalMs, workMs } = life
    if (this.isCalm) await this.recovery.calm()
    const untilAt = (this.options.from === 'ready' ? readyAt : startedAt) + intervalMs
    await sleep(Math.max(untilAt, readyAt + workMs) - Date.now())
  }

  /** Waits until some node says that it is ready, as after a fault of the database. */
  async someReady(): Promise<number> {
    return Promise.any(this.nodes.map((node) => node.ready()))
  }

  /** Starts what ended by itself, as a supervisor would. */
  async revive(): Promise<void> {
    for (const node of this.nodes) {
      if (node.isRunning) continue
      this.endedAlone++
      await this.start(node)
    }
  }

  /** Has every node ready, as at the end of the faults. */
  async startAll(): Promise<void> {
    for (const node of this.nodes) {
      const isUp = node.isRunning && (await node.ready().catch(() => undefined)) !== undefined
      if (!isUp) this.recovery.ready(await this.start(node))
    }
  }

  /** The end of every node's log, for when a scene breaks off. */
  async lastWords(): Promise<string[]> {
    const logs = this.nodes.map(({ options }) => readFile(options.logPath, 'utf8').catch(() => ''))
    return (await Promise.all(logs)).flatMap((log) => log.trimEnd().split('\n').slice(-lastLines))
  }

  /** What no fault of a scene explains: errors of ours, each kind once. */
  async internalErrors(): Promise<string[]> {
    const logs = this.nodes.map(({ options }) => readFile(options.logPath, 'utf8').catch(() => ''))
    const lines = (await Promise.all(logs)).flatMap((log) => log.split('\n')).filter((line) => internalError.test(line))
    return [...new Set(lines.map((line) => /"message":"(.*?)"/.exec(line)?.[1] ?? line))].map(
      (message) => `internal error: ${message}`,
    )
  }

  async close(): Promise<void> {
    for (const closer of this.closers.reverse()) await closer()
    await this.sinks.stop()
    if (!this.options.keep && !this.keeps)
      await rm(this.directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}
