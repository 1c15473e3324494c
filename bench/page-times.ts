// Times page queries at two sizes of a database, interleaved: the same relative places in both.
import type { Database } from '../src/db/connect.ts'
import { connect } from '../src/db/connect.ts'
import { startEmbeddedPostgres } from '../src/db/embedded/embedded-postgres.ts'
import { migrate, readMigrations } from '../src/db/migrate.ts'
import type { Sql } from '../src/db/sql.ts'
import type { Environment } from '../src/domain/environment.ts'
import { silentLog } from '../src/world/log.ts'
import { withDataDirectory } from './service.ts'
import { type Measured, median, percentile } from './statistics.ts'

export const sizes = { small: 10_000, large: Number(process.env['BENCH_ROWS'] ?? 1_000_000) }
const samples = Number(process.env['BENCH_SAMPLES'] ?? 500)
const warmUp = 50
const ratioBar = 2

export const environment: Environment = {
  id: '00000000-0000-7000-8000-000000000001',
  organizationId: '00000000-0000-7000-8000-000000000002',
  name: 'Bench',
}

/** Runs one page; `row` picks where, from 0 to the table's size. */
export type PageQuery = (db: Sql, row: number, rows: number) => Promise<unknown>

export interface Sizes {
  readonly small: Database
  readonly large: Database
}

/** Two databases on one server, filled to the two sizes. */
export async function withSizes<Result>(
  fill: (db: Database, rows: number) => Promise<void>,
  work: (databases: Sizes) => Promise<Result>,
): Promise<Result> {
  return withDataDirectory(async (directory) => {
    const embedded = await startEmbeddedPostgres({ dataDirectory: directory, log: silentLog })
    const options = { poolSize: 4, statementTimeoutMs: 600_000, lockTimeoutMs: 60_000, log: silentLog }
    const open = async (name: string, rows: number): Promise<Database> => {
      const admin = connect(embedded.connection, options)
      await admin.run({ text: `create database ${name}`, values: [] })
      await admin.close()
      const db = connect({ ...embedded.connection, database: name }, options)
      await migrate(db, await readMigrations())
      await fill(db, rows)
      return db
    }
    const small = await open('bench_small', sizes.small)
    const large = await open('bench_large', sizes.large)
    try {
      return await work({ small, large })
    } finally {
      await small.close()
      await large.close()
      await embedded.stop()
    }
  })
}

export async function comparePages(queries: Record<string, PageQuery>, databases: Sizes): Promise<Measured[]> {
  const pages: Measured[] = []
  for (const [what, query] of Object.entries(queries)) pages.push(await comparePage(what, query, databases))
  return pages
}

async function comparePage(what: string, query: PageQuery, { small, large }: Sizes): Promise<Measured> {
  const times = { small: [] as number[], large: [] as number[] }
  const [smallPages, largePages] = [withoutCount(small), withoutCount(large)]
  for (let sample = 0; sample < samples + warmUp; sample += 1) {
    // The same relative places in both, spread over the whole table.
    const place = ((sample * 7919) % 1000) / 1000
    const smallMs = await timed(() => query(smallPages, Math.floor(place * sizes.small), sizes.small))
    const largeMs = await timed(() => query(largePages, Math.floor(place * sizes.large), sizes.large))
    if (sample < warmUp) continue
    times.small.push(smallMs)
    times.large.push(largeMs)
  }
  const ratio = percentile(times.large, 0.99) / percentile(times.small, 0.99)
  const p50 = `${median(times.small).toFixed(2)} → ${median(times.large).toFixed(2)}`
  const p99 = `${percentile(times.small, 0.99).toFixed(2)} → ${percentile(times.large, 0.99).toFixed(2)} ms`
  return {
    what: `${what} (p50 ${p50}, p99 ${p99})`,
    value: ratio.toFixed(2),
    bar: `≤ ${ratioBar}`,
    met: ratio <= ratioBar,
  }
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

/** A database that answers counts at once, so that only the page is measured. */
function withoutCount(db: Sql): Sql {
  return {
    ...db,
    row: async <Row extends object>(statement: Parameters<Sql['row']>[0]) =>
      statement.text.startsWith('select count(*)') ? ({ count: 0 } as unknown as Row) : db.row<Row>(statement),
  }
}
