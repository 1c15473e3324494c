// The notifications of a session's inbox: the list, counts, and one of them at a time.
import { Type } from 'typebox'
import type { Answer } from '../../../domain/answer.ts'
import { ok } from '../../../domain/answer.ts'
import { filtersPerCountMax } from '../../../domain/messages/inbox.ts'
import type { ActionStatus, Mark } from '../../../domain/messages/message-marks.ts'
import { buttonTypes, snoozeDaysMax } from '../../../domain/messages/message-marks.ts'
import {
  answerAction,
  deleteNotification,
  markNotification,
  snoozeNotification,
  unsnoozeNotification,
} from '../../../manage/messages/inbox-marks.ts'
import { inboxCounts, inboxPage } from '../../../read/messages/inbox.ts'
import type { InboxRoute } from '../../inbox-route.ts'
import { inboxRoute } from '../../inbox-route.ts'
import { filterOfQuery, filtersOfText, filterTextMax } from '../../request/inbox-filter.ts'
import { freeObject, literals, pageLimitMax, timestamp } from '../../schemas.ts'
import { inboxNotification } from '../messages/message-schemas.ts'

const path = '/v1/inbox/notifications'
const shared = { tag: 'Inbox' } as const
const params = Type.Object({
  notificationId: Type.String({ maxLength: 255, description: 'The `id` of the notification.' }),
})
const one = { 200: Type.Object({ data: inboxNotification }, { title: 'InboxNotificationAnswer' }) }
const offsetMax = 10_000
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const milliseconds = (description: string) => Type.Optional(Type.Number({ description }))
/** Texts, or groups of texts: what the groups come to is judged with the rest of the filter. */
const tags = Type.Unsafe<unknown>({
  type: ['array', 'string'],
  description: '`tags[]=a&tags[]=b` matches any of them; `tags[0][]=a&tags[1][]=b` needs one of each group.',
})
const severity = Type.Unsafe<unknown>({
  type: ['string', 'array'],
  description: '`high`, `medium`, `low` or `none`; give several as `severity[]=…`.',
})
/** What a filter of an answer says. */
export const echo = freeObject({
  description: 'The filter as received.',
  examples: [{ read: false, severity: 'high' }],
})

/** Pages and filters of a list of notifications. */
export const listQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageLimitMax, default: 10 })),
  after: Type.Optional(
    Type.String({ maxLength: 255, description: 'The `id` of the last notification of the previous page.' }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: offsetMax, description: 'Ignored if `after` is given.' })),
  read: flag('Only read or only unread notifications.'),
  archived: flag('Only archived or only unarchived notifications.'),
  snoozed: flag('Only snoozed or only unsnoozed notifications.'),
  seen: flag('Only seen or only unseen notifications.'),
  tags: Type.Optional(tags),
  severity: Type.Optional(severity),
  data: Type.Optional(Type.String({ maxLength: filterTextMax, description: 'JSON: what the data must contain.' })),
  createdGte: milliseconds('Milliseconds since 1970: at or after this time.'),
  createdLte: milliseconds('Milliseconds since 1970: at or before this time.'),
})

const single = (verb: string, operationId: string, summary: string, mark: Mark): InboxRoute =>
  inboxRoute({
    ...shared,
    method: 'PATCH',
    path: `${path}/{notificationId}/${verb}`,
    operationId,
    summary,
    params,
    replies: one,
    errors: [404],
    handle: async ({ db, world }, { reader, params }) =>
      enveloped(await markNotification(db, world, reader, { id: params.notificationId, mark })),
  })

const action = (verb: string, operationId: string, summary: string, status: ActionStatus): InboxRoute =>
  inboxRoute({
    ...shared,
    method: 'PATCH',
    path: `${path}/{notificationId}/${verb}`,
    operationId,
    summary,
    params,
    body: Type.Object(
      { actionType: literals(buttonTypes) },
      { title: 'AnswerInboxAction', examples: [{ actionType: 'primary' }] },
    ),
    replies: one,
    errors: [404],
    handle: async ({ db, world }, { reader, params, body }) =>
      enveloped(await answerAction(db, world, reader, { id: params.notificationId, type: body.actionType, status })),
  })

