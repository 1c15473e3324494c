// One notification of a subscriber's inbox: read, archived, put off. Its id is the message's.
import type { Static } from 'typebox'
import { Type } from 'typebox'
import type { Mark } from '../../../domain/messages/message-marks.ts'
import { snoozeDaysMax } from '../../../domain/messages/message-marks.ts'
import { marksAnsweredTo } from '../../../domain/messages/shown-addresses.ts'
import { markOne } from '../../../manage/messages/message-marks.ts'
import { snooze, unsnooze } from '../../../manage/messages/message-snooze.ts'
import type { Route } from '../../route.ts'
import { route } from '../../route.ts'
import { timestamp } from '../../schemas.ts'
import { subscriberId } from '../people/subscriber-schemas.ts'
import { subscriberNotification } from './message-schemas.ts'

const params = Type.Object({
  subscriberId,
  notificationId: Type.String({ maxLength: 255, description: 'The `_id` of the feed item.' }),
})
const shared = {
  tag: 'Feed',
  category: 'global',
  method: 'PATCH',
  scope: 'inbox:write',
  params,
  replies: { 200: subscriberNotification },
  errors: [404],
} as const
const base = '/v2/subscribers/{subscriberId}/notifications/{notificationId}'

const marking = (verb: string, operationId: string, summary: string, mark: Mark): Route =>
  route({
    ...shared,
    path: `${base}/${verb}`,
    operationId,
    summary,
    handle: async ({ db, world }, { principal, params, idempotency }) => {
      const call = { ...named(params), mark, idempotency }
      return marksAnsweredTo(principal, await markOne(db, world, principal.environment, call))
    },
  })

export const subscriberNotificationRoutes = [
  marking('read', 'markNotificationRead', 'Mark a notification as read', 'read'),
  marking('unread', 'markNotificationUnread', 'Mark a notification as unread', 'unread'),
  marking('archive', 'archiveNotification', 'Archive a notification', 'archived'),
  marking('unarchive', 'unarchiveNotification', 'Unarchive a notification', 'unarchived'),
  route({
    ...shared,
    path: `${base}/snooze`,
    operationId: 'snoozeNotification',
    summary: 'Snooze a notification',
    description: 'Removes the item from the feed until the given time; then it returns unread, at the top.',
    body: Type.Object(
      { snoozeUntil: timestamp({ maxLength: 64, description: `In the future, at most ${snoozeDaysMax} days ahead.` }) },
      { title: 'SnoozeNotification', examples: [{ snoozeUntil: '2030-01-31T09:00:00.000Z' }] },
    ),
    handle: async ({ db, world }, { principal, params, body, idempotency }) => {
      const call = { ...named(params), until: body.snoozeUntil, idempotency }
      return marksAnsweredTo(principal, await snooze(db, world, principal.environment, call))
    },
  }),
  route({
    ...shared,
    path: `${base}/unsnooze`,
    operationId: 'unsnoozeNotification',
    summary: 'Unsnooze a notification',
    description: 'Returns the item to the feed at once. An item that is not snoozed is unchanged.',
    handle: async ({ db, world }, { principal, params, idempotency }) =>
      marksAnsweredTo(principal, await unsnooze(db, world, principal.environment, { ...named(params), idempotency })),
  }),
]

const named = ({ subscriberId, notificationId }: Static<typeof params>) => ({ subscriberId, messageId: notificationId })
