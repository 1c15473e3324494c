// First pages of feeds as a node answered them, each with the stamp of the rows it was read from.
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Environment } from '../../domain/environment.ts'
import type { FeedQuery } from './feed.ts'

export interface KeptFeedPage {
  readonly stamp: string
  /** As it was sent. */
  readonly text: string
}

export interface KeptFeedPages {
  find(key: string, now: Date): KeptFeedPage | undefined
  /** `now`: when its reading began. Those that are too old by then are forgotten. */
  keep(key: string, page: KeptFeedPage, now: Date): void
  forget(key: string): void
}

/** What the stamp does not cover is late by this at the most, such as events that retention has deleted before their messages. */
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
      return page !== undefined && isRecent(page, now) ? page : undefined
    },
    keep: (key, { stamp, text }, now) => {
      for (const [oldest, page] of kept) {
        if (isRecent(page, now)) break
        kept.delete(oldest)
      }
      if (text.length > textLengthMax) kept.delete(key)
      else kept.set(key, { stamp, text, readAt: now })
    },
    forget: (key) => {
      kept.delete(key)
    },
  }
}

/** A clock that was set back says nothing about an age. */
function isRecent({ readAt }: { readonly readAt: Date }, now: Date): boolean {
  const ageMs = now.getTime() - readAt.getTime()
  return ageMs >= 0 && ageMs <= ageMsMax
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
