// The embedded PostgreSQL as a thing to start and to talk to: its settings, its command line, its first questions.
import { connect } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import type { Binaries } from './embedded-binaries.ts'
import { databaseUser } from './embedded-cluster.ts'
import { codeOf } from './embedded-error.ts'
import type { Home } from './embedded-home.ts'

export const databaseName = 'posthorn'
/** Nothing listens on it: it only names the socket's file. */
export const socketPort = 5432

export interface EmbeddedServer {
  readonly home: Home
  readonly binaries: Binaries
  /** The socket directory's name for connecting. */
  readonly socketName: string
  readonly settings: Readonly<Record<string, string>>
}

const answerTimeoutMs = 5000

/** For one small machine that the service shares; fsync and synchronous_commit stay on. */
const defaultSettings: Readonly<Record<string, string>> = {
  max_connections: '60',
  // The rest of what is read often is in the file system's cache.
  shared_buffers: '64MB',
  effective_cache_size: '512MB',
  max_wal_size: '1GB',
  min_wal_size: '80MB',
  wal_compression: 'on',
  // Disks of today seek fast; 4 would have the planner shun indexes.
  random_page_cost: '1.1',
  // Compiling costs more than our short statements take.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
  logging_collector: 'off',
}

export function serverCommand({ binaries, home, settings, socketName }: EmbeddedServer): [string, ...string[]] {
  const all = {
    ...defaultSettings,
    ...settings,
    listen_addresses: '',
    unix_socket_directories: socketName,
    unix_socket_permissions: '0700',
    port: String(socketPort),
  }
  const parameters = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return [binaries.postgres, '-D', home.cluster, ...parameters]
}

/** Whether this command line, its words joined by spaces, serves our data, regardless of its other settings. */
export function servesOurData(command: string, { home }: EmbeddedServer): boolean {
  const [program = '', rest] = command.split(` -D ${home.cluster}`, 2)
  return /^\/(?!.* -c ).*\/postgres$/.test(program) && rest !== undefined && /^( |$)/.test(rest)
}

/** A server of another kind on our data: in single-user mode, or started manually with options we do not use. */
export function mayServeOurData(command: string, { home }: EmbeddedServer): boolean {
  return /^(\S*\/)?postgres /.test(command) && command.includes(home.cluster)
}

export interface Introduction {
  readonly dataDirectory: string
  readonly versionNumber: number
}

/** Asks the server for its identity, and creates our database if it is missing. */
export async function introduce(server: EmbeddedServer): Promise<Introduction> {
  try {
    return await ask(server, databaseName, whoAreYou)
  } catch (error) {
    const databaseIsMissing = codeOf(error) === '3D000'
    if (!databaseIsMissing) throw error
  }
  await ask(server, 'postgres', (client) => client.query(`create database ${databaseName}`))
  return ask(server, databaseName, whoAreYou)
}

async function whoAreYou(client: pg.Client): Promise<Introduction> {
  const { rows } = await client.query<{ directory: string; version: string }>(
    `select current_setting('data_directory') as directory, current_setting('server_version_num') as version`,
  )
  return { dataDirectory: rows[0]?.directory ?? '', versionNumber: Number(rows[0]?.version) }
}

async function ask<T>(
  server: EmbeddedServer,
  database: string,
  question: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    host: server.socketName,
    port: socketPort,
    user: databaseUser,
    database,
    ssl: false,
    connectionTimeoutMillis: answerTimeoutMs,
  })
  // A server that stops under us also rejects the question; this only keeps it from ending the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await question(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Whether a process listens at a PostgreSQL socket in this directory. */
export function someoneListens(directory: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(join(directory, `.s.PGSQL.${socketPort}`))
    const say = (answer: boolean) => {
      connection.destroy()
      resolve(answer)
    }
    connection.on('connect', () => say(true))
    connection.on('error', () => say(false))
  })
}
