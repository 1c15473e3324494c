// A PgBouncer of the test's own, in transaction mode, in front of a test database: on loopback, unprivileged, in a temporary folder.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { TestDatabase } from './database.ts'
import { eventually } from './service.ts'

/** Debian's own number for the user "nobody". */
const nobody = 65_534

/** Where it is, or why there is none. Debian puts it where a user's PATH does not lead. */
const path = [process.env['PATH'] ?? '', '/usr/sbin', '/usr/local/sbin'].join(delimiter)
const found = spawnSync('pgbouncer', ['--version'], { env: { PATH: path }, encoding: 'utf8' })
export const noPgBouncer: string | false =
  found.status === 0 ? false : 'PgBouncer is not installed (Debian package: pgbouncer)'

export interface PgBouncer {
  readonly port: number
  /** The test database, by way of it. */
  readonly url: string
  stop(): Promise<void>
}

export interface PgBouncerOptions {
  /** How many connections it holds to the server: fewer than its clients have, so that they share them. */
  readonly serverConnections: number
}

export async function startPgBouncer(database: TestDatabase, options: PgBouncerOptions): Promise<PgBouncer> {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-pgbouncer-'))
  const port = await freePort()
  const file = join(directory, 'pgbouncer.ini')
  await writeFile(file, settings(database, port, options))
  const isRoot = process.geteuid?.() === 0
  if (isRoot) for (const one of [directory, file]) await chown(one, nobody, nobody)
  await chmod(directory, 0o700)
  // It refuses to run as root, and the test database's socket is open to the user who runs that.
  const child = spawn('pgbouncer', [file], {
    env: { PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  let isOver = false
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => {
      isOver = true
      resolve()
    })
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await eventually(async () => isOver || (await answers(port)), 20_000)
    assert.ok(!isOver, `PgBouncer ended instead of starting:\n${said}`)
  } catch (error) {
    await stop()
    throw error
  }
  const { user, database: name } = database.connection
  return { port, url: `postgres://${user}@127.0.0.1:${port}/${name}`, stop }
}

/** Of Debian's file only what is needed: none of the settings that would let it pass over what it cannot do. */
function settings({ connection }: TestDatabase, port: number, { serverConnections }: PgBouncerOptions): string {
  const { host, port: serverPort, user, database } = connection
  return `[databases]
${database} = host=${host} port=${serverPort} dbname=${database} user=${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${serverConnections}
max_client_conn = 200
`
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
