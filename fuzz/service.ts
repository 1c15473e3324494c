// The built service as a process of its own, with the hook that measures its turns.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const developmentKey = 'fuzz-development-key-0123456789'
export const productionKey = 'fuzz-production-key-0123456789'

/** One stretch of main-thread work, as the hook saw it. */
export interface Turn {
  readonly from: number
  readonly to: number
  readonly cpuMs: number
}

export interface FuzzedService {
  readonly origin: string
  readonly pid: number
  /** Every stretch over 50 ms so far. */
  turns(): Turn[]
  output(): string
  hasEnded(): boolean
  stop(): Promise<void>
}

/** A start takes a second or two; a busy machine may need many. */
const startMsMax = 90_000
const stopMsMax = 30_000
const outputKept = 200_000

const { start } = (JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } }).scripts
/** What `npm start` runs, word for word, without the `exec node` before it. */
const startArgs = start.split(' ').slice(2)

export async function startService(): Promise<FuzzedService> {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-fuzz-'))
  // As root PostgreSQL runs as another user, who must be able to enter.
  await chmod(directory, 0o711)
  const turnsFile = join(directory, 'turns.jsonl')
  const hook = pathToFileURL(join(process.cwd(), 'fuzz', 'hook.mjs')).href
  const { PATH = '', HOME = '', DATABASE_URL } = process.env
  const child = spawn(process.execPath, ['--import', hook, ...startArgs], {
    env: {
      PATH,
      HOME,
      PORT: '0',
      POSTHORN_DATA_DIR: join(directory, 'data'),
      POSTHORN_API_KEY: developmentKey,
      POSTHORN_API_KEY_2: productionKey,
      POSTHORN_RATE_LIMIT: 'off',
      POSTHORN_LOG_LEVEL: 'error',
      POSTHORN_LOG_FORMAT: 'json',
      POSTHORN_FUZZ_TURNS: turnsFile,
      ...(DATABASE_URL === undefined ? {} : { DATABASE_URL }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = collect(child)
  let hasEnded = false
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      hasEnded = true
      resolve()
    })
  })
  const origin = await addressOf(output, () => hasEnded)
  return {
    origin,
    pid: child.pid ?? 0,
    turns: () => (existsSync(turnsFile) ? readTurns(turnsFile) : []),
    output,
    hasEnded: () => hasEnded,
    stop: async () => {
      if (!hasEnded) child.kill('SIGTERM')
      const last = setTimeout(() => child.kill('SIGKILL'), stopMsMax)
      await ended
      clearTimeout(last)
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    },
  }
}

function readTurns(file: string): Turn[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  // The last one may be half written.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Turn)
}

function collect(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-outputKept)
    })
  }
  return () => text
}

async function addressOf(output: () => string, hasEnded: () => boolean): Promise<string> {
  const deadline = performance.now() + startMsMax
  for (;;) {
    const found = /running at (http:\/\/\S+?:\d+)/.exec(output())?.[1]
    if (found !== undefined) return found
    if (hasEnded()) throw new Error(`The service ended instead of starting:\n${output()}`)
    if (performance.now() > deadline) throw new Error(`The service did not start:\n${output()}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
