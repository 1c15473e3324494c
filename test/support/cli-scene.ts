// Commands against a running service: the service on loopback with its worker, and a terminal that a test stands in for.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { Readable, Writable } from 'node:stream'
import type { Terminal } from '../../src/cli/command.ts'
import type { Host } from '../../src/cli/posthorn.ts'
import { main } from '../../src/cli/posthorn.ts'
import type { Config } from '../../src/config.ts'
import { readConfig } from '../../src/config.ts'
import type { Running } from '../../src/main.ts'
import { start } from '../../src/main.ts'
import { silentLog } from '../../src/world/log.ts'
import type { Json } from './app.ts'
import type { TestDatabase } from './database.ts'
import { createTestDatabase } from './database.ts'

export interface RunOptions {
  readonly env?: Record<string, string>
  /** What is typed, or comes in from another program. */
  readonly input?: string
  /** A terminal of so many characters; none without it. */
  readonly width?: number
  /** Called at every pause of the command. Returning `stop` is Ctrl-C. */
  readonly onPause?: (stdout: string) => Promise<'stop' | undefined> | 'stop' | undefined
  /** The reader goes away after so many lines. */
  readonly readsLines?: number
}

export interface Ran {
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

const key = 'test-key-of-development'
const productionKey = 'test-key-of-production'
/** Far more pauses than a test means to see: a command that never ends fails instead. */
const pausesMax = 500

export class CliScene {
  readonly database: TestDatabase
  readonly service: Running
  readonly productionKey = productionKey
  /** Where there is nothing: a command that opens a database would not come far. */
  readonly env: Record<string, string>

  private constructor(database: TestDatabase, service: Running) {
    this.database = database
    this.service = service
    this.env = {
      POSTHORN_URL: service.url,
      POSTHORN_API_KEY: key,
      POSTHORN_API_KEY_2: productionKey,
      POSTHORN_PROFILES: '/nonexistent/profiles.json',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
      POSTHORN_DATABASE_WAIT_MS: '0',
    }
  }

  static async start(dataDirectory: string): Promise<CliScene> {
    const database = await createTestDatabase()
    const { config } = readConfig({
      PORT: '0',
      DATABASE_URL: database.url,
      POSTHORN_DATA_DIR: dataDirectory,
      POSTHORN_API_KEY: key,
      POSTHORN_API_KEY_2: productionKey,
    })
    return new CliScene(database, await start(config, silentLog))
  }

  async close(): Promise<void> {
    await this.service.stop()
    await this.database.drop()
  }

  async call(method: string, path: string, body?: unknown, withKey = key): Promise<Json> {
    const answer = await fetch(`${this.service.url}${path}`, {
      method,
      headers: {
        authorization: `ApiKey ${withKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${answer.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    return runCommand(args, { ...options, env: { ...this.env, ...options.env } })
  }
}

/** A command in this process: what it answers, what it says beside it, and its exit code. */
export async function runCommand(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const texts = { stdout: '', stderr: '' }
  const streamTo = (name: keyof typeof texts): Writable =>
    new Writable({
      write(chunk, _encoding, done) {
        const isGone = name === 'stdout' && texts.stdout.split('\n').length > (options.readsLines ?? Infinity)
        if (isGone) return done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
        texts[name] += String(chunk)
        done()
      },
    })
  const stops: (() => void)[] = []
  let pauses = 0
  const host: Host = {
    env: options.env ?? {},
    stdout: terminalOf(streamTo('stdout'), options.width),
    stderr: streamTo('stderr'),
    stdin: terminalOf(Readable.from([options.input ?? '']), options.width),
    once: (_signal, listener) => stops.push(listener),
    pause: async () => {
      pauses += 1
      assert.ok(pauses < pausesMax, `The command does not end: ${JSON.stringify(texts)}`)
      if ((await options.onPause?.(texts.stdout)) === 'stop') for (const stop of stops) stop()
      // A turn, so that the service in this very process gets on with its work.
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
  await main(args, host)
  return { code: host.exitCode ?? 0, ...texts }
}

/** An address at which nothing answers: its port was free just before. */
export async function unusedUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

/** A terminal at which no one sits, for a command that is called without `main`. */
export const standInTerminal = (config: Config): Terminal => ({
  config,
  settings: { mistakes: [], warnings: [] },
  log: silentLog,
  width: undefined,
  print: () => {},
  write: () => {},
  note: () => {},
  readInput: async () => '',
  untilStopped: () => new AbortController().signal,
  pause: async () => {},
})

const terminalOf = <Stream extends object>(stream: Stream, columns: number | undefined): Stream =>
  columns === undefined ? stream : Object.assign(stream, { isTTY: true, columns })

/** What a command wrote to a file, a JSON value a line. */
export const linesIn = async (path: string): Promise<Json[]> =>
  (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
