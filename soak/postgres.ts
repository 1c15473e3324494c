// A PostgreSQL server of the run's own, whose postmaster is killed and started again.
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientConfig } from 'pg'
import { findPackage, prepareBinaries } from '../src/db/embedded/embedded-binaries.ts'
import type { Identity } from '../src/db/embedded/embedded-identity.ts'
import { withClient } from './facts.ts'
import { freePort } from './nodes.ts'
import type { Stage } from './stage.ts'
import { endOf, hasEnded, makeOwnDirectory, otherUser, runAs, startAs } from './unprivileged.ts'

const startMaxMs = 60_000
const user = 'posthorn'

export interface Programs {
  readonly initdb: string
  readonly postgres: string
}

/** Those of the npm package that the service itself brings along. */
export async function packagedPrograms(stage: Stage): Promise<Programs> {
  const source = await findPackage(`${process.platform}-${process.arch}`, undefined)
  return prepareBinaries(source, await otherUser(), [stage.directory])
}

export class PostgresServer {
  readonly port: number
  readonly data: string
  readonly identity: Identity
  private readonly programs: Programs
  private readonly settings: Readonly<Record<string, string>>
  private readonly logPath: string
  private child: ChildProcess | undefined

  private constructor(
    about: { port: number; data: string; identity: Identity; logPath: string },
    programs: Programs,
    settings: Readonly<Record<string, string>>,
  ) {
    this.port = about.port
    this.data = about.data
    this.identity = about.identity
    this.logPath = about.logPath
    this.programs = programs
    this.settings = settings
  }

  /** A folder and a port; nothing is in it yet. */
  static async make(
    stage: Stage,
    name: string,
    programs: Programs,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<PostgresServer> {
    const identity = await otherUser()
    const directory = join(stage.directory, name)
    makeOwnDirectory(directory, identity)
    const about = { port: await freePort(), data: join(directory, 'data'), identity }
    const server = new PostgresServer({ ...about, logPath: join(stage.directory, `${name}.log`) }, programs, {
      unix_socket_directories: directory,
      listen_addresses: '127.0.0.1',
      max_connections: '200',
      ...settings,
    })
    stage.onClose(() => server.kill())
    return server
  }

  async initialise(): Promise<void> {
    const args = [`--pgdata=${this.data}`, `--username=${user}`, '--auth=trust', '--encoding=UTF8', '--locale=C']
    await runAs(this.identity, this.programs.initdb, args, join(this.data, '..'))
    await this.start()
    await withClient({ ...this.connection, database: 'postgres' }, (client) => client.query('create database posthorn'))
  }

  /** Resolves once it answers. Backends of a killed server may hold its memory briefly: then it is tried again. */
  async start(): Promise<void> {
    const deadline = Date.now() + startMaxMs
    while (Date.now() < deadline) {
      if (hasEnded(this.child)) this.spawn()
      if (await this.answers()) return
      await sleep(50)
    }
    throw new Error(`PostgreSQL did not start within ${startMaxMs / 1000} s; see ${this.logPath}`)
  }

  private spawn(): void {
    const settings = Object.entries(this.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const args = ['-D', this.data, '-p', String(this.port), ...settings]
    this.child = startAs(this.identity, this.programs.postgres, args, { cwd: this.data, logPath: this.logPath })
  }

  private async answers(): Promise<boolean> {
    try {
      await withClient({ ...this.connection, database: 'postgres' }, (client) => client.query('select 1'))
      return true
    } catch {
      return false
    }
  }

  async kill(): Promise<void> {
    this.child?.kill('SIGKILL')
    await endOf(this.child)
  }

  get connection(): ClientConfig {
    return { host: '127.0.0.1', port: this.port, user, database: 'posthorn' }
  }
}

export const databaseUrl = (port: number): string => `postgres://${user}@127.0.0.1:${port}/posthorn`
