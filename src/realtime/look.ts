// Looks at what changed in some inboxes of an environment, and tells it to those who follow them.
import type { Db, Sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import type { ChangedMessage, Place } from '../store/messages/changes.ts'
import { findChanges } from '../store/messages/changes.ts'
import type { InboxNumber } from '../store/messages/inbox-changes.ts'
import { findInboxNumbers } from '../store/messages/inbox-changes.ts'
import type { OpenCounts } from '../store/messages/open-counts.ts'
import { countOpen } from '../store/messages/open-counts.ts'
import { findReaderOrigins } from '../store/messages/origins.ts'
import { findSubscribersById } from '../store/people/subscribers.ts'
import type { Follower } from './follower.ts'
import { endingOf } from './follower.ts'
import type { News, ShownWith } from './news.ts'
import { countsOf, isAfter, newsOf } from './news.ts'

/** Of one inbox so many are read at once; those of one that changed more follow with the next look. */
const changesPerLookMax = 50
/** After everything that has a number. */
export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export interface LookedAt {
  readonly subscriberId: string
  readonly followers: readonly Follower[]
}

export interface Looked {
  readonly subscriberId: string
  /** Undefined where the subscriber is gone. */
  readonly number: InboxNumber | undefined
  /** Whether there is more than was read. */
  readonly hasMore: boolean
}

/** Followers that join meanwhile receive nothing yet: their inbox is looked at next. */
export async function look(
  db: Db,
  environment: Environment,
  inboxes: readonly LookedAt[],
  now: Date,
): Promise<Looked[]> {
  const asked = inboxes.map(({ subscriberId, followers }) => ({ subscriberId, after: lowest(followers) }))
  const ids = asked.map((one) => one.subscriberId)
  // The number first: whatever has it, or a lower one, is there for the second statement.
  const [numbers, rows] = await db.together((on) =>
    Promise.all([findInboxNumbers(on, environment, ids), findChanges(on, environment, asked, changesPerLookMax)]),
  )
  const numberOf = new Map(numbers.map((one) => [one.subscriberId, one]))
  const rowsOf = grouped(rows, (row) => row.subscriber_id)
  const steps = inboxes.flatMap(({ subscriberId, followers }) => {
    const number = numberOf.get(subscriberId)
    if (number === undefined) return []
    const allowed = followers.filter((follower) => endingOf(follower, number, now) === undefined)
    return [stepOf(subscriberId, number, rowsOf.get(subscriberId) ?? [], allowed)]
  })
  const [counts, shown] = await db.together((on) =>
    Promise.all([countsFor(on, environment, steps), shownWith(on, environment, rows)]),
  )
  for (const step of steps) deliverTo(step, shown, counts)
  return inboxes.map(({ subscriberId }) => ({
    subscriberId,
    number: numberOf.get(subscriberId),
    hasMore: rowsOf.get(subscriberId)?.length === changesPerLookMax,
  }))
}

/** From where a look has to begin. */
function lowest(followers: readonly Follower[]): Place {
  const [first, ...others] = followers.map((follower) => follower.place)
  if (first === undefined) throw new Error('An inbox without followers is not looked at')
  return others.reduce((least, place) => (isAfter(place, least.number, least.messageId) ? place : least), first)
}

interface Step {
  readonly subscriberId: string
  readonly rows: readonly ChangedMessage[]
  /** Where followers stand after the delivery. */
  readonly end: Place
  /** More follows with the next look: the open counts are delivered then, once. */
  readonly isCut: boolean
  /** Those who are behind, and those who receive counts whatever changed. */
  readonly behind: readonly Follower[]
}

function stepOf(
  subscriberId: string,
  { number }: InboxNumber,
  rows: readonly ChangedMessage[],
  followers: readonly Follower[],
): Step {
  const last = rows.at(-1)
  const isCut = rows.length === changesPerLookMax
  const end =
    isCut && last !== undefined
      ? { number: last.change, messageId: last.id }
      : { number: Math.max(number, last?.change ?? 0), messageId: lastId }
  const behind = followers.filter(
    ({ place, isFresh }) => (isFresh && !isCut) || isAfter(place, end.number, end.messageId),
  )
  return { subscriberId, rows, end, isCut, behind }
}

const contextsOf = (subscriberId: string, contextKeys: readonly string[]): string =>
  `${subscriberId}/${contextKeys.join(',')}`

async function countsFor(db: Sql, environment: Environment, steps: readonly Step[]): Promise<Map<string, OpenCounts>> {
  const asked = new Map<string, { subscriberId: string; contextKeys: readonly string[] }>()
  for (const { subscriberId, behind } of steps.filter(({ isCut }) => !isCut)) {
    for (const { contextKeys } of behind.map((follower) => follower.reader)) {
      asked.set(contextsOf(subscriberId, contextKeys), { subscriberId, contextKeys })
    }
  }
  const counts = await countOpen(db, environment, [...asked.values()])
  return new Map([...asked.keys()].flatMap((key, index) => (counts[index] ? [[key, counts[index]]] : [])))
}

async function shownWith(
  db: Sql,
  environment: Environment,
  rows: readonly ChangedMessage[],
): Promise<(subscriberId: string) => ShownWith | undefined> {
  if (rows.length === 0) return () => undefined
  const ids = [...new Set(rows.map((row) => row.subscriber_id))]
  const [origins, subscribers] = await Promise.all([
    findReaderOrigins(db, environment, rows),
    findSubscribersById(db, environment, ids),
  ])
  const byId = new Map(subscribers.map((subscriber) => [subscriber.id, subscriber]))
  return (subscriberId) => {
    const subscriber = byId.get(subscriberId)
    return subscriber && { environment, subscriber, origins }
  }
}

function deliverTo(
  { subscriberId, rows, end, isCut, behind }: Step,
  shown: (subscriberId: string) => ShownWith | undefined,
  counts: ReadonlyMap<string, OpenCounts>,
): void {
  const show = shown(subscriberId)
  const changes = show === undefined ? [] : rows.map((row, index) => newsOf(row, offsetOf(rows, index, end), show))
  const total = new Map<string, News>()
  for (const follower of behind) {
    const { contextKeys } = follower.reader
    const key = contextsOf(subscriberId, contextKeys)
    const news = rows.flatMap((row, index) => {
      const change = changes[index]
      const isKnown = !isAfter(follower.place, row.change, row.id) || !hasContexts(row, contextKeys)
      return change === undefined || isKnown ? [] : [change(follower.place)]
    })
    const counted = counts.get(key)
    if (counted !== undefined && !total.has(key)) total.set(key, countsOf(counted, offsetAt(end)))
    const last = total.get(key)
    const isWorthIt = news.length > 0 || follower.isFresh || rows.length === 0
    follower.isFresh = isCut && (follower.isFresh || news.length > 0)
    // One that is further on stays there.
    if (isAfter(follower.place, end.number, end.messageId)) follower.place = end
    if (isWorthIt) follower.deliver(last === undefined ? news : [...news, last])
  }
}

/** A number is reached with the last message that has it: before, a stream that was cut off goes on with all of them. */
function offsetOf(rows: readonly ChangedMessage[], index: number, end: Place): number {
  const row = rows[index]
  if (row === undefined) return offsetAt(end)
  const next = rows[index + 1]
  return next === undefined ? offsetAt({ ...end, number: row.change }) : Math.min(row.change, next.change - 1)
}

const offsetAt = ({ number, messageId }: Place): number => (messageId === lastId ? number : number - 1)

/** Both are sorted. */
function hasContexts({ context_keys: keys }: ChangedMessage, contextKeys: readonly string[]): boolean {
  return (keys ?? []).join('\n') === contextKeys.join('\n')
}
