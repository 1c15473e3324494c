// A subscriber's inbox by an API key: the list, counts, bulk marks, buttons and deletions of /v2/subscribers/{subscriberId}.
import type { Static } from 'typebox'
import { Type } from 'typebox'
import type { Answer } from '../../../domain/answer.ts'
import { ok } from '../../../domain/answer.ts'
import type { Inbox } from '../../../domain/messages/inbox.ts'
import { filtersPerCountMax } from '../../../domain/messages/inbox.ts'
import type { InboxFilter } from '../../../domain/messages/inbox-filter.ts'
import type { ActionStatus, Mark } from '../../../domain/messages/message-marks.ts'
import { buttonTypes } from '../../../domain/messages/message-marks.ts'
import { marksAnsweredTo } from '../../../domain/messages/shown-addresses.ts'
import {
  answerAction,
  deleteMatching,
  deleteNotification,
  markMatching,
  markNotifications,
} from '../../../manage/messages/inbox-marks.ts'
import { unknownSubscriber } from '../../../manage/people/subscribers.ts'
import { findInbox, inboxCounts, inboxPage } from '../../../read/messages/inbox.ts'
import { contextKeyList, readContextKeys } from '../../request/context-keys.ts'
import { filterOfBody, filterOfQuery, filtersOfText, filterTextMax } from '../../request/inbox-filter.ts'
import type { Call, Route, Service } from '../../route.ts'
import { route } from '../../route.ts'
import { literals } from '../../schemas.ts'
import { filterMembers, notificationIds } from '../inbox/inbox-bulk.ts'
import { echo, listQuery } from '../inbox/inbox-notifications.ts'
import { subscriberId } from '../people/subscriber-schemas.ts'
import { inboxNotification } from './message-schemas.ts'

const path = '/v2/subscribers/{subscriberId}/notifications'
const shared = { tag: 'Feed', category: 'global', errors: [404] } as const
const params = Type.Object({ subscriberId })
const notificationId = Type.String({ maxLength: 255, description: 'The `id` of the notification.' })
const contextKeys = contextKeyList(
  'The exact set of contexts, each `type:id`; an empty list means none. Default: notifications of all contexts.',
)
const body = Type.Object(
  { ...filterMembers, contextKeys },
  { title: 'MatchingSubscriberNotifications', examples: [{ tags: ['orders'] }] },
)

async function inboxOf(
  { db }: Service,
  { principal, params }: Pick<Call<{ subscriberId: string }, unknown, unknown>, 'principal' | 'params'>,
  keys: readonly string[] | undefined,
): Promise<Inbox> {
  const { subscriberId } = params
  const found = await findInbox(db, principal.environment, { subscriberId, contextKeys: readContextKeys(keys) })
  if (found === undefined) throw unknownSubscriber(subscriberId)
  return found
}

type Bulk = Call<Static<typeof params>, undefined, Static<typeof body>>

const bulk = (
  verb: string,
  { operationId, summary }: { operationId: string; summary: string },
  change: (service: Service, inbox: Inbox, call: Bulk) => Promise<Answer<null>>,
): Route =>
  route({
    ...shared,
    method: 'POST',
    path: `${path}/${verb}`,
    operationId,
    summary,
    description: 'Without `tags` and `data`, all notifications. Snoozed ones are unchanged.',
    scope: 'inbox:write',
    params,
    body,
    replies: { 204: null },
    handle: async (service, call) => change(service, await inboxOf(service, call, call.body.contextKeys), call),
  })

const marking =
  (mark: Mark, also: InboxFilter = {}) =>
  ({ db, world }: Service, inbox: Inbox, { body, idempotency }: Bulk): Promise<Answer<null>> =>
    markMatching(db, world, inbox, { filter: { ...filterOfBody(body), ...also }, mark, idempotency })

const action = (verb: string, operationId: string, summary: string, status: ActionStatus): Route =>
  route({
    ...shared,
    method: 'PATCH',
    path: `${path}/{notificationId}/actions/{actionType}/${verb}`,
    operationId,
    summary,
    scope: 'inbox:write',
    params: Type.Object({ subscriberId, notificationId, actionType: literals(buttonTypes) }),
    query: Type.Object({ contextKeys }),
    replies: { 200: inboxNotification },
    handle: async (service, call) => {
      const { principal, params, query, idempotency } = call
      const inbox = await inboxOf(service, call, query.contextKeys)
      const answer = { id: params.notificationId, type: params.actionType, status, idempotency }
      return marksAnsweredTo(principal, await answerAction(service.db, service.world, inbox, answer))
    },
  })

