// Finding subscribers: one by its id, or a page of a search.

import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Answer } from '../../domain/answer.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import { mayUse } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { ChannelSettings } from '../../domain/people/channel-settings.ts'
import type { Subscriber } from '../../domain/people/subscriber.ts'
import type { SubscriberPreferences } from '../../domain/preferences/preference.ts'
import { findChannels } from '../../store/people/subscriber-channels.ts'
import type { SubscriberRow } from '../../store/people/subscribers.ts'
import { findSubscriberRows, subscriberColumns, subscriberOf } from '../../store/people/subscribers.ts'
import { contains } from '../page/contains.ts'
import type { CursorPage, CursorQuery, List } from '../page/keyset-page.ts'
import { keysetPage } from '../page/keyset-page.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { listedPage } from '../page/offset-page.ts'

export interface SubscriberSearch extends CursorQuery {
  readonly subscriberId?: string
  readonly email?: string
  readonly phone?: string
  readonly name?: string
  /** Whether to include what each subscriber chose. */
  readonly preferences?: boolean
}

export type FoundSubscriber = Subscriber & { readonly preferences?: SubscriberPreferences }

export const subscriberOrders = ['_id', 'createdAt', 'updatedAt', 'subscriberId'] as const

export async function findSubscriber(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  { subscriberId, preferences }: { readonly subscriberId: string; readonly preferences?: boolean },
): Promise<FoundSubscriber | undefined> {
  const [row] = await findSubscriberRows(db, principal.environment, [subscriberId])
  if (row === undefined) return undefined
  const channels = await findChannels(db, sealer, principal.environment, [row.id])
  return found(principal, row, channels.get(row.id) ?? [], preferences)
}

export async function searchSubscribers(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  search: SubscriberSearch,
): Promise<CursorPage<FoundSubscriber>> {
  const { environment } = principal
  const page = await keysetPage(db, subscriberList(environment, search), search)
  const ids = page.data.map((row) => row.id)
  const channels = await findChannels(db, sealer, environment, ids)
  const data = page.data.map((row) => found(principal, row, channels.get(row.id) ?? [], search.preferences))
  return { ...page, data }
}

/** Newest first. */
export async function subscribersPage(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  page: { page: number; limit: number },
): Promise<OffsetPage<Subscriber>> {
  const { environment } = principal
  const from = sql`from subscribers s where s.environment_id = ${environment.id} and s.deleted_at is null`
  const rows = ({ offset, limit }: { offset: number; limit: number }) =>
    db.rows<SubscriberRow>(sql`select ${subscriberColumns} ${from} order by s.id desc offset ${offset} limit ${limit}`)
  const weight = sql`select ${weightOfSubscriber} as characters ${from} order by s.id desc`
  const listed = await listedPage(db, page, rows, from, weight)
  const ids = listed.data.map((row) => row.id)
  const channels = await findChannels(db, sealer, environment, ids)
  const data = listed.data.map((row) => asSeenBy(principal, subscriberOf(environment, row, channels.get(row.id) ?? [])))
  return { ...listed, data }
}

/** Of `subscribers as s`, in characters. */
export const weightOfSubscriber = sql`coalesce(length(s.data::text), 0) + coalesce(length(s.preferences::text), 0)`

function found(
  principal: Principal,
  row: SubscriberRow,
  channels: readonly ChannelSettings[],
  withPreferences = false,
): FoundSubscriber {
  const subscriber = asSeenBy(principal, subscriberOf(principal.environment, row, channels))
  return withPreferences && row.preferences !== null ? { ...subscriber, preferences: row.preferences } : subscriber
}

/** A device token or a webhook address is as good as a right to send: a key that may only read sees which channels there are. */
export function asSeenBy(principal: Principal, subscriber: Subscriber): Subscriber {
  if (mayUse(principal, 'full')) return subscriber
  return { ...subscriber, channels: subscriber.channels.map((channel) => ({ ...channel, credentials: {} })) }
}

/** What a write is answered with, for this principal. */
export const answeredTo = (principal: Principal, answer: Answer<Subscriber>): Answer<Subscriber> => ({
  ...answer,
  body: asSeenBy(principal, answer.body),
})

/** An empty filter is none: forms send their empty fields too. */
function subscriberList(environment: Environment, search: SubscriberSearch): List<SubscriberRow> {
  const grams = sql`search_grams(s.full_name, s.email, s.phone)`
  const searched = { email: sql`s.email`, phone: sql`s.phone`, name: sql`s.full_name` }
  // A subscriber's id contains its creation time, so both orders are the same.
  const byId = { column: sql`s.id`, cast: 'uuid' } as const
  return {
    columns: subscriberColumns,
    weight: weightOfSubscriber,
    from: sql`from subscribers s`,
    where: [
      sql`s.environment_id = ${environment.id}`,
      sql`s.deleted_at is null`,
      ...(search.subscriberId ? [sql`s.subscriber_id = ${search.subscriberId}`] : []),
    ],
    search: (['email', 'phone', 'name'] as const).flatMap((name) => {
      const text = search[name]
      return text ? [contains(searched[name], text, grams)] : []
    }),
    id: sql`s.id`,
    orders: {
      _id: byId,
      createdAt: byId,
      updatedAt: { column: sql`s.updated_at`, cast: 'timestamptz' },
      subscriberId: { column: sql`s.subscriber_id`, cast: 'text' },
    },
    cursorOf: (row, orderBy) => ({ value: sortValue(row, orderBy), id: row.id }),
  }
}

function sortValue(row: SubscriberRow, orderBy: string): string {
  switch (orderBy) {
    case 'updatedAt':
      return row.updated_at.toISOString()
    case 'subscriberId':
      return row.subscriber_id
    default:
      return row.id
  }
}
