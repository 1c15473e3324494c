// What a stream delivers: notifications that came, changed or went, and how many are open.
import type { Environment } from '../domain/environment.ts'
import { inboxCountMax } from '../domain/messages/inbox.ts'
import type { ChangedMessage, Place } from '../store/messages/changes.ts'
import type { OpenCounts } from '../store/messages/open-counts.ts'
import type { MessageOrigins } from '../store/messages/origins.ts'
import { inboxNotificationOf, socketMessageOf } from '../store/messages/views.ts'
import type { SubscriberRow } from '../store/people/subscribers.ts'

/** One event of a stream. Its texts are made once, however many connections it goes to. */
export interface News {
  readonly kind: 'received' | 'updated' | 'deleted' | 'counts'
  /** A stream that goes on after this number has missed nothing. */
  readonly offset: number
  /** The events as public inbox clients hear them over sockets: name, and data as JSON. */
  socketEvents(): readonly SocketEvent[]
  /** The events of our own stream. */
  streamEvents(): readonly SocketEvent[]
}

export interface SocketEvent {
  readonly name: string
  readonly json: string
}

export interface ShownWith {
  readonly environment: Environment
  readonly subscriber: SubscriberRow
  readonly origins: MessageOrigins
}

/** Whether the change is one that a stream at this place has not delivered. */
export const isAfter = (place: Place, number: number, messageId: string): boolean =>
  number > place.number || (number === place.number && messageId > place.messageId)

/**
 * The change of a message, as a function of how far a stream has come: to one that has not delivered its arrival it is new,
 * whatever was done with it meanwhile.
 */
export function newsOf(row: ChangedMessage, offset: number, shown: ShownWith): (place: Place) => News {
  const { subscriber, environment, origins } = shown
  if (row.is_deleted) {
    const deleted = oneEvent('deleted', offset, 'notification_deleted', () => ({ id: row.id }))
    return () => deleted
  }
  const notification = lazily(() => inboxNotificationOf(subscriber, row, origins))
  const updated = oneEvent('updated', offset, 'notification_updated', notification)
  const message = () => socketMessageOf(environment, subscriber, row, origins)
  const received: News = {
    ...oneEvent('received', offset, 'notification_received', notification),
    socketEvents: lazily(() => [eventOf('notification_received', { message: message() })]),
  }
  const { arrival } = row
  const isShown = arrival !== null && row.snoozed_until === null
  return (place) => (isShown && isAfter(place, arrival, row.id) ? received : updated)
}

export function countsOf(counts: OpenCounts, offset: number): News {
  const events = lazily(() => {
    const { unread, unseen, high, medium, low, none } = counts
    const severity = { high: shown(high), medium: shown(medium), low: shown(low), none: shown(none) }
    return [
      eventOf('unread_count_changed', {
        unreadCount: shown(unread),
        counts: { total: shown(unread), severity },
        hasMore: unread > inboxCountMax,
      }),
      eventOf('unseen_count_changed', { unseenCount: shown(unseen), hasMore: unseen > inboxCountMax }),
    ]
  })
  return { kind: 'counts', offset, socketEvents: events, streamEvents: events }
}

const shown = (count: number): number => Math.min(count, inboxCountMax)

/** Sockets of public clients hear of it by the counts that follow. */
function oneEvent(kind: News['kind'], offset: number, name: string, data: () => unknown): News {
  return { kind, offset, socketEvents: () => [], streamEvents: lazily(() => [eventOf(name, data())]) }
}

const eventOf = (name: string, data: unknown): SocketEvent => ({ name, json: JSON.stringify(data) })

function lazily<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
