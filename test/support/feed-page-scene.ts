// Reads of feeds by which a test sees how each was answered: from a kept page or in full.
import { createPinnedVersions } from '../../src/read/activity/pinned-versions.ts'
import { stampedFeedPage } from '../../src/read/messages/feed.ts'
import type { CallOptions, Json, TestApp, TestAppOptions, TestReply } from './app.ts'
import { createTestApp } from './app.ts'
import { createFaultyDb } from './faulty-db.ts'
import { environmentOf } from './topic-scene.ts'

/** `kept`: only the stamp was asked for. `stale`: the stamp, and then the page. `full`: the page at once. */
export type Way = 'kept' | 'stale' | 'full'

export interface FeedReader {
  readonly app: TestApp
  read(subscriberId: string, query?: string, options?: CallOptions): Promise<TestReply & { readonly way: Way }>
}

/** An app whose statements are counted; one read of a feed at a time. */
export async function createFeedReader(options: TestAppOptions = {}): Promise<FeedReader> {
  let names: string[] = []
  const note = ({ name = '', text }: { name?: string; text: string }): undefined => {
    names.push(name === '' && /\bcross join c\b/.test(text) ? 'feed-page' : name)
  }
  const app = await createTestApp({ ...options, faulty: (db) => createFaultyDb(db, note) })
  return {
    app,
    read: async (subscriberId, query = '', call = {}) => {
      names = []
      const path = `/v1/subscribers/${encodeURIComponent(subscriberId)}/notifications/feed${query}`
      const reply = await app.call('GET', path, call)
      const count = (start: string): number => names.filter((name) => name.startsWith(start)).length
      const ways: Record<string, Way> = { '1 0': 'kept', '1 1': 'stale', '0 1': 'full' }
      const way = ways[`${count('feed-stamp')} ${count('feed-page')}`]
      if (way === undefined) throw new Error(`These statements were asked for: ${names.join(', ')}`)
      return { ...reply, way }
    },
  }
}

export interface PageQuery {
  readonly limit?: number
  readonly read?: boolean
  readonly seen?: boolean
}

export const queryText = (query: PageQuery): string =>
  `?${Object.entries(query)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')}`

/** The same page for a full key, past whatever is kept; undefined if there is no such subscriber. */
export async function directPage(
  app: TestApp,
  subscriberId: string,
  query: PageQuery = {},
  environmentName = 'Development',
): Promise<Json> {
  const environment = await environmentOf(app, environmentName)
  const asked = { page: 0, limit: 10, ...query }
  const found = await stampedFeedPage(app.database.db, environment, subscriberId, asked, createPinnedVersions())
  return found === undefined ? undefined : JSON.parse(JSON.stringify(found.page))
}
