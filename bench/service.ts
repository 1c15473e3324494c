// Processes under measurement: the built service, or a baseline, each started and stopped as a user would.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const benchKey = 'bench-key-0123456789'

export interface Process {
  readonly pid: number
  readonly port: number
  /** From the start of the process until it said where it listens. */
  readonly startedInMs: number
  stop(): Promise<void>
}

/** Starts a program and waits for a line that names its address. */
export async function startProcess(args: readonly string[], environment: Record<string, string>): Promise<Process> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, {
    env: { ...process.env, POSTHORN_DASHBOARD: 'off', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await portOf(child)
  return {
    pid: child.pid ?? 0,
    port,
    startedInMs: performance.now() - startedAt,
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve()
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.once('exit', (code) => reject(new Error(`The process ended with ${code}: ${output}`)))
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      const found = /running at http:\/\/\S+?:(\d+)/.exec(output)
      if (found) resolve(Number(found[1]))
    })
  })
}

/** BENCH_PROFILE names a directory: the service then leaves a CPU profile there when it stops. */
const profile = process.env['BENCH_PROFILE']
const profileArgs = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]

/** What `npm start` runs, word for word, without the `exec node` before it. */
const { start } = (JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } }).scripts
const startArgs = start.split(' ').slice(2)

export function startService(environment: Record<string, string>, args: readonly string[] = []): Promise<Process> {
  return startProcess([...profileArgs, ...startArgs, ...args], {
    PORT: '0',
    POSTHORN_API_KEY: benchKey,
    POSTHORN_LOG_LEVEL: 'warn',
    ...environment,
  })
}

/** A data directory of the bench's own, removed afterwards. */
export async function withDataDirectory<Result>(work: (directory: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  // As root the server runs as nobody, who must be able to enter.
  await chmod(directory, 0o711)
  try {
    return await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

/** Processor time a process has used so far, in seconds; Linux counts in hundredths. */
export async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
