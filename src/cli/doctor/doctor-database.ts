// The checks of posthorn doctor that look at the database itself: whether it responds, and whether its schema matches
// the code.
import { resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { awaitDatabase } from '../../db/await-database.ts'
import type { Connection } from '../../db/connect.ts'
import { connect } from '../../db/connect.ts'
import { joinEmbeddedPostgres } from '../../db/embedded/embedded-join.ts'
import type { Migration } from '../../db/migrate.ts'
import { readMigrations } from '../../db/migrate.ts'
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Log } from '../../world/log.ts'
import type { Applied, DatabaseFacts } from './database-facts.ts'
import type { Check, Finding } from './diagnosis.ts'
import { CannotCheck, failed, ok, warning } from './diagnosis.ts'
import type { DoctorProbes } from './doctor-probes.ts'
import { isLocal } from './doctor-probes.ts'

const waitMs = 3_000
const statementTimeoutMs = 5_000

export async function lookAtDatabase(config: Config, url: string, log: Log): Promise<DatabaseFacts> {
  const { connection, name } = await connectionOf(config, url)
  const pooler = config.databasePooler
  const db = connect(connection, { poolSize: 1, statementTimeoutMs, lockTimeoutMs: statementTimeoutMs, pooler, log })
  try {
    await awaitDatabase(db, { name, waitMs, log })
    const askedAt = Date.now()
    const row = await db.row<{ version: string; now: Date; is_installed: boolean; has_nodes: boolean }>(sql`
      select current_setting('server_version') as version, clock_timestamp() as now,
             to_regclass('schema_migrations') is not null as is_installed,
             to_regclass('node_heartbeats') is not null as has_nodes`)
    const aheadMs = Math.round((row?.now.getTime() ?? askedAt) - (askedAt + Date.now()) / 2)
    const applied =
      row?.is_installed === true
        ? await db.rows<Applied>(sql`select number, name, checksum from schema_migrations order by number`)
        : undefined
    const nodeAheadMs = row?.has_nodes === true ? await furthestNode(db) : undefined
    return { name, version: row?.version ?? 'of unknown version', aheadMs, nodeAheadMs, applied }
  } finally {
    await db.close()
  }
}

/** Of the nodes that beat of late, as each has measured it. */
async function furthestNode(db: Sql): Promise<number | undefined> {
  const row = await db.row<{ aheadMs: number }>(sql`
    select clock_ahead_ms as "aheadMs" from node_heartbeats
    where ended_at is null and clock_ahead_ms is not null and seen_at > clock_timestamp() - interval '1 minute'
    order by abs(clock_ahead_ms) desc limit 1`)
  return row?.aheadMs
}

async function connectionOf(config: Config, url: string): Promise<{ connection: Connection; name: string }> {
  if (config.databaseUrl !== undefined) {
    const { host, pathname, searchParams } = new URL(config.databaseUrl)
    return {
      connection: { url: config.databaseUrl },
      name: `${pathname.slice(1)} at ${searchParams.get('host') ?? host}`,
    }
  }
  if (!isLocal(url)) throw new CannotCheck('The service runs elsewhere, and DATABASE_URL is not set here.')
  const place = { dataDirectory: resolve(config.dataDirectory), stateHome: config.stateHome, waitMs }
  const joined = await joinEmbeddedPostgres(place)
  if (joined === undefined) {
    throw new CannotCheck(
      'The embedded database runs only while the service runs, and no service is running on this data directory.',
    )
  }
  return { connection: joined, name: '(embedded)' }
}

export const databaseCheck: Check<DoctorProbes> = {
  name: 'database',
  run: async ({ database }) => {
    const { name, version } = await database()
    return ok(`The database ${name} responds; it is PostgreSQL ${version}.`, { name, version })
  },
}

export const schemaCheck: Check<DoctorProbes> = {
  name: 'schema',
  run: async ({ database }) => {
    const { applied } = await database().catch(() => {
      throw new CannotCheck('The database could not be checked.')
    })
    return schemaFinding(await readMigrations(), applied)
  },
}

export function schemaFinding(known: readonly Migration[], applied: readonly Applied[] | undefined): Finding {
  if (applied === undefined)
    return warning('The schema is not installed yet.', 'The first start installs it: `posthorn start`.')
  const last = applied.at(-1)?.name ?? 'none'
  const data = { applied: last, known: known.at(-1)?.name ?? 'none' }
  const byNumber = new Map(known.map((migration) => [migration.number, migration]))
  const newer = applied.find(({ number }) => !byNumber.has(number))
  if (newer !== undefined) {
    return failed(
      `The database was migrated by a newer version of Posthorn: ${newer.name} is unknown to this one.`,
      'Run the version of the service, or a later one.',
      data,
    )
  }
  const changed = applied.find(({ number, checksum }) => byNumber.get(number)?.checksum !== checksum)
  if (changed !== undefined) {
    return failed(`The migration ${changed.name} was changed after it was applied.`, 'Restore the file.', data)
  }
  const done = new Set(applied.map(({ number }) => number))
  const missing = known.filter(({ number }) => !done.has(number)).map(({ name }) => name)
  if (missing.length === 0) return ok(`The schema matches this version, up to ${last}.`, data)
  return failed(
    `The database is missing ${missing.join(', ')}.`,
    'Start the service of this version, or run `posthorn migrate`.',
    { ...data, missing },
  )
}
