// Page queries of subscribers and topics at 10,000 and 1,000,000 rows. The capped count runs apart and is
// distinguished.
import type { Database } from '../src/db/connect.ts'
import type { Sql } from '../src/db/sql.ts'
import type { Principal } from '../src/domain/environment.ts'
import { createSealer } from '../src/domain/operate/sealed.ts'
import { writeCursor } from '../src/read/page/cursor.ts'
import { searchSubscribers } from '../src/read/people/subscribers.ts'
import { topicSubscriptionsPage } from '../src/read/people/topic-subscriptions.ts'
import { topicsPage } from '../src/read/people/topics.ts'
import { comparePages, environment, type PageQuery, sizes, timed, withSizes } from './page-times.ts'
import { fillRows, firstNames, idOfRow, topicId, updatedAtOfRow } from './rows.ts'
import { type Measured, median } from './statistics.ts'

const principal: Principal = { environment, keyId: 'bench', keyName: 'Key', scopes: ['full'] }
const sealer = createSealer([Buffer.alloc(32)])

const cursorAt = (row: number) => writeCursor({ orderBy: '_id', value: idOfRow(row), id: idOfRow(row) })
const search = (db: Sql, query: Parameters<typeof searchSubscribers>[3]) =>
  searchSubscribers(db, sealer, principal, query)
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

export async function benchLists(): Promise<Measured[]> {
  return withSizes(
    (db, rows) => fillRows(db, environment, rows),
    async (databases) => [
      ...(await comparePages(queries, databases)),
      await measureCount(databases.large, {}),
      await measureCount(databases.large, { email: 'example.com' }),
    ],
  )
}

async function measureCount(large: Database, query: Parameters<typeof searchSubscribers>[3]): Promise<Measured> {
  const times: number[] = []
  for (let sample = 0; sample < 20; sample += 1) times.push(await timed(() => search(large, query)))
  const what = `subscribers ${JSON.stringify(query)}, first page with the capped count of ${sizes.large} rows (p50)`
  return { what, value: `${median(times).toFixed(1)} ms` }
}
