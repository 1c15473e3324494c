// A lock file with the holder's process id, so that two commands started together do not install or build twice.
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { SetupProblem, sleep } from './child.mjs'

const pollMs = 100
/** Between creating the file and writing the pid into it lies a short time; an empty file older than this is abandoned. */
const emptyForMs = 5_000
const heldHere = new Set()

/** Runs the work while holding the lock; waits for another holder no longer than `waitMs`. */
export async function withLock(path, { waitMs, say }, work) {
  await acquire(path, waitMs, say)
  try {
    return await work()
  } finally {
    heldHere.delete(path)
    rmSync(path, { force: true })
  }
}

async function acquire(path, waitMs, say) {
  const deadlineAt = Date.now() + waitMs
  let announced = false
  while (!create(path)) {
    const holder = read(path)
    if (holder === undefined) continue
    if (isAbandoned(path, holder)) {
      removeAbandoned(path, holder)
      continue
    }
    if (Date.now() >= deadlineAt) {
      throw new SetupProblem(
        `Another process (${holder || 'unknown'}) has been installing or building for ${Math.round(waitMs / 1000)} s.\n` +
          `If none is running, remove ${path} and try again.`,
      )
    }
    if (!announced) say(`Waiting for process ${holder || '?'}, which is installing or building …`)
    announced = true
    await sleep(pollMs)
  }
}

function create(path) {
  let file
  try {
    file = openSync(path, 'wx')
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw new SetupProblem(`${path} could not be written: ${error.message}`)
  }
  writeSync(file, String(process.pid))
  closeSync(file)
  heldHere.add(path)
  return true
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function isAbandoned(path, holder) {
  if (holder === '') return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > emptyForMs
  const pid = Number(holder)
  // Our own pid in a file we do not hold was written by an earlier process: in a container pids repeat at every start.
  if (pid === process.pid) return !heldHere.has(path)
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

// Renamed before it is removed: of two that find it abandoned, the second must not remove the lock the first just took.
function removeAbandoned(path, holder) {
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
    if (read(aside) === holder) rmSync(aside, { force: true })
    else renameSync(aside, path)
  } catch {
    // Someone else was quicker; the next round of the loop sees what is there now.
  }
}