const enveloped = <Data>({ body }: Answer<Data>): Answer<{ data: Data }> => ok({ data: body })

export const inboxNotificationRoutes = [
  inboxRoute({
    ...shared,
    method: 'GET',
    path,
    operationId: 'listInboxNotifications',
    summary: 'List notifications',
    description: 'Newest first. Only notifications with exactly the contexts of the session.',
    query: listQuery,
    replies: {
      200: Type.Object(
        { data: Type.Array(inboxNotification), hasMore: Type.Boolean(), filter: echo },
        { title: 'InboxPage' },
      ),
    },
    handle: async ({ db }, { reader, query }) => {
      const { limit = 10, after, offset = 0 } = query
      const { filter, echo } = filterOfQuery(query)
      return ok({ ...(await inboxPage(db, reader, { filter, limit, after, offset })), filter: echo })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'GET',
    path: `${path}/count`,
    operationId: 'countInboxNotifications',
    summary: 'Count notifications',
    description:
      'One number per filter, in the same order, at most 100. A count examines at most 10,000 notifications.',
    query: Type.Object({
      filters: Type.String({
        maxLength: filterTextMax,
        description: `JSON: a list of at most ${filtersPerCountMax} filters, such as \`[{"read": false, "severity": "high"}]\`.`,
      }),
    }),
    replies: {
      200: Type.Object(
        { data: Type.Array(Type.Object({ count: Type.Integer(), filter: echo }, { title: 'InboxCount' })) },
        { title: 'InboxCounts' },
      ),
    },
    handle: async ({ db }, { reader, query }) => {
      const asked = filtersOfText(query.filters, filtersPerCountMax)
      const counts = await inboxCounts(
        db,
        reader,
        asked.map(({ filter }) => filter),
      )
      return ok({ data: asked.map(({ echo }, index) => ({ count: counts[index] ?? 0, filter: echo })) })
    },
  }),
  single('read', 'readInboxNotification', 'Mark a notification as read', 'read'),
  single('unread', 'unreadInboxNotification', 'Mark a notification as unread', 'unread'),
  single('archive', 'archiveInboxNotification', 'Archive a notification', 'archived'),
  single('unarchive', 'unarchiveInboxNotification', 'Unarchive a notification', 'unarchived'),
  single('seen', 'seeInboxNotification', 'Mark a notification as seen', 'seen'),
  action('complete', 'completeInboxAction', 'Complete the action of a notification', 'done'),
  action('revert', 'revertInboxAction', 'Revert the action of a notification', 'pending'),
  inboxRoute({
    ...shared,
    method: 'PATCH',
    path: `${path}/{notificationId}/snooze`,
    operationId: 'snoozeInboxNotification',
    summary: 'Snooze a notification',
    params,
    body: Type.Object(
      {
        snoozeUntil: timestamp({
          maxLength: 64,
          description: `At least a minute ahead, at most ${snoozeDaysMax} days.`,
        }),
      },
      { title: 'SnoozeInboxNotification', examples: [{ snoozeUntil: '2030-01-31T09:00:00.000Z' }] },
    ),
    replies: one,
    errors: [404],
    handle: async ({ db, world }, { reader, params, body }) => {
      const call = { id: params.notificationId, until: body.snoozeUntil }
      return enveloped(await snoozeNotification(db, world, reader, call))
    },
  }),
  inboxRoute({
    ...shared,
    method: 'PATCH',
    path: `${path}/{notificationId}/unsnooze`,
    operationId: 'unsnoozeInboxNotification',
    summary: 'Unsnooze a notification',
    description: 'The notification returns to its place. 404 if it is not snoozed.',
    params,
    replies: one,
    errors: [404],
    handle: async ({ db, world }, { reader, params }) =>
      enveloped(await unsnoozeNotification(db, world, reader, { id: params.notificationId })),
  }),
  inboxRoute({
    ...shared,
    method: 'DELETE',
    path: `${path}/{notificationId}/delete`,
    operationId: 'deleteInboxNotification',
    summary: 'Delete a notification',
    params,
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { reader, params }) => deleteNotification(db, world, reader, { id: params.notificationId }),
  }),
]
