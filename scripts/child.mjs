// Child processes that are always waited for: a signal reaches them once, and nothing outlives the script.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** How long an interrupted child may take to end by itself: a service drains its requests and stops its database. */
const graceMs = 40_000
/** How long processes that a finished child left behind may take to end after SIGTERM. */
const leftoverGraceMs = 5_000
/** How long to wait for the last of the output, or for killed processes to be reaped; either may never come. */
const lastTimestampMs = 1_000
/** Ctrl-C under npm arrives twice, from the terminal and from npm; only a later one means "at once". */
const sameSignalMs = 1_000
const pollMs = 25

/** A problem the person at the keyboard can fix: its message is printed without a stack. */
export class SetupProblem extends Error {}

/** The script was asked to end by a signal; carries the signal's name. */
export class Interrupted extends Error {
  constructor(signal) {
    super(`Interrupted by ${signal}`)
    this.signal = signal
  }
}

const live = new Set()
let interruptedBy
let interruptedAt = 0
let reportInterruption
/** Resolves with the signal's name when the script is asked to end while it has children. */
const interruption = new Promise((resolve) => {
  reportInterruption = resolve
})

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Starts a program in a process group of its own. Ctrl-C in a terminal reaches every process of our group, so a child in
 * it would hear it twice (once from the terminal, once from us) and take the second for "at once". In its own group it
 * hears exactly what we pass on, and what it leaves behind can be found and ended. A shielded child hears nothing from
 * us: its owner stops it when those who depend on it have ended.
 */
export function startChild(command, args, { shielded = false, ...options } = {}) {
  if (interruptedBy !== undefined) throw new Interrupted(interruptedBy)
  const child = spawn(command, args, { stdio: 'inherit', ...options, detached: true })
  const entry = { child, shielded }
  live.add(entry)
  if (live.size === 1) listen()
  const ended = new Promise((resolve) => {
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error })
    })
    child.once('exit', (code, signal) => resolve({ code, signal }))
  }).then(async (result) => {
    await endLeftovers(child.pid)
    live.delete(entry)
    if (live.size === 0) unlisten()
    return result
  })
  return { child, ended }
}

/** Runs a program to its end with our terminal; the answer is the exit code to end with. */
export async function runToEnd(command, args, options) {
  const result = await startChild(command, args, options).ended
  if (result.error !== undefined) throw new SetupProblem(`${command} could not be started: ${result.error.message}`)
  return exitCodeOf(result)
}

/** The exit code by which shells name an end: the program's own, or 128 and the signal's number. */
export const exitCodeOf = ({ code, signal }) => code ?? 128 + (constants.signals[signal] ?? 0)

/** True once the script was asked to end. */
export const isInterrupted = () => interruptedBy !== undefined

/** Runs a program to its end and keeps what it says, both streams in the order they came. */
export async function runQuietly(command, args, options) {
  const { child, ended } = startChild(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const closed = new Promise((resolve) => child.once('close', resolve))
  const result = await ended
  if (result.error === undefined) await within(lastTimestampMs, closed)
  if (interruptedBy !== undefined) throw new Interrupted(interruptedBy)
  return { ...result, output }
}

/** Waits for a promise; rejects with Interrupted as soon as the script is asked to end. */
export function unlessInterrupted(promise) {
  return Promise.race([
    promise,
    interruption.then((signal) => {
      throw new Interrupted(signal)
    }),
  ])
}

/** Asks a child to end, and kills its whole group when it did not in time. */
export async function stopChild({ child, ended }, timeoutMs) {
  child.kill('SIGTERM')
  if (await within(timeoutMs, ended)) return
  signalGroup(child.pid, 'SIGKILL')
  await ended
}

/** True when the promise settled in time. The timer is cleared, so that it does not keep the script alive. */
export async function within(timeoutMs, promise) {
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs)
  })
  const settled = await Promise.race([promise.then(() => true), late])
  clearTimeout(timer)
  return settled
}

/** Runs a script's body: its answer is the exit code; known problems are reported in their own words. */
export async function runScript(body) {
  try {
    process.exitCode = (await body()) ?? 0
  } catch (error) {
    if (error instanceof Interrupted) {
      process.exitCode = 128 + constants.signals[error.signal]
    } else {
      console.error(error instanceof SetupProblem ? error.message : error)
      process.exitCode = 1
    }
  }
}

function onSignal(signal) {
  const again = interruptedBy !== undefined
  if (again && Date.now() - interruptedAt < sameSignalMs) return
  interruptedBy ??= signal
  interruptedAt = Date.now()
  reportInterruption(signal)
  for (const { child, shielded } of live) {
    if (shielded) continue
    if (again) signalGroup(child.pid, 'SIGKILL')
    else child.kill(signal)
  }
  if (!again) setTimeout(() => onSignal(signal), graceMs).unref()
}

// Only while there are children: afterwards signals belong to whoever runs next in this process, such as the service.
function listen() {
  for (const signal of forwardedSignals) process.on(signal, onSignal)
  process.on('exit', killAll)
}

function unlisten() {
  for (const signal of forwardedSignals) process.off(signal, onSignal)
  process.off('exit', killAll)
}

/** The last resort when the script itself fails: there is no time to wait on exit. */
function killAll() {
  for (const { child } of live) signalGroup(child.pid, 'SIGKILL')
}

/** False when the group has no process any more. */
function signalGroup(pid, signal) {
  try {
    return process.kill(-pid, signal)
  } catch {
    // ESRCH: no one is left. EPERM: macOS says so of a group of zombies.
    return false
  }
}

async function endLeftovers(pid) {
  if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return
  const gone = await groupEnds(pid, leftoverGraceMs)
  if (gone) return
  signalGroup(pid, 'SIGKILL')
  // Bounded: where nothing reaps processes without a parent (a container whose first process does not), a zombie stays for ever.
  await groupEnds(pid, lastTimestampMs)
}

async function groupEnds(pid, timeoutMs) {
  const deadlineAt = Date.now() + timeoutMs
  while (signalGroup(pid, 0)) {
    if (Date.now() > deadlineAt) return false
    await sleep(pollMs)
  }
  return true
}
