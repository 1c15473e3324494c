// Page queries of search and lists at 10,000 and 1,000,000 rows, interleaved. The capped count runs apart and is told apart.
import { connect, type Database } from '../src/db/connect.ts'
import { startEmbeddedPostgres } from '../src/db/embedded-postgres.ts'
import { migrate, readMigrations } from '../src/db/migrate.ts'
import type { Sql } from '../src/db/sql.ts'
import type { Caller, Environment } from '../src/domain/environment.ts'
import { createSealer } from '../src/domain/sealed.ts'
import { writeCursor } from '../src/read/cursor.ts'
import { searchSubscribers } from '../src/read/subscribers.ts'
import { topicSubscriptionsPage } from '../src/read/topic-subscriptions.ts'
import { topicsPage } from '../src/read/topics.ts'
import { silentLog } from '../src/world/log.ts'
import { fillRows, firstNames, idOfRow, topicId, updatedAtOfRow } from './rows.ts'
import { withDataDirectory } from './service.ts'
import { type Measured, median, percentile } from './statistics.ts'

const sizes = { small: 10_000, large: Number(process.env['BENCH_ROWS'] ?? 1_000_000) }
const samples = 1_000
const warmUp = 50
const ratioBar = 2

const environment: Environment = {
  id: '00000000-0000-7000-8000-000000000001',
  organizationId: '00000000-0000-7000-8000-000000000002',
  name: 'Bench',
}
const caller: Caller = { environment, keyId: 'bench', scopes: ['full'] }
const sealer = createSealer([Buffer.alloc(32)])

/** Runs one page; `row` picks where, from 0 to the table's size. */
type PageQuery = (db: Sql, row: number) => Promise<unknown>

const cursorAt = (row: number) => writeCursor({ orderBy: '_id', value: idOfRow(row), id: idOfRow(row) })
const search = (db: Sql, query: Parameters<typeof searchSubscribers>[3]) => searchSubscribers(db, sealer, caller, query)
const topic = { _id: topicId, key: 'everyone', createdAt: updatedAtOfRow(0), updatedAt: updatedAtOfRow(0) }

const queries: Record<string, PageQuery> = {
  'subscribers, first page': (db) => search(db, {}),
  'subscribers, after a cursor': (db, row) => search(db, { after: cursorAt(row) }),
  'subscribers, before a cursor': (db, row) => search(db, { before: cursorAt(row) }),
  'subscribers, by updatedAt after a cursor': (db, row) =>
    search(db, {
      orderBy: 'updatedAt',
      after: writeCursor({ orderBy: 'updatedAt', value: updatedAtOfRow(row), id: idOfRow(row) }),
    }),
  'subscribers, subscriberId': (db, row) => search(db, { subscriberId: `user-${row}` }),
  'subscribers, e-mail of one': (db, row) => search(db, { email: `person-${row}@` }),
  'subscribers, e-mail of all': (db) => search(db, { email: 'example.com' }),
  'subscribers, e-mail of none': (db, row) => search(db, { email: `nobody-${row}@nowhere` }),
  'subscribers, phone of one': (db, row) => search(db, { phone: String(row).padStart(8, '0') }),
  'subscribers, name of 1 in 100': (db, row) => search(db, { name: firstNames[row % firstNames.length] ?? '' }),
  'subscribers, name of one': (db, row) => search(db, { name: `Surname${row}e` }),
  'topics, first page': (db) => topicsPage(db, environment, {}),
  'topics, name of one': (db, row) => topicsPage(db, environment, { name: `Topic number ${row}.` }),
  'subscriptions of a topic, first page': (db) => topicSubscriptionsPage(db, environment, topic, {}),
  'subscriptions of a topic, after a cursor': (db, row) =>
    topicSubscriptionsPage(db, environment, topic, { after: cursorAt(row) }),
}

export async function benchPages(): Promise<Measured[]> {
  return withDataDirectory(async (directory) => {
    const embedded = await startEmbeddedPostgres({ dataDirectory: directory, log: silentLog })
    const open = async (name: string, rows: number): Promise<Database> => {
      const options = { poolSize: 3, statementTimeoutMs: 600_000, lockTimeoutMs: 60_000, log: silentLog }
      const admin = connect(embedded.connection, options)
      await admin.run({ text: `create database ${name}`, values: [] })
      await admin.close()
      const db = connect({ ...embedded.connection, database: name }, options)
      await migrate(db, await readMigrations())
      await fillRows(db, environment, rows)
      return db
    }
    const small = await open('bench_small', sizes.small)
    const large = await open('bench_large', sizes.large)
    try {
      const pages: Measured[] = []
      for (const [what, query] of Object.entries(queries)) pages.push(await comparePages(what, query, small, large))
      return [...pages, await measureCount(large, {}), await measureCount(large, { email: 'example.com' })]
    } finally {
      await small.close()
      await large.close()
      await embedded.stop()
    }
  })
}

async function comparePages(what: string, query: PageQuery, small: Database, large: Database): Promise<Measured> {
  const times = { small: [] as number[], large: [] as number[] }
  const [smallPages, largePages] = [withoutCount(small), withoutCount(large)]
  for (let sample = 0; sample < samples + warmUp; sample += 1) {
    // The same relative places in both, spread over the whole table.
    const place = ((sample * 7919) % 1000) / 1000
    const smallMs = await timed(() => query(smallPages, Math.floor(place * sizes.small)))
    const largeMs = await timed(() => query(largePages, Math.floor(place * sizes.large)))
    if (sample < warmUp) continue
    times.small.push(smallMs)
    times.large.push(largeMs)
  }
  const ratio = percentile(times.large, 0.99) / percentile(times.small, 0.99)
  const p99 = `${percentile(times.small, 0.99).toFixed(2)} → ${percentile(times.large, 0.99).toFixed(2)} ms`
  return {
    what: `${what} (p50 ${median(times.large).toFixed(2)} ms, p99 ${p99})`,
    value: ratio.toFixed(2),
    bar: `≤ ${ratioBar}`,
    met: ratio <= ratioBar,
  }
}

async function measureCount(large: Database, query: Parameters<typeof searchSubscribers>[3]): Promise<Measured> {
  const times: number[] = []
  for (let sample = 0; sample < 20; sample += 1) times.push(await timed(() => search(large, query)))
  const what = `subscribers ${JSON.stringify(query)}, first page with the capped count of ${sizes.large} rows (p50)`
  return { what, value: `${median(times).toFixed(1)} ms` }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
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
