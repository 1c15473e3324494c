// First pages of feeds as a node answered them, each with the stamp of the rows it was read from.
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Environment } from '../../domain/environment.ts'
import type { FeedQuery } from './feed.ts'

export interface KeptFeedPage {
  readonly stamp: string
  /** As it was sent. */
  readonly text: string
}

/** The time is when a page was read: the stamp decides, and what it does not cover is this late at the most. */
export interface KeptFeedPages {
  find(key: string, now: Date): KeptFeedPage | undefined
  keep(key: string, page: KeptFeedPage, now: Date): void
}

/** Such as events that retention has deleted before their messages. */
export const ageMsMax = 60_000
/** In characters: a page of a hundred items of ordinary size. */
export const textLengthMax = 64 * 1024
/** Of all of them, texts and stamps; up to two bytes each. */
const lengthMax = 8 * 1024 * 1024
/** Empty pages weigh little, their keys have up to 400 characters. */
const pagesMax = 10_000

export function createKeptFeedPages(bounds = { pagesMax, lengthMax }): KeptFeedPages {
  const kept = new BoundedMap<string, KeptFeedPage & { readonly readAt: Date }>(bounds.pagesMax, {
    max: bounds.lengthMax,
    of: ({ stamp, text }) => stamp.length + text.length,
  })
  return {
    find: (key, now) => {
      const page = kept.get(key)
      if (page === undefined) return undefined
      const ageMs = now.getTime() - page.readAt.getTime()
      // A clock that was set back says nothing about the age.
      if (ageMs >= 0 && ageMs <= ageMsMax) return page
      kept.delete(key)
      return undefined
    },
    keep: (key, { stamp, text }, now) => {
      if (text.length > textLengthMax) kept.delete(key)
      else kept.set(key, { stamp, text, readAt: now })
    },
  }
}

/** Undefined for what is not kept: later pages, and filters by payload or feed. No subscriberId can be written so that it gives the key of another. */
export function feedPageKey(
  environment: Environment,
  subscriberId: string,
  { page, limit, read, seen, payload, feedIds }: FeedQuery,
  seesAddresses: boolean,
): string | undefined {
  if (page !== 0 || payload !== undefined || feedIds !== undefined) return undefined
  return JSON.stringify([environment.id, subscriberId, limit, read ?? null, seen ?? null, seesAddresses])
}
