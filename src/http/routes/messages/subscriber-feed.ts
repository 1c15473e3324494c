// A subscriber's in-app feed: the items, how many are open, and what can be done with them.
import { Type } from 'typebox'
import type { Answer } from '../../../domain/answer.ts'
import { ok } from '../../../domain/answer.ts'
import {
  actionStatuses,
  buttonTypes,
  markOf,
  marks,
  messagesPerMarkMax,
} from '../../../domain/messages/message-marks.ts'
import { marksAnsweredTo } from '../../../domain/messages/shown-addresses.ts'
import { invalidField } from '../../../domain/problem.ts'
import { answerButton, markAll, markSome } from '../../../manage/messages/message-marks.ts'
import { unknownSubscriber } from '../../../manage/people/subscribers.ts'
import type { FeedFilter } from '../../../read/messages/feed.ts'
import { feedCount } from '../../../read/messages/feed.ts'
import { payloadFilterLengthMax, readPayloadFilter } from '../../request/payload-filter.ts'
import type { Call, Service } from '../../route.ts'
import { route } from '../../route.ts'
import { freeObject, literals, offsetPage, offsetParameters, pageLimitMax } from '../../schemas.ts'
import { subscriberId } from '../people/subscriber-schemas.ts'
import { feedAnswer } from './feed-answer.ts'
import { feedItem, message } from './message-schemas.ts'

const shared = { tag: 'Feed', category: 'global' } as const
const params = Type.Object({ subscriberId })
/** A badge shows a hundred at most; a thousand is for those who want to know more. */
const countLimitMax = 1_000
const feedsMax = 20

const feedIdentifier = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 255, pattern: '^\\P{Cc}+$' }), {
    maxItems: feedsMax,
    description: 'Only items of these feeds, by the `feedId` of their steps.',
  }),
)
/** One id, or several. */
const messageId = Type.Unsafe<string | string[]>({
  type: ['string', 'array'],
  format: 'uuid',
  items: { type: 'string', format: 'uuid' },
  minItems: 1,
  maxItems: messagesPerMarkMax,
  description: 'The message, or a list of them.',
})
const exampleId = '01942a63-0d2e-7abc-8def-0123456789ab'
const markAs = literals(marks, {
  description:
    '`read`: read and seen. `unread`: seen, but neither read nor archived. `unseen`: none of the three. `archived`: read, seen and archived. `unarchived`: read and seen.',
})
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const count = Type.Object({ count: Type.Integer() }, { title: 'FeedCount' })

const countQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: countLimitMax,
      default: 100,
      description: 'The highest number that is counted to.',
    }),
  ),
  feedIdentifier,
  feedId: feedIdentifier,
}

