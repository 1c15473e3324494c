// The notifications of a session's inbox, many at once: those that match tags and data, or all.
import { Type } from 'typebox'
import type { InboxFilter } from '../../../domain/messages/inbox-filter.ts'
import type { Mark } from '../../../domain/messages/message-marks.ts'
import { messagesPerMarkMax } from '../../../domain/messages/message-marks.ts'
import { deleteMatching, markMatching, markNotifications } from '../../../manage/messages/inbox-marks.ts'
import type { InboxRoute } from '../../inbox-route.ts'
import { inboxRoute } from '../../inbox-route.ts'
import { filterOfBody, filterTextMax } from '../../request/inbox-filter.ts'

const path = '/v1/inbox/notifications'
const shared = { tag: 'Inbox', method: 'POST', replies: { 204: null } } as const
/** Which notifications a bulk call concerns. */
export const filterMembers = {
  tags: Type.Optional(
    Type.Unsafe<unknown>({
      type: ['array', 'object', 'null'],
      description: 'A list, of which any matches, or `{"and": [{"or": [...]}]}`.',
    }),
  ),
  data: Type.Optional(
    Type.Unsafe<unknown>({
      type: ['string', 'object', 'null'],
      maxLength: filterTextMax,
      description: 'What their data must contain, as a JSON string or an object.',
    }),
  ),
}
export const notificationIds = Type.Optional(
  Type.Array(Type.String({ maxLength: 255 }), {
    maxItems: messagesPerMarkMax,
    description: 'Only these notifications.',
  }),
)
const matching = Type.Object(filterMembers, { title: 'MatchingNotifications', examples: [{ tags: ['orders'] }] })

const bulk = (
  verb: string,
  operationId: string,
  summary: string,
  { mark, also = {} }: { mark: Mark; also?: InboxFilter },
): InboxRoute =>
  inboxRoute({
    ...shared,
    path: `${path}/${verb}`,
    operationId,
    summary,
    description: 'Without `tags` and `data`, all notifications. Snoozed ones are unchanged.',
    body: matching,
    handle: ({ db, world }, { reader, body }) =>
      markMatching(db, world, reader, { filter: { ...filterOfBody(body), ...also }, mark }),
  })

const archiveRead = { mark: 'archived', also: { read: true } } as const

export const inboxBulkRoutes = [
  bulk('read', 'readInboxNotifications', 'Mark notifications as read', { mark: 'read' }),
  bulk('archive', 'archiveInboxNotifications', 'Archive notifications', { mark: 'archived' }),
  bulk('read-archive', 'archiveReadInboxNotifications', 'Archive read notifications', archiveRead),
  // Some versions of the public client ask for it by this name.
  bulk(
    'archive/read',
    'archiveReadInboxNotificationsByOldName',
    'Archive read notifications (older name)',
    archiveRead,
  ),
  inboxRoute({
    ...shared,
    path: `${path}/delete`,
    operationId: 'deleteInboxNotifications',
    summary: 'Delete notifications',
    description: 'Without `tags` and `data`, all notifications. Snoozed ones are not deleted.',
    body: matching,
    handle: ({ db, world }, { reader, body }) => deleteMatching(db, world, reader, { filter: filterOfBody(body) }),
  }),
  inboxRoute({
    ...shared,
    path: `${path}/seen`,
    operationId: 'seeInboxNotifications',
    summary: 'Mark notifications as seen',
    description:
      'By id (ids of other subscribers are ignored; an empty list is none), by `tags` and `data`, or, if nothing is given, all.',
    body: Type.Object(
      {
        ...filterMembers,
        notificationIds,
      },
      { title: 'SeeNotifications', examples: [{ notificationIds: ['01942a63-0d2e-7abc-8def-0123456789ab'] }] },
    ),
    handle: ({ db, world }, { reader, body }) => {
      const { notificationIds: ids } = body
      if (ids !== undefined) return markNotifications(db, world, reader, { ids, mark: 'seen' })
      return markMatching(db, world, reader, { filter: filterOfBody(body), mark: 'seen' })
    },
  }),
]
