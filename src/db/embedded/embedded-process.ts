// Processes as the embedded PostgreSQL needs them: look one up by its pid, run one to its end, wait for a condition.
import { execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, EmbeddedPostgresError } from './embedded-error.ts'
import type { Identity } from './embedded-identity.ts'

/** A start takes 35 ms, so a slower poll would be most of it. */
const pollEveryMs = 10
/** Enough for every complaint of initdb; a child that talks without end must not fill our memory. */
const outputCharactersMax = 64 * 1024

/** A zombie responds to signals as if it were alive, but holds nothing any more: it counts as dead. */
export type ProcessState = { readonly alive: false } | { readonly alive: true; readonly command: string }

export async function inspectProcess(pid: number): Promise<ProcessState> {
  return process.platform === 'linux' ? inspectInProc(pid) : inspectWithPs(pid)
}

async function inspectInProc(pid: number): Promise<ProcessState> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The name stands in brackets and may hold any character, brackets too; the state letter follows the last one.
    const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
    if (state === 'Z' || state === 'X') return { alive: false }
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8')
    // A process that has released its memory is ending, just before it becomes a zombie.
    if (command === '') return { alive: false }
    return { alive: true, command: command.replace(/\0+$/, '').replaceAll('\0', ' ') }
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return { alive: false }
    throw error
  }
}

/** macOS has no /proc. */
function inspectWithPs(pid: number): Promise<ProcessState> {
  return new Promise((resolve) => {
    execFile('/bin/ps', ['-ww', '-o', 'stat=,command=', '-p', String(pid)], (error, stdout) => {
      const [, state, command] = /^\s*(\S+)\s+(.*)$/.exec(stdout.trimEnd()) ?? []
      if (error || state === undefined || state.startsWith('Z')) resolve({ alive: false })
      else resolve({ alive: true, command: command ?? '' })
    })
  })
}

/** The environment of every child: PG* variables, locales and preloads of the caller must not reach the server. */
export const childEnvironment = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' }

/** The user a child runs as. Node needs a signed number, and macOS has the user `nobody` as 4294967294. */
export function spawnAs(identity: Identity): { uid?: number; gid?: number } {
  return identity.switches ? { uid: identity.uid | 0, gid: identity.gid | 0 } : {}
}

export interface Ended {
  readonly code: number | null
  readonly output: string
}

export function runToEnd(
  file: string,
  parameters: readonly string[],
  identity: Identity,
  timeoutMs: number,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, parameters, {
      ...spawnAs(identity),
      cwd: '/',
      env: childEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    })
    let output = ''
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-outputCharactersMax)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', (error) => reject(cannotRun(file, error)))
    child.on('close', (code) => resolve({ code, output }))
  })
}

export function cannotRun(file: string, error: Error): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL cannot run ${file}: ${error.message}. ` +
      'Install the dependencies again, or set DATABASE_URL to a PostgreSQL server of your own.',
    { cause: error },
  )
}

/** Polls until the result is not `undefined`, or the time is up. */
export async function poll<T>(ask: () => Promise<T | undefined>, timeoutMs: number): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined || performance.now() >= deadline) return answer
    await sleep(pollEveryMs)
  }
}
