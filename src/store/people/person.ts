// Subscribers and contexts as templates and conditions see them.
import type { ContextRow } from './contexts.ts'
import type { RecipientRow } from './subscribers.ts'

/** A subscriber in the words of the interface. */
export function personOf(row: RecipientRow): Readonly<Record<string, unknown>> {
  return {
    _id: row.id,
    subscriberId: row.subscriber_id,
    firstName: row.first_name,
    lastName: row.last_name,
    email: row.email,
    phone: row.phone,
    avatar: row.avatar,
    locale: row.locale,
    timezone: row.timezone,
    data: row.data ?? {},
    isOnline: row.is_online,
    lastOnlineAt: row.last_online_at?.toISOString() ?? null,
  }
}

/** By their types. */
export const contextsOf = (rows: readonly ContextRow[]): Readonly<Record<string, ContextView>> =>
  rows.length === 0 ? nothing : Object.fromEntries(rows.map(({ type, id, data }) => [type, { id, data: data ?? {} }]))

interface ContextView {
  readonly id: string
  readonly data: Readonly<Record<string, unknown>>
}

const nothing = {}