export const subscriberInboxRoutes = [
  route({
    ...shared,
    method: 'GET',
    path,
    operationId: 'listSubscriberNotifications',
    summary: 'List a subscriber’s notifications',
    description: 'Newest first, with the filters of the inbox.',
    scope: 'read',
    params,
    query: Type.Object({ ...listQuery.properties, contextKeys }),
    replies: {
      200: Type.Object(
        { data: Type.Array(inboxNotification), hasMore: Type.Boolean(), filter: echo },
        { title: 'SubscriberNotificationPage' },
      ),
    },
    handle: async (service, call) => {
      const { limit = 10, after, offset = 0 } = call.query
      const { filter, echo } = filterOfQuery(call.query)
      const inbox = await inboxOf(service, call, call.query.contextKeys)
      const page = await inboxPage(service.db, inbox, { filter, limit, after, offset })
      return ok({ ...page, data: (await marksAnsweredTo(call.principal, ok(page.data))).body, filter: echo })
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: `${path}/count`,
    operationId: 'countSubscriberNotifications',
    summary: 'Count a subscriber’s notifications',
    description:
      'One number per filter, in the same order, at most 100. A count examines at most 10,000 notifications.',
    scope: 'read',
    params,
    query: Type.Object({
      filters: Type.String({
        maxLength: filterTextMax,
        description: `JSON: a list of at most ${filtersPerCountMax} filters, such as \`[{"read": false, "severity": "high"}]\`.`,
        examples: ['[{"read": false}]'],
      }),
      contextKeys,
    }),
    replies: {
      200: Type.Array(Type.Object({ count: Type.Integer(), filter: echo }, { title: 'SubscriberNotificationCount' })),
    },
    handle: async (service, call) => {
      const asked = filtersOfText(call.query.filters, filtersPerCountMax)
      const inbox = await inboxOf(service, call, call.query.contextKeys)
      const filters = asked.map(({ filter }) => filter)
      const counts = await inboxCounts(service.db, inbox, filters)
      return ok(asked.map(({ echo }, index) => ({ count: counts[index] ?? 0, filter: echo })))
    },
  }),
  bulk(
    'read',
    { operationId: 'readSubscriberNotifications', summary: 'Mark a subscriber’s notifications as read' },
    marking('read'),
  ),
  bulk(
    'archive',
    { operationId: 'archiveSubscriberNotifications', summary: 'Archive a subscriber’s notifications' },
    marking('archived'),
  ),
  bulk(
    'read-archive',
    { operationId: 'archiveReadSubscriberNotifications', summary: 'Archive a subscriber’s read notifications' },
    marking('archived', { read: true }),
  ),
  bulk(
    'delete',
    { operationId: 'deleteSubscriberNotifications', summary: 'Delete a subscriber’s notifications' },
    ({ db, world }, inbox, { body, idempotency }) =>
      deleteMatching(db, world, inbox, { filter: filterOfBody(body), idempotency }),
  ),
  route({
    ...shared,
    method: 'POST',
    path: `${path}/seen`,
    operationId: 'seeSubscriberNotifications',
    summary: 'Mark a subscriber’s notifications as seen',
    description:
      'By id (ids of other subscribers are ignored; an empty list is none), by `tags` and `data`, or, if nothing is given, all.',
    scope: 'inbox:write',
    params,
    body: Type.Object(
      { ...filterMembers, notificationIds, contextKeys },
      { title: 'SeeSubscriberNotifications', examples: [{ tags: ['orders'] }] },
    ),
    replies: { 204: null },
    handle: async (service, call) => {
      const { db, world } = service
      const { body, idempotency } = call
      const inbox = await inboxOf(service, call, body.contextKeys)
      const { notificationIds: ids } = body
      if (ids !== undefined) return markNotifications(db, world, inbox, { ids, mark: 'seen', idempotency })
      return markMatching(db, world, inbox, { filter: filterOfBody(body), mark: 'seen', idempotency })
    },
  }),
  action('complete', 'completeNotificationAction', 'Complete the action of a notification', 'done'),
  action('revert', 'revertNotificationAction', 'Revert the action of a notification', 'pending'),
  route({
    ...shared,
    method: 'DELETE',
    path: `${path}/{notificationId}`,
    operationId: 'deleteSubscriberNotification',
    summary: 'Delete a notification',
    scope: 'inbox:write',
    params: Type.Object({ subscriberId, notificationId }),
    query: Type.Object({ contextKeys }),
    replies: { 204: null },
    handle: async (service, call) => {
      const inbox = await inboxOf(service, call, call.query.contextKeys)
      const { params, idempotency } = call
      return deleteNotification(service.db, service.world, inbox, { id: params.notificationId, idempotency })
    },
  }),
]
