// The lock on a data directory: one process at a time, released by the kernel as soon as that process ends, however it
// ends.
import { randomBytes } from 'node:crypto'
import { lchown, link, readdir, rm, stat } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { codeOf, EmbeddedPostgresError } from './embedded-error.ts'
import type { Identity } from './embedded-identity.ts'

// The hold is a listening socket. Whether its process lives is the kernel's to say (a connection is taken or refused), so no
// pid is ever compared, and it holds across containers that share the directory.
//
// Its file is `holder.<number>`, and the highest number is the holder:
// - a socket listens before it is linked to such a name, so a refused connection means dead, and dead it stays;
// - a new holder takes the next number after a dead one; linking fails when another was faster;
// - it then looks again, and yields to a higher number, so that one who slept through a change of holders cannot win;
// - the highest file is never removed, not even when the hold is given up, so numbers only grow.

export interface Holding {
  release(): void
}

/** The socket directory under its real name, and under one short enough for a socket. */
export interface SocketDirectory {
  readonly path: string
  readonly shortName: string
}

type Holder = { readonly alive: false } | { readonly alive: true; readonly pid: number | undefined }

/** A holder whose event loop is busy still accepts the connection; it only sends its name later. */
const answerTimeoutMs = 2000
/** Each round is lost to another process that just won, and that one is then seen alive. */
const roundsMax = 100
const abandonedAfterMs = 60_000

/** `list` is the look at the directory: an argument, so that a test can let it be an old one. */
export async function takeHold(
  directory: SocketDirectory,
  identity: Identity,
  what: string,
  list: (path: string) => Promise<number[]> = numbersIn,
): Promise<Holding> {
  const ownName = `.hold-${randomBytes(4).toString('hex')}`
  const server = await listen(join(directory.shortName, ownName))
  try {
    // So that a later start as PostgreSQL's own user may knock at it too.
    if (identity.switches) await lchown(join(directory.path, ownName), identity.uid, identity.gid)
    const number = await climb(directory, ownName, what, list)
    await removeOlder(directory.path, number)
  } catch (error) {
    server.close()
    throw error
  } finally {
    await rm(join(directory.path, ownName), { force: true })
  }
  return { release: () => server.close() }
}

/** Whether a living process holds it. The result may be outdated as soon as it is returned. */
export async function isHeld(directory: SocketDirectory): Promise<boolean> {
  const highest = Math.max(0, ...(await numbersIn(directory.path)))
  return highest > 0 && (await knock(join(directory.shortName, nameOf(highest)))).alive
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((connection) => {
      connection.on('error', () => connection.destroy())
      connection.unref().end(`${process.pid}\n`)
    })
    server.on('error', reject)
    server.listen(path, () => resolve(server.unref()))
  })
}

/** Takes the next number, or throws when the present holder lives. */
async function climb(
  directory: SocketDirectory,
  ownName: string,
  what: string,
  list: (path: string) => Promise<number[]>,
): Promise<number> {
  for (let round = 0; round < roundsMax; round++) {
    const highest = Math.max(0, ...(await list(directory.path)))
    if (highest > 0) {
      const holder = await knock(join(directory.shortName, nameOf(highest)))
      if (holder.alive) throw await heldBy(holder.pid, join(directory.path, nameOf(highest)), what)
    }
    const own = highest + 1
    try {
      await link(join(directory.path, ownName), join(directory.path, nameOf(own)))
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue
      throw error
    }
    if (Math.max(...(await list(directory.path))) === own) return own
    await rm(join(directory.path, nameOf(own)), { force: true })
  }
  throw new EmbeddedPostgresError(`Too many processes are trying to open ${what} at once. Start one of them again.`)
}

function nameOf(number: number): string {
  return `holder.${number}`
}

export async function numbersIn(directory: string): Promise<number[]> {
  const names = await readdir(directory)
  return names.filter((name) => /^holder\.\d+$/.test(name)).map((name) => Number(name.slice('holder.'.length)))
}

function knock(path: string): Promise<Holder> {
  return new Promise((resolve) => {
    let answer = ''
    const connection = connect(path)
    const say = (holder: Holder) => {
      clearTimeout(timer)
      connection.destroy()
      resolve(holder)
    }
    const sayPid = () => say({ alive: true, pid: Number.parseInt(answer, 10) || undefined })
    const timer = setTimeout(sayPid, answerTimeoutMs)
    connection.on('data', (chunk) => {
      answer += chunk.toString('utf8')
    })
    connection.on('end', sayPid)
    // Gone: its successor tidied up, and is found in the next round. Anything else (a full backlog, no permission) is life.
    connection.on('error', (error) => {
      const dead = codeOf(error) === 'ECONNREFUSED' || codeOf(error) === 'ENOENT'
      say(dead ? { alive: false } : { alive: true, pid: undefined })
    })
  })
}

async function heldBy(pid: number | undefined, file: string, what: string): Promise<EmbeddedPostgresError> {
  const since = await stat(file).then(
    ({ mtime }) => ` since ${mtime.toISOString()}`,
    () => '',
  )
  const who = pid === undefined ? 'another process of unknown pid' : `process ${pid}`
  return new EmbeddedPostgresError(
    `Posthorn is already running on ${what}: ${who} holds it${since}. Stop that one first, or choose another data directory.`,
  )
}

async function removeOlder(directory: string, own: number): Promise<void> {
  for (const number of await numbersIn(directory)) {
    if (number < own) await rm(join(directory, nameOf(number)), { force: true })
  }
  for (const name of (await readdir(directory)).filter((entry) => entry.startsWith('.hold-'))) {
    const path = join(directory, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (Date.now() - mtimeMs > abandonedAfterMs) await rm(path, { force: true })
  }
}
