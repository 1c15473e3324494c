// Messages: the list, and deleting one or all of a transaction.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import type { MessageStatus } from '../../../domain/messages/message.ts'
import { messageStatuses } from '../../../domain/messages/message.ts'
import { removeMessage, removeMessagesOfTransaction } from '../../../manage/messages/message-deletion.ts'
import type { MessagesQuery } from '../../../read/messages/messages.ts'
import { messagesPage, walkedDays } from '../../../read/messages/messages.ts'
import { contextKeyList, readContextKeys } from '../../request/context-keys.ts'
import { route } from '../../route.ts'
import { identifierText, literals, offsetPage, offsetParameters, optionalTimestamp } from '../../schemas.ts'
import { listedMessage } from './message-schemas.ts'

const shared = { tag: 'Messages', category: 'global' } as const
const limitMax = 1_000
/** One statement finds the events of so many. */
const transactionsMax = 100
const visibleText = { pattern: '^\\P{Cc}*$' }
/** More values of one filter make a query that no address can hold. */
const filterValuesMax = 100
const anyOfTexts = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 255, ...visibleText }), { maxItems: filterValuesMax, description }))
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
      status: Type.Optional(
        Type.Array(literals(messageStatuses), {
          maxItems: filterValuesMax,
          description: '`sent` includes what was captured instead; `warning`: it could not be sent, or perhaps was.',
        }),
      ),
      providers: anyOfTexts(
        `The id of the provider, such as \`sendgrid\`, \`none\` for messages without one, or \`any\` for those with one; any of the values matches. With the status \`warning\`, \`any\` lists messages that were perhaps sent: the provider was called and did not confirm it. Without \`after\`, only the ${walkedDays} days up to \`before\`, or up to now, are searched, unless \`subscriberId\`, \`transactionId\`, \`contextKeys\`, \`errorIds\`, or a \`status\` other than \`sent\` is given too.`,
      ),
      errorIds: anyOfTexts('The `errorId` of the message; any of the values matches. What was sent has none.'),
      captured: Type.Optional(
        Type.Boolean({
          description: `True: only messages that were captured instead of sent. False: only the others; without \`after\`, of the ${walkedDays} days up to \`before\`, or up to now, unless one of the filters that \`providers\` names is given too.`,
        }),
      ),
      removed: Type.Optional(
        literals(['without', 'with', 'only'], {
          default: 'without',
          description: `Messages that were deleted or retracted, which counts still include: \`with\` lists them among the others, \`only\` alone, each with \`removedAt\` and without its contents and addresses. Not together with \`subscriberId\` or \`contextKeys\`. Without \`after\`, and with \`captured\`, or with \`only\` and \`errorIds\`, or without the status \`sent\` among those asked for, only the ${walkedDays} days up to \`before\`, or up to now, are searched.`,
        }),
      ),
      after: optionalTimestamp('Created at or after this ISO 8601 date or date-time; UTC if it has no zone.'),
      before: optionalTimestamp('Created at or before this ISO 8601 date or date-time; UTC if it has no zone.'),
      ...offsetParameters(limitMax),
    }),
    replies: { 200: offsetPage('MessagePage', listedMessage) },
    handle: async ({ db, world }, { principal, query }) =>
      ok(await messagesPage(db, world.sealer, principal, asked(query), world.now())),
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

interface ListQuery extends Omit<MessagesQuery, 'page' | 'limit' | 'transactionIds' | 'statuses' | 'removed'> {
  readonly transactionId?: readonly string[]
  readonly status?: readonly MessageStatus[]
  readonly removed?: 'without' | 'with' | 'only'
  readonly page?: number
  readonly limit?: number
}

/** An empty filter is ignored, except for contexts, where it selects messages without any. */
function asked(query: ListQuery): MessagesQuery {
  const { channel, subscriberId, status, captured, removed = 'without', after, before } = query
  const contextKeys = readContextKeys(query.contextKeys)
  const filled = (values: readonly string[] | undefined) => values?.filter((value) => value !== '') ?? []
  const transactionIds = filled(query.transactionId)
  const providers = filled(query.providers)
  const errorIds = filled(query.errorIds)
  return {
    page: query.page ?? 0,
    limit: query.limit ?? 10,
    ...(channel === undefined ? {} : { channel }),
    ...(subscriberId ? { subscriberId } : {}),
    ...(transactionIds.length === 0 ? {} : { transactionIds }),
    ...(contextKeys === undefined ? {} : { contextKeys }),
    ...(status === undefined || status.length === 0 ? {} : { statuses: status }),
    ...(providers.length === 0 ? {} : { providers }),
    ...(errorIds.length === 0 ? {} : { errorIds }),
    ...(captured === undefined ? {} : { captured }),
    ...(removed === 'without' ? {} : { removed }),
    ...(after ? { after } : {}),
    ...(before ? { before } : {}),
  }
}
