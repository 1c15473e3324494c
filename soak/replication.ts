// A primary and a synchronous standby of Debian's PostgreSQL: the primary dies, the standby is promoted, a new one is made.
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from './facts.ts'
import { PostgresServer } from './postgres.ts'
import type { Stage } from './stage.ts'
import { findProgram, runAs } from './unprivileged.ts'

const versionsFolder = '/usr/lib/postgresql'
const syncMaxMs = 60_000

const settings = {
  wal_level: 'replica',
  hot_standby: 'on',
  synchronous_commit: 'on',
  max_wal_senders: '10',
  wal_keep_size: '256MB',
}

/** The newest version that has all that is needed. */
export function debianPrograms(): string | undefined {
  try {
    const versions = readdirSync(versionsFolder).sort((a, b) => Number(b) - Number(a))
    return versions
      .map((version) => join(versionsFolder, version, 'bin'))
      .find((folder) => findProgram(join(folder, 'pg_basebackup')) && findProgram(join(folder, 'postgres')))
  } catch {
    return undefined
  }
}

export class ReplicatedPair {
  primary: PostgresServer
  private standby: PostgresServer
  private readonly folder: string

  private constructor(primary: PostgresServer, standby: PostgresServer, folder: string) {
    this.primary = primary
    this.standby = standby
    this.folder = folder
  }

  get servers(): readonly [PostgresServer, PostgresServer] {
    return [this.primary, this.standby]
  }

  static async start(stage: Stage): Promise<ReplicatedPair> {
    const folder = debianPrograms() ?? ''
    const programs = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') }
    const primary = await PostgresServer.make(stage, 'postgres-a', programs, settings)
    const standby = await PostgresServer.make(stage, 'postgres-b', programs, settings)
    const pair = new ReplicatedPair(primary, standby, folder)
    await primary.initialise()
    await pair.makeStandby()
    return pair
  }

  /** Kills the primary and promotes the standby; until a new standby is there, commits wait for none. */
  async failOver(): Promise<void> {
    await this.primary.kill()
    const [dead, promoted] = [this.primary, this.standby]
    await onMain(promoted, 'select pg_promote(true)')
    this.primary = promoted
    this.standby = dead
    await this.setStandbyNames('')
  }

  /** Makes a new standby of what was the primary, from the primary of now; resolves once commits wait for it. */
  async makeStandby(): Promise<void> {
    const { standby, primary } = this
    await rm(standby.data, { recursive: true, force: true })
    const from = ['--host=127.0.0.1', `--port=${primary.port}`, '--username=posthorn', '--checkpoint=fast']
    const into = [`--pgdata=${standby.data}`, '--wal-method=stream', '--write-recovery-conf']
    const program = join(this.folder, 'pg_basebackup')
    await runAs(standby.identity, program, [...from, ...into], join(standby.data, '..'))
    await standby.start()
    await this.setStandbyNames('*')
    const deadline = Date.now() + syncMaxMs
    while (Date.now() < deadline) {
      const [row] = await onMain(primary, "select 1 from pg_stat_replication where sync_state = 'sync'")
      if (row !== undefined) return
      await sleep(100)
    }
    throw new Error('The standby did not become synchronous')
  }

  private async setStandbyNames(names: string): Promise<void> {
    // Alone, as it cannot be part of a transaction; and it must not wait for a standby itself.
    await onMain(
      this.primary,
      "set synchronous_commit to 'local'",
      `alter system set synchronous_standby_names = '${names}'`,
    )
    await onMain(this.primary, 'select pg_reload_conf()')
  }
}

/** Whether a server takes writes; false when it does not answer. */
export async function isPrimary(server: PostgresServer): Promise<boolean> {
  try {
    const [row] = await onMain(server, 'select pg_is_in_recovery() as standby')
    return row?.['standby'] === false
  } catch {
    return false
  }
}

function onMain(server: PostgresServer, ...statements: string[]): Promise<Record<string, unknown>[]> {
  return withClient({ ...server.connection, database: 'postgres' }, async (client) => {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) rows = (await client.query<Record<string, unknown>>(statement)).rows
    return rows
  })
}
