// A follower of an inbox: a connection of one of the protocols, as the hub sees it.
import type { Reader } from '../domain/messages/inbox.ts'
import type { Place } from '../store/messages/changes.ts'
import type { InboxNumber } from '../store/messages/inbox-changes.ts'
import type { News } from './news.ts'

/** Why a stream ends from our side. */
export type Ending = 'expired' | 'revoked' | 'stopping' | 'busy'

/** Whether it may come again: with another node, or later. */
export const mayComeAgain = (why: Ending): boolean => why === 'stopping' || why === 'busy'

/** A session that was checked. */
export interface OpenedSession {
  readonly reader: Reader
  readonly generation: number
  readonly expiresAtMs: number
}

export interface Follower extends OpenedSession {
  /** The last change that was delivered to it. The hub moves it. */
  place: Place
  /** It receives the open counts whether or not something changed: it did not resume. */
  isFresh: boolean
  /** Returns at once; whoever cannot take it ends. */
  deliver(news: readonly News[]): void
  end(why: Ending): void
}

/** Why it receives nothing any more, if so. No number: the subscriber is gone. */
export function endingOf(
  { expiresAtMs, generation }: Follower,
  number: InboxNumber | undefined,
  now: Date,
): Ending | undefined {
  if (expiresAtMs <= now.getTime()) return 'expired'
  return generation === number?.generation ? undefined : 'revoked'
}
