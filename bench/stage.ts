// A database server of the bench's own, with a database for each side of a comparison.
import type { Connection, Database } from '../src/db/connect.ts'
import { connect } from '../src/db/connect.ts'
import type { EmbeddedPostgres } from '../src/db/embedded/embedded-postgres.ts'
import { startEmbeddedPostgres } from '../src/db/embedded/embedded-postgres.ts'
import { sql } from '../src/db/sql.ts'
import { silentLog } from '../src/world/log.ts'
import type { Process } from './service.ts'
import { startProcess, startService, withDataDirectory } from './service.ts'

export interface Stage {
  /** The service's own database. */
  readonly connection: EmbeddedPostgres['connection']
  /** A few connections for looking on. */
  open(database?: string): Database
  /** Another database, still empty, as passed to a baseline process. */
  otherDatabase(name: string): Promise<string>
  /** The built service, on its database. */
  startService(environment?: Record<string, string>, args?: readonly string[]): Promise<Process>
  /** A program of bench/, reported of its database by BENCH_CONNECTION. */
  startProgram(file: string, environment?: Record<string, string>): Promise<Process>
}

/** History of 5,000,000 is made by few statements. */
const timeoutMs = 3_600_000

/** BENCH_STATEMENTS=1 prints which statements the database server spent its time on, on either side. */
const tellsStatements = process.env['BENCH_STATEMENTS'] === '1'
const settings: Record<string, string> = tellsStatements
  ? { shared_preload_libraries: 'pg_stat_statements', track_io_timing: 'on', 'pg_stat_statements.track_planning': 'on' }
  : {}
const statementsTold = 30

/** Limits are checked on every call, and never reached. */
const unlimited = {
  POSTHORN_RATE_LIMIT_TRIGGER: '1000000',
  POSTHORN_RATE_LIMIT_CONFIGURATION: '1000000',
  POSTHORN_RATE_LIMIT_GLOBAL: '1000000',
}

/** Everything that was started on the stage is stopped when the work is over, however it ends. */
export async function withStage<Result>(work: (stage: Stage) => Promise<Result>): Promise<Result> {
  return withDataDirectory(async (directory) => {
    const embedded = await startEmbeddedPostgres({ dataDirectory: directory, log: silentLog, settings })
    const started: Process[] = []
    const opened: Database[] = []
    try {
      return await work(stageOn(embedded, directory, started, opened))
    } finally {
      for (const one of started.reverse()) await one.stop()
      if (tellsStatements) await tellStatements(embedded.connection)
      for (const db of opened) await db.close()
      await embedded.stop()
    }
  })
}

function stageOn(embedded: EmbeddedPostgres, directory: string, started: Process[], opened: Database[]): Stage {
  const { connection } = embedded
  const url = `postgres://${connection.user}@localhost/${connection.database}?host=${encodeURIComponent(connection.host)}`
  const kept = async (starting: Promise<Process>): Promise<Process> => {
    const one = await starting
    started.push(one)
    return one
  }
  const open = (database: string = connection.database): Database => {
    const db = connectTo({ ...connection, database })
    opened.push(db)
    return db
  }
  return {
    connection,
    open,
    otherDatabase: async (name) => {
      const admin = open()
      await admin.run({ text: `create database ${name}`, values: [] })
      return JSON.stringify({ ...connection, database: name })
    },
    startService: (environment = {}, args = []) =>
      kept(startService({ DATABASE_URL: url, POSTHORN_DATA_DIR: directory, ...unlimited, ...environment }, args)),
    startProgram: (file, environment = {}) => kept(startProcess(['--import', 'tsx', file], environment)),
  }
}

export function connectTo(connection: Connection): Database {
  return connect(connection, {
    poolSize: 3,
    statementTimeoutMs: timeoutMs,
    lockTimeoutMs: timeoutMs,
    log: silentLog,
  })
}

async function tellStatements(connection: Connection): Promise<void> {
  const db = connectTo(connection)
  await db.run(sql`create extension if not exists pg_stat_statements`)
  const rows = await db.rows<{
    place: string
    query: string
    calls: number
    ms: number
    plan_ms: number
    rows: number
  }>(sql`
    select d.datname as place, query, calls, total_exec_time as ms, total_plan_time as plan_ms, rows
    from pg_stat_statements s join pg_database d on d.oid = s.dbid
    where query ~* '^ *(insert|update|delete|select|with|begin|commit)'
    order by total_exec_time + total_plan_time desc limit ${statementsTold}`)
  await db.close()
  process.stdout.write('\n  total s   plan s     calls  ms a call  rows a call  statement\n')
  for (const row of rows) {
    const numbers = [
      (row.ms / 1000).toFixed(2).padStart(9),
      (row.plan_ms / 1000).toFixed(2).padStart(8),
      String(row.calls).padStart(9),
      (row.ms / row.calls).toFixed(2).padStart(10),
      (row.rows / row.calls).toFixed(1).padStart(12),
    ]
    const text = row.query.replaceAll(/\s+/g, ' ').slice(0, 100)
    process.stdout.write(`${numbers.join(' ')}  ${row.place}: ${text}\n`)
  }
}
