// Page queries of the feed, the messages and the events at 10,000 and 1,000,000 rows.
import type { Sql } from '../src/db/sql.ts'
import type { Principal } from '../src/domain/environment.ts'
import { createSealer } from '../src/domain/operate/sealed.ts'
import { stampedActivityPage } from '../src/read/activity/activity.ts'
import { createPinnedVersions } from '../src/read/activity/pinned-versions.ts'
import { stampedFeedPage } from '../src/read/messages/feed.ts'
import { messagesPage } from '../src/read/messages/messages.ts'
import {
  eventIdOfRow,
  fillActivity,
  hotPeople,
  ordinaryPeople,
  rareWorkflow,
  timestampOfRow,
  workflowIdOf,
} from './activity-rows.ts'
import { comparePages, environment, type PageQuery, withSizes } from './page-times.ts'
import type { Measured } from './statistics.ts'

const principal: Principal = { environment, keyId: 'bench', keyName: 'Key', scopes: ['full'] }
const sealer = createSealer([Buffer.alloc(32)])
const versions = createPinnedVersions()

const hot = (row: number): string => `user-${row % hotPeople}`
const ordinary = (row: number, rows: number): string => `user-${hotPeople + (row % ordinaryPeople(rows))}`

type Part<Query> = Partial<Omit<Query, 'page' | 'limit'>> & { page?: number }
const limit = 10

const feed = (db: Sql, subscriberId: string, query: Part<Parameters<typeof stampedFeedPage>[3]> = {}) =>
  stampedFeedPage(db, environment, subscriberId, { page: 0, limit, ...query }, versions)
const messages = (db: Sql, query: Part<Parameters<typeof messagesPage>[3]> = {}) =>
  messagesPage(db, sealer, principal, { page: 0, limit, ...query }, new Date())
const events = (db: Sql, query: Part<Parameters<typeof stampedActivityPage>[2]> = {}) =>
  stampedActivityPage(db, environment, { page: 0, limit, ...query }, versions)

const queries: Record<string, PageQuery> = {
  'feed, first page': (db, row, rows) => feed(db, ordinary(row, rows)),
  'feed, third page': (db, row, rows) => feed(db, ordinary(row, rows), { page: 2 }),
  'feed of someone who hears much, first page': (db, row) => feed(db, hot(row)),
  'feed, unread': (db, row, rows) => feed(db, ordinary(row, rows), { read: false }),
  'feed, unseen of someone who hears much': (db, row) => feed(db, hot(row), { seen: false }),
  'feed, payload': (db, row, rows) => feed(db, ordinary(row, rows), { payload: { region: row % 5 } }),
  'messages, first page': (db) => messages(db),
  'messages, page 20': (db) => messages(db, { page: 20 }),
  'messages, channel': (db) => messages(db, { channel: 'email' }),
  'messages, subscriber': (db, row, rows) => messages(db, { subscriberId: ordinary(row, rows) }),
  'messages, subscriber who hears much': (db, row) => messages(db, { subscriberId: hot(row) }),
  'messages, transaction': (db, row, rows) => messages(db, { transactionIds: [eventIdOfRow(row, rows)] }),
  'messages, context': (db, row) => messages(db, { contextKeys: [`account:a${row % 50}`] }),
  'events, first page': (db) => events(db),
  'events, page 20': (db) => events(db, { page: 20 }),
  'events, within a day': (db, row, rows) =>
    events(db, {
      after: timestampOfRow(row, rows).toISOString(),
      before: new Date(timestampOfRow(row, rows).getTime() + 86_400_000).toISOString(),
    }),
  'events, channel': (db) => events(db, { channels: ['email'] }),
  'events, workflow': (db, row) => events(db, { templates: [workflowIdOf(row % rareWorkflow)] }),
  'events, rare workflow': (db) => events(db, { templates: [workflowIdOf(rareWorkflow)] }),
  'events, subscriber': (db, row, rows) => events(db, { subscriberIds: [ordinary(row, rows)] }),
  'events, subscriber who hears much': (db, row) => events(db, { subscriberIds: [hot(row)] }),
  'events, e-mail': (db, row, rows) =>
    events(db, { emails: [`person-${hotPeople + (row % ordinaryPeople(rows))}@example.com`] }),
  'events, search': (db, row, rows) => events(db, { search: `son-${hotPeople + (row % ordinaryPeople(rows))}@` }),
  'events, severity': (db) => events(db, { severity: ['high'] }),
  'events, transaction': (db, row, rows) => events(db, { transactionId: [eventIdOfRow(row, rows)] }),
  'events, topic': (db, row) => events(db, { topicKey: `news-${row % 10}` }),
  'events, context': (db, row) => events(db, { contextKeys: [`account:a${row % 50}`] }),
  'events, severity and workflow': (db, row) =>
    events(db, { severity: ['low'], templates: [workflowIdOf(row % rareWorkflow)] }),
}

/** A page that is empty measures nothing. */
const filled =
  (what: string, query: PageQuery): PageQuery =>
  async (db, row, rows) => {
    const page = (await query(db, row, rows)) as { data: unknown[] } | undefined
    if (page === undefined || page.data.length === 0) throw new Error(`${what}: an empty page`)
  }

const filledQueries = Object.fromEntries(
  Object.entries(queries).map(([what, query]) => [what, filled(what, query)] as const),
)

export async function benchPages(): Promise<Measured[]> {
  return withSizes(
    (db, rows) => fillActivity(db, environment, rows),
    (databases) => comparePages(filledQueries, databases),
  )
}
