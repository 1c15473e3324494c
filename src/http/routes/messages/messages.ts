// Messages: the list, and deleting one or all of a transaction.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import { removeMessage, removeMessagesOfTransaction } from '../../../manage/messages/message-deletion.ts'
import type { MessagesQuery } from '../../../read/messages/messages.ts'
import { messagesPage } from '../../../read/messages/messages.ts'
import { contextKeyList, readContextKeys } from '../../request/context-keys.ts'
import { route } from '../../route.ts'
import { identifierText, literals, offsetPage, offsetParameters } from '../../schemas.ts'
import { message } from './message-schemas.ts'

const shared = { tag: 'Messages', category: 'global' } as const
const limitMax = 1_000
/** One statement finds the events of so many. */
const transactionsMax = 100
const visibleText = { pattern: '^\\P{Cc}*$' }
const channel = Type.Optional(literals(channels, { description: 'Only messages of this channel.' }))

export const messageRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/messages',
    operationId: 'listMessages',
    summary: 'List messages',
    description:
      'Newest first. A message is listed as soon as it has an outcome. Filters are combined by “and”. If a transaction filter matches an event with more than 10,000 recipients, the order is not defined.',
    scope: 'read',
    query: Type.Object({
      channel,
      subscriberId: Type.Optional(
        Type.String({
          maxLength: 255,
          ...visibleText,
          description: 'The full id; an unknown id returns an empty page.',
        }),
      ),
      transactionId: Type.Optional(
        Type.Array(Type.String({ maxLength: 255, ...visibleText }), {
          maxItems: transactionsMax,
          description: 'Messages of any of these transactions.',
        }),
      ),
      contextKeys: contextKeyList(
        'The exact set of contexts, each `type:id`; an empty list matches messages without a context.',
      ),
      ...offsetParameters(limitMax),
    }),
    replies: { 200: offsetPage('MessagePage', message) },
    handle: async ({ db, world }, { principal, query }) =>
      ok(await messagesPage(db, world.sealer, principal, asked(query))),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/messages/{messageId}',
    operationId: 'deleteMessage',
    summary: 'Delete a message',
    description: 'Removes the message from lists and from the feed. It does not unsend what was sent.',
    scope: 'full',
    params: Type.Object({ messageId: Type.String({ maxLength: 255 }) }),
    replies: {
      200: Type.Object({ acknowledged: Type.Boolean(), status: Type.String() }, { title: 'DeletedMessage' }),
    },
    errors: [404],
    handle: ({ db, world }, { principal, params, idempotency }) =>
      removeMessage(db, world, principal.environment, { messageId: params.messageId, idempotency }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/messages/transaction/{transactionId}',
    operationId: 'deleteMessagesOfTransaction',
    summary: 'Delete the messages of a transaction',
    scope: 'full',
    cost: 100,
    params: Type.Object({ transactionId: identifierText({ maxLength: 255 }) }),
    query: Type.Object({ channel }),
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, params, query, idempotency }) =>
      removeMessagesOfTransaction(db, world, principal.environment, {
        transactionId: params.transactionId,
        channel: query.channel,
        idempotency,
      }),
  }),
]

interface ListQuery extends Omit<MessagesQuery, 'page' | 'limit' | 'transactionIds'> {
  readonly transactionId?: readonly string[]
  readonly page?: number
  readonly limit?: number
}

/** An empty filter is ignored, except for contexts, where it selects messages without any. */
function asked(query: ListQuery): MessagesQuery {
  const { channel, subscriberId } = query
  const contextKeys = readContextKeys(query.contextKeys)
  const transactionIds = query.transactionId?.filter((id) => id !== '') ?? []
  return {
    page: query.page ?? 0,
    limit: query.limit ?? 10,
    ...(channel === undefined ? {} : { channel }),
    ...(subscriberId ? { subscriberId } : {}),
    ...(transactionIds.length === 0 ? {} : { transactionIds }),
    ...(contextKeys === undefined ? {} : { contextKeys }),
  }
}
