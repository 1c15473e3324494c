// Somebody who follows an inbox: a connection of one of the protocols, as the hub sees it.
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
  /** How far it was told. The hub moves it. */
  place: Place
  /** It is to be told how many are open, whether or not something changed: it did not go on from anywhere. */
  isFresh: boolean
  /** Returns at once; whoever cannot take it ends. */
  deliver(news: readonly News[]): void
  end(why: Ending): void
}

/** Why it is told nothing any more, if so. No number: the subscriber is gone. */
export function endingOf(
  { expiresAtMs, generation }: Follower,
  number: InboxNumber | undefined,
  now: Date,
): Ending | undefined {
  if (expiresAtMs <= now.getTime()) return 'expired'
  return generation === number?.generation ? undefined : 'revoked'
}
