// The running embedded PostgreSQL: found and adopted after its identity is proven, else started; and stopped.
import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../world/log.ts'
import { codeOf, EmbeddedPostgresError } from './embedded-error.ts'
import { openLogFile, quoteLogFile } from './embedded-log-file.ts'
import { cannotRun, childEnvironment, inspectProcess, poll, runToEnd, spawnAs } from './embedded-process.ts'
import {
  type EmbeddedServer,
  type Introduction,
  introduce,
  mayServeOurData,
  serverCommand,
  servesOurData,
  someoneListens,
} from './embedded-server.ts'

export interface Running {
  readonly pid: number
  readonly adopted: boolean
}

/** After a crash the server first replays its log, which a busy hour can make long. */
const recoveryTimeoutMs = 10 * 60_000
const recoveryNoticeMs = 5000
/** A server that calls itself ready answers in milliseconds. */
const silenceMaxMs = 10_000
/** What a killed server leaves behind (its own children, a second one starting) is gone within about a second. */
const contestedTimeoutMs = 15_000
const contestedPauseMs = 50
const dyingServerTimeoutMs = 1000
const stopTimeouts = { fastMs: 30_000, immediateMs: 10_000 }
const pgCtlTimeoutMs = 10_000

interface PidFile {
  readonly pid: number
  readonly status: string
}

/**
 * Starts the server. Only for the holder of the data directory: no other process may judge a pid file and remove it.
 */
export async function bringUp(server: EmbeddedServer, log: Log): Promise<Running> {
  const deadline = performance.now() + contestedTimeoutMs
  let contested = false
  for (;;) {
    const found = await readPidFile(server)
    if (found) {
      if (await isOurs(server, found.pid)) {
        if (await adopt(server, found.pid, log)) return { pid: found.pid, adopted: true }
      } else {
        await refuseUnseenServer(server, found)
        // PostgreSQL itself would take any living process of that number, a zombie too, for a server.
        await rm(pidFileOf(server), { force: true })
      }
    }
    const started = await start(server, log)
    if ('pid' in started) return { pid: started.pid, adopted: false }
    contested ||= found !== undefined || (await readPidFile(server)) !== undefined
    if (!contested || performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        `PostgreSQL did not start on ${server.home.cluster}. The end of its log:\n${started.failure}`,
      )
    }
    await sleep(contestedPauseMs)
  }
}

function pidFileOf({ home }: EmbeddedServer): string {
  return join(home.cluster, 'postmaster.pid')
}

/** https://www.postgresql.org/docs/18/storage-file-layout.html; the status is the eighth line. */
async function readPidFile(server: EmbeddedServer): Promise<PidFile | undefined> {
  const text = await readFile(pidFileOf(server), 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const lines = text.split('\n').map((line) => line.trim())
  // An invalid number is not a pid; a negative one, which single-user mode writes, is a process nevertheless.
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10)) || 0
  return { pid, status: lines[7] ?? '' }
}

async function isOurs(server: EmbeddedServer, pid: number): Promise<boolean> {
  const state = await inspectProcess(pid)
  return state.alive && servesOurData(state.command, server)
}

/** In another container a server can be alive although its pid is not to be seen here; two on one directory would ruin it. */
async function refuseUnseenServer(server: EmbeddedServer, found: PidFile): Promise<void> {
  const state = await inspectProcess(found.pid)
  const seen = state.alive && mayServeOurData(state.command, server)
  const silent = await poll(async () => {
    return (await someoneListens(server.socketName)) ? undefined : true
  }, dyingServerTimeoutMs)
  if (silent && !seen) return
  throw new EmbeddedPostgresError(
    `A PostgreSQL that Posthorn did not start serves ${server.home.cluster} (its pid file says ${found.pid}); ` +
      'it may have been started manually, or in another container. Stop it first, or choose another data directory.',
  )
}

/**
 * True if the running server is the one we would start. Any other on our data is stopped, which is safe: we hold it.
 */
