// First pages of feeds that a node keeps: how many, and under which key.
import type { Environment } from '../../domain/environment.ts'
import type { KeptPagesBounds } from '../page/kept-pages.ts'
import type { FeedQuery } from './feed.ts'

export const keptFeedsBounds: KeptPagesBounds = {
  // Empty pages weigh little, and their keys, of up to some 600 characters, are not counted.
  pagesMax: 10_000,
  lengthMax: 8 * 1024 * 1024,
  // A page of a hundred items of ordinary size.
  textLengthMax: 64 * 1024,
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