export const subscriberFeedRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/subscribers/{subscriberId}/notifications/feed',
    operationId: 'retrieveFeed',
    summary: 'Retrieve a subscriber’s in-app feed',
    description: 'Newest first. Includes archived items, but not snoozed ones.',
    scope: 'read',
    params,
    query: Type.Object({
      ...offsetParameters(pageLimitMax),
      read: flag('Only read or only unread items.'),
      seen: flag('Only seen or only unseen items.'),
      payload: Type.Optional(
        Type.String({
          maxLength: payloadFilterLengthMax,
          description: 'A JSON object in base64: only items whose event payload contains it.',
        }),
      ),
      feedIdentifier,
    }),
    replies: { 200: offsetPage('FeedPage', feedItem) },
    errors: [404],
    handle: (service, { principal, params, query }) => {
      const payload = readPayloadFilter(query.payload)
      const asked = {
        page: query.page ?? 0,
        limit: query.limit ?? 10,
        ...filterOf(query),
        ...(payload === undefined ? {} : { payload }),
      }
      return feedAnswer(service, principal, params.subscriberId, asked)
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/subscribers/{subscriberId}/notifications/unseen',
    operationId: 'countUnseen',
    summary: 'Count unseen items of the feed',
    scope: 'read',
    params,
    query: Type.Object({
      seen: Type.Optional(Type.Boolean({ default: false, description: 'Count seen items instead.' })),
      read: flag('Only read or only unread items.'),
      ...countQuery,
    }),
    replies: { 200: count },
    errors: [404],
    handle: (service, call) => counted(service, call),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/subscribers/{subscriberId}/notifications/unread',
    operationId: 'countUnread',
    summary: 'Count unread items of the feed',
    scope: 'read',
    params,
    query: Type.Object({
      read: Type.Optional(Type.Boolean({ default: false, description: 'Count read items instead.' })),
      seen: flag('Only seen or only unseen items.'),
      ...countQuery,
    }),
    replies: { 200: count },
    errors: [404],
    handle: (service, call) => counted(service, call),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/subscribers/{subscriberId}/messages/mark-as',
    operationId: 'markMessages',
    summary: 'Mark messages as read, seen or archived',
    description:
      'Returns the marked messages in the order of the ids in the request; ids that do not belong to this subscriber are ignored.',
    scope: 'inbox:write',
    params,
    body: Type.Object(
      { messageId, markAs },
      { title: 'MarkMessages', examples: [{ messageId: [exampleId], markAs: 'read' }] },
    ),
    replies: { 201: Type.Array(message) },
    errors: [404],
    handle: async ({ db, world }, { principal, params, body, idempotency }) => {
      const call = { ...params, messageIds: [body.messageId].flat(), mark: body.markAs, idempotency }
      return marksAnsweredTo(principal, await markSome(db, world, principal.environment, call))
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/subscribers/{subscriberId}/messages/mark-all',
    operationId: 'markAllMessages',
    summary: 'Mark the whole feed as read, seen or archived',
    description: 'Returns the number of changed items. Snoozed items are not in the feed and are unchanged.',
    scope: 'inbox:write',
    params,
    body: Type.Object(
      {
        markAs,
        feedIdentifier: Type.Optional(
          Type.Unsafe<string | string[]>({
            type: ['string', 'array'],
            minLength: 1,
            maxLength: 255,
            items: { type: 'string', minLength: 1, maxLength: 255 },
            minItems: 1,
            maxItems: feedsMax,
            description: 'Only items of this feed, or of these feeds.',
          }),
        ),
      },
      { title: 'MarkAllMessages', examples: [{ markAs: 'read' }] },
    ),
    replies: { 201: Type.Integer({ description: 'How many items were changed.' }) },
    errors: [404],
    handle: ({ db, world }, { principal, params, body, idempotency }) =>
      markAll(db, world, principal.environment, {
        subscriberId: params.subscriberId,
        mark: body.markAs,
        feedIds: body.feedIdentifier === undefined ? undefined : [body.feedIdentifier].flat(),
        idempotency,
      }),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/subscribers/{subscriberId}/messages/markAs',
    operationId: 'markMessagesBySeenAndRead',
    summary: 'Mark messages as seen or read, by field',
    description: 'The older form of `mark-as`.',
    scope: 'inbox:write',
    params,
    body: Type.Object(
      { messageId, mark: Type.Object({ seen: flag('Whether they are seen.'), read: flag('Whether they are read.') }) },
      { title: 'MarkMessagesBySeenAndRead', examples: [{ messageId: exampleId, mark: { seen: true } }] },
    ),
    replies: { 201: Type.Array(message) },
    errors: [404],
    handle: async ({ db, world }, { principal, params, body, idempotency }) => {
      const mark = markOf(body.mark)
      if (mark === undefined) throw invalidField('mark', 'mark needs `seen` or `read`; a read message cannot be unseen')
      const call = { ...params, messageIds: [body.messageId].flat(), mark, idempotency }
      return marksAnsweredTo(principal, await markSome(db, world, principal.environment, call))
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/subscribers/{subscriberId}/messages/{messageId}/actions/{type}',
    operationId: 'answerMessageButton',
    summary: 'Press a button of a message',
    description:
      'The button becomes the result of the message’s action, with the status and the payload given. A message without buttons takes it as well; one with other buttons does not (400).',
    scope: 'inbox:write',
    params: Type.Object({ subscriberId, messageId: Type.String({ maxLength: 255 }), type: literals(buttonTypes) }),
    body: Type.Object(
      {
        status: literals(actionStatuses),
        payload: Type.Optional(freeObject({ description: 'Stored with the result; at most 16 KB.' })),
      },
      { title: 'AnswerMessageButton', examples: [{ status: 'done', payload: { answer: 'accepted' } }] },
    ),
    replies: { 201: message },
    errors: [404],
    handle: async ({ db, world }, { principal, params, body, idempotency }) => {
      const call = { ...params, status: body.status, payload: body.payload, idempotency }
      return marksAnsweredTo(principal, await answerButton(db, world, principal.environment, call))
    },
  }),
]

interface FilterQuery {
  readonly read?: boolean
  readonly seen?: boolean
  readonly feedIdentifier?: readonly string[]
  readonly feedId?: readonly string[]
}

function filterOf(query: FilterQuery): FeedFilter {
  const feedIds = [...(query.feedIdentifier ?? []), ...(query.feedId ?? [])]
  return {
    ...(query.read === undefined ? {} : { read: query.read }),
    ...(query.seen === undefined ? {} : { seen: query.seen }),
    ...(feedIds.length === 0 ? {} : { feedIds }),
  }
}

async function counted(
  { db }: Service,
  { principal, params, query }: Call<{ subscriberId: string }, FilterQuery & { limit?: number }, undefined>,
): Promise<Answer<{ count: number }>> {
  const found = await feedCount(db, principal.environment, params.subscriberId, {
    ...filterOf(query),
    limit: query.limit ?? 100,
  })
  if (found === undefined) throw unknownSubscriber(params.subscriberId)
  return ok({ count: found })
}