async function adopt(server: EmbeddedServer, pid: number, log: Log): Promise<boolean> {
  const state = await inspectProcess(pid)
  if (state.alive && state.command === serverCommand(server).join(' ')) {
    const answer = await waitUntilReady(server, pid, log)
    const { home, binaries } = server
    if (answer?.dataDirectory === home.cluster && answer.versionNumber === binaries.versionNumber) return true
  }
  if (await isOurs(server, pid)) {
    log.info({ postgresPid: pid }, 'the running PostgreSQL has outdated settings: restarting it')
    await stopPostmaster(server, pid)
  }
  return false
}

async function start(server: EmbeddedServer, log: Log): Promise<{ pid: number } | { failure: string }> {
  const [program, ...parameters] = serverCommand(server)
  const logFile = await openLogFile(server.home.cluster)
  const { size } = await logFile.stat()
  // In its own session: neither Ctrl-C nor our death reaches it, and the next start finds it running.
  const child = spawn(program, parameters, {
    ...spawnAs(server.home.identity),
    cwd: '/',
    env: childEnvironment,
    detached: true,
    stdio: ['ignore', logFile.fd, logFile.fd],
  })
  child.unref()
  const spawned = new Promise<number>((resolve, reject) => {
    child.on('spawn', () => resolve(child.pid ?? 0))
    child.on('error', (error) => reject(cannotRun(program, error)))
  })
  const pid = await spawned.finally(() => logFile.close())
  if (await waitUntilReady(server, pid, log)) return { pid }
  if (await isOurs(server, pid)) await stopPostmaster(server, pid)
  return { failure: await quoteLogFile(server.home.cluster, size) }
}

/** `undefined` when the process ended, or does not answer in time. */
async function waitUntilReady(server: EmbeddedServer, pid: number, log: Log): Promise<Introduction | undefined> {
  const begun = performance.now()
  let silentSince: number | undefined
  let noticed = false
  const outcome = await poll(async (): Promise<{ answer?: Introduction } | undefined> => {
    if (!(await isOurs(server, pid))) return {}
    if (!noticed && performance.now() - begun > recoveryNoticeMs) {
      noticed = true
      log.info({ postgresPid: pid }, 'PostgreSQL is still starting: after a crash it first replays its log')
    }
    const file = await readPidFile(server)
    if (file?.pid !== pid || file.status !== 'ready') return undefined
    try {
      return { answer: await introduce(server) }
    } catch (error) {
      silentSince ??= performance.now()
      if (performance.now() - silentSince < silenceMaxMs) return undefined
      log.warn({ postgresPid: pid, error }, 'PostgreSQL is running but does not respond')
      return {}
    }
  }, recoveryTimeoutMs)
  return outcome?.answer
}

/** Ends sessions and writes everything down; if that takes too long, just ends: the next start then replays the log. */
export async function stopPostmaster(server: EmbeddedServer, pid: number, timeouts = stopTimeouts): Promise<void> {
  const steps = [
    { mode: 'fast', signal: 'SIGINT', timeoutMs: timeouts.fastMs },
    { mode: 'immediate', signal: 'SIGQUIT', timeoutMs: timeouts.immediateMs },
  ] as const
  for (const { mode, signal, timeoutMs } of steps) {
    if (!(await isOurs(server, pid))) return
    // Without waiting (-W): pg_ctl looks every 100 ms, we look every 10.
    const parameters = ['stop', '-D', server.home.cluster, '-m', mode, '-W']
    const ended = await runToEnd(server.binaries.pgCtl, parameters, server.home.identity, pgCtlTimeoutMs).catch(
      () => undefined,
    )
    // An upgrade may have taken the programs away under the running server.
    if (ended?.code !== 0 && (await isOurs(server, pid))) process.kill(pid, signal)
    if (await poll(async () => ((await isOurs(server, pid)) ? undefined : true), timeoutMs)) return
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL (process ${pid}) on ${server.home.cluster} does not stop. Kill that process, then start Posthorn again.`,
  )
}

/** Stops a server that a killed process left running, if there is one. Only for the holder of the data directory. */
export async function stopLeftover(server: EmbeddedServer): Promise<void> {
  const found = await readPidFile(server)
  if (found === undefined) return
  if (await isOurs(server, found.pid)) await stopPostmaster(server, found.pid)
  else await refuseUnseenServer(server, found)
}

/** Is the server we brought up still there? */
export function isRunning(server: EmbeddedServer, { pid }: Running): Promise<boolean> {
  return isOurs(server, pid)
}
