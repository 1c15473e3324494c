// The answer to a read of a feed: a page that was answered before is sent again while its rows are the same.
import type { Answer } from '../../../domain/answer.ts'
import { ok } from '../../../domain/answer.ts'
import type { Principal } from '../../../domain/environment.ts'
import { messageWithoutAddresses, seesAddresses } from '../../../domain/messages/shown-addresses.ts'
import { mapInTurns } from '../../../domain/turn.ts'
import { unknownSubscriber } from '../../../manage/people/subscribers.ts'
import type { FeedQuery } from '../../../read/messages/feed.ts'
import { feedStamp, stampedFeedPage } from '../../../read/messages/feed.ts'
import { feedPageKey } from '../../../read/messages/kept-feed-pages.ts'
import type { Service } from '../../route.ts'

export async function feedAnswer(
  { db, world, versions, keptPages: { feeds } }: Pick<Service, 'db' | 'world' | 'versions' | 'keptPages'>,
  principal: Principal,
  subscriberId: string,
  query: FeedQuery,
): Promise<Answer<unknown>> {
  const { environment } = principal
  const now = world.now()
  const isFull = seesAddresses(principal)
  const key = feedPageKey(environment, subscriberId, query, isFull)
  const kept = key === undefined ? undefined : feeds.find(key, now)
  if (key !== undefined && kept !== undefined) {
    const stamp = await feedStamp(db, environment, subscriberId, query)
    if (stamp === kept.stamp) return { status: 200, body: undefined, written: { text: kept.text } }
    // What it has become may be one that is not kept, and is not to be asked about twice then.
    feeds.forget(key)
  }
  const found = await stampedFeedPage(db, environment, subscriberId, query, versions)
  if (found === undefined) throw unknownSubscriber(subscriberId)
  const { page, stamp } = found
  const answer = ok(isFull ? page : { ...page, data: await mapInTurns(page.data, messageWithoutAddresses) })
  if (key === undefined || stamp === undefined) return answer
  return { ...answer, written: { keep: (text) => feeds.keep(key, { stamp, text }, now) } }
}
