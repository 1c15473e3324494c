// The built service as a process of its own: started, called over real HTTP, signalled, and looked after when a test fails.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from './app.ts'
import { projectRoot } from './project-root.ts'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Service {
  readonly url: string
  readonly pid: number
  stdout(): string
  call(method: string, path: string, key: string, body?: unknown): Promise<{ status: number; body: Json }>
  signal(name: NodeJS.Signals): void
  /** Closes both of its outputs at the reader's end, as a log collector that crashes does. */
  stopReading(): void
  readonly ended: Promise<Ended>
  /** SIGTERM, and the end. */
  stop(): Promise<Ended>
}

type Variables = Readonly<Record<string, string>>

/** A start takes a second or two; a busy machine may need many. */
const patienceMs = 60_000
const callMsMax = 30_000

export class ServiceScene {
  private readonly children = new Set<ChildProcess>()
  private readonly directories: string[] = []

  async directory(parent = tmpdir()): Promise<string> {
    const directory = await mkdtemp(join(parent, 'posthorn-service-'))
    // As root PostgreSQL runs as another user, who must be able to enter.
    await chmod(directory, 0o711)
    this.directories.push(directory)
    return join(directory, 'data')
  }

  /** A command that may be killed before it ends; `output` is what it has written. */
  begin(args: readonly string[], variables: Variables): { kill(): void; output(): string; ended: Promise<Ended> } {
    const { child, output, ended } = this.spawn(args, variables)
    return { kill: () => void child.kill('SIGKILL'), output: () => output.stdout + output.stderr, ended }
  }

  /** Runs a command to its end. */
  run(args: readonly string[], variables: Variables): Promise<Ended> {
    return this.spawn(args, variables).ended
  }

  async start(variables: Variables): Promise<Service> {
    const { child, output, ended } = this.spawn(['start'], { PORT: '0', ...variables })
    const url = () => /running at (http\S+)[\s\S]*\n\n/.exec(output.stdout)?.[1]
    let over = false
    ended.then(() => {
      over = true
    })
    await eventually(async () => over || url() !== undefined)
    assert.ok(!over, `The service ended instead of starting:\n${output.stdout}\n${output.stderr}`)
    const address = url() ?? ''
    return {
      url: address,
      pid: child.pid ?? 0,
      stdout: () => output.stdout,
      call: (method, path, key, body) => call(`${address}${path}`, method, key, body),
      signal: (name) => void child.kill(name),
      stopReading: () => {
        child.stdout.destroy()
        child.stderr.destroy()
      },
      ended,
      stop: () => {
        child.kill('SIGTERM')
        return ended
      },
    }
  }

  async close(): Promise<void> {
    for (const child of this.children) child.kill('SIGKILL')
    for (const directory of this.directories) {
      await endServer(join(directory, 'data'))
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    }
  }

  private spawn(args: readonly string[], variables: Variables) {
    const { PATH = '', HOME = '' } = process.env
    const child = spawn(process.execPath, ['scripts/posthorn.mjs', ...args], {
      cwd: projectRoot,
      // Its stories build the dashboard; no other test waits for that.
      env: { PATH, HOME, POSTHORN_DASHBOARD: 'off', ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.children.add(child)
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output.stderr += text
    })
    const ended = new Promise<Ended>((resolve) => {
      child.on('close', (code) => {
        this.children.delete(child)
        resolve({ code, ...output })
      })
    })
    return { child, output, ended }
  }
}

async function call(url: string, method: string, key: string, body?: unknown): Promise<{ status: number; body: Json }> {
  const answer = await fetch(url, {
    method,
    // A connection that was being handed to a process when that was killed may never be answered.
    signal: AbortSignal.timeout(callMsMax),
    headers: { authorization: `ApiKey ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
}

export async function eventually(isTrue: () => Promise<boolean>, withinMs = patienceMs): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await isTrue())) {
    assert.ok(performance.now() < deadline, 'it did not come true in time')
    await sleep(20)
  }
}

/** The pid in the server's own pid file; `undefined` when it stopped in an orderly way, or was never started. */
export async function postgresPid(dataDirectory: string): Promise<number | undefined> {
  const text = await readFile(join(dataDirectory, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '')
  return Number.parseInt(text, 10) || undefined
}

/** A process that has ended but is not reaped yet still takes signals; it has no command line any more. */
export function isAlive(pid: number): boolean {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** What a killed service left running, after a look at whether it is really that. */
async function endServer(dataDirectory: string): Promise<void> {
  const pid = await postgresPid(dataDirectory)
  if (pid === undefined) return
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  if (!command.includes(dataDirectory)) return
  process.kill(pid, 'SIGQUIT')
  await eventually(async () => !isAlive(pid))
}

/** The files below a directory whose bytes hold the text. */
export async function filesHolding(directory: string, text: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    if ((await readFile(path)).includes(text)) found.push(path)
  }
  return found
}
