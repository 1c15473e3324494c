// What older inbox clients do with messages: /v1/widgets/messages.
import { Type } from 'typebox'
import { created, noContent, ok } from '../../../domain/answer.ts'
import type { Reader } from '../../../domain/messages/inbox.ts'
import type { Mark } from '../../../domain/messages/message-marks.ts'
import {
  actionPayloadBytesMax,
  actionStatuses,
  buttonTypes,
  markOf,
  messagesPerMarkMax,
} from '../../../domain/messages/message-marks.ts'
import { invalidField } from '../../../domain/problem.ts'
import {
  answerAction,
  deleteMatching,
  deleteNotification,
  deleteNotifications,
  markFeed,
  markNotifications,
} from '../../../manage/messages/inbox-marks.ts'
import { inboxMessagesOf } from '../../../read/messages/inbox.ts'
import { feedNames } from '../../../store/workflows/feeds.ts'
import type { InboxRoute, InboxService } from '../../inbox-route.ts'
import { inboxRoute } from '../../inbox-route.ts'
import { freeObject, literals } from '../../schemas.ts'
import { message } from '../messages/message-schemas.ts'

const path = '/v1/widgets/messages'
const shared = { tag: 'Inbox' } as const
const {
  payload: _payload,
  overrides: _overrides,
  subscriber: _subscriber,
  template: _template,
  ...members
} = message.properties
/** A message as it comes over sockets: with its workflow, and without what its event carried. */
export const widgetMessage = Type.Object(
  { ...members, subscriber: freeObject(), workflow: freeObject(), avatar: Type.Optional(Type.String()) },
  { title: 'WidgetMessage', additionalProperties: true },
)
const one = Type.Object({ data: widgetMessage }, { title: 'WidgetMessageAnswer' })
const many = Type.Object({ data: Type.Array(widgetMessage) }, { title: 'WidgetMessagesAnswer' })
const changed = Type.Object({ data: Type.Integer() }, { title: 'WidgetMessagesChanged' })
const gone = Type.Object(
  { data: Type.Object({ acknowledged: Type.Boolean(), status: Type.String() }) },
  { title: 'WidgetMessageDeleted' },
)
const id = Type.String({ maxLength: 255 })
const params = Type.Object({ messageId: id })
const exampleId = '01942a63-0d2e-7abc-8def-0123456789ab'
const messageId = Type.Unsafe<string | string[]>({
  type: ['string', 'array'],
  maxLength: 255,
  items: { type: 'string', maxLength: 255 },
  minItems: 1,
  maxItems: messagesPerMarkMax,
  description: 'The message, or a list of them; ids of others are ignored.',
})
const feedId = Type.Optional(
  Type.Unsafe<string | string[] | null>({
    type: ['string', 'array', 'null'],
    maxLength: 255,
    items: { type: 'string', maxLength: 255 },
    maxItems: 20,
    description: 'Only messages of this feed, or of these feeds.',
  }),
)

async function marked({ db, world }: InboxService, reader: Reader, call: { messageId: string | string[]; mark: Mark }) {
  const ids = [call.messageId].flat()
  await markNotifications(db, world, reader, { ids, mark: call.mark })
  return created({ data: await inboxMessagesOf(db, reader, ids) })
}

async function feedsOf(
  { db }: InboxService,
  { environment }: Reader,
  given: string | readonly string[] | null | undefined,
) {
  const named = [given ?? []].flat().filter((text) => text !== '')
  return named.length === 0 ? undefined : feedNames(db, environment, named)
}

const all = (mark: 'read' | 'seen', operationId: string): InboxRoute =>
  inboxRoute({
    ...shared,
    method: 'POST',
    path: `${path}/${mark}`,
    operationId,
    summary: `Mark the whole feed as ${mark} (older clients)`,
    body: Type.Object({ feedId }, { title: 'MarkWidgetFeed', examples: [{}] }),
    replies: { 201: changed },
    handle: async (service, { reader, body }) => {
      const feedIds = await feedsOf(service, reader, body.feedId)
      const { body: data } = await markFeed(service.db, service.world, reader, { feedIds, mark })
      return created({ data })
    },
  })

export const widgetMessageRoutes = [
  inboxRoute({
    ...shared,
    method: 'POST',
    path: `${path}/markAs`,
    operationId: 'markWidgetMessagesBySeenAndRead',
    summary: 'Mark messages as seen or read, by field (older clients)',
    body: Type.Object(
      {
        messageId,
        mark: Type.Object({ seen: Type.Optional(Type.Boolean()), read: Type.Optional(Type.Boolean()) }),
      },
      { title: 'MarkWidgetMessagesBySeenAndRead', examples: [{ messageId: exampleId, mark: { seen: true } }] },
    ),
    replies: { 201: many },
    handle: async (service, { reader, body }) => {
      const mark = markOf(body.mark)
      if (mark === undefined) throw invalidField('mark', 'mark needs `seen` or `read`; a read message cannot be unseen')
      return marked(service, reader, { messageId: body.messageId, mark })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'POST',
    path: `${path}/mark-as`,
    operationId: 'markWidgetMessages',
    summary: 'Mark messages (older clients)',
    body: Type.Object(
      { messageId, markAs: literals(['read', 'seen', 'unread', 'unseen']) },
      { title: 'MarkWidgetMessages', examples: [{ messageId: [exampleId], markAs: 'read' }] },
    ),
    replies: { 201: many },
    handle: (service, { reader, body }) => marked(service, reader, { messageId: body.messageId, mark: body.markAs }),
  }),
  all('read', 'readWidgetFeed'),
  all('seen', 'seeWidgetFeed'),
  inboxRoute({
    ...shared,
    method: 'POST',
    path: `${path}/{messageId}/actions/{type}`,
    operationId: 'answerWidgetButton',
    summary: 'Press a button of a message (older clients)',
    params: Type.Object({ messageId: id, type: literals(buttonTypes) }),
    body: Type.Object(
      {
        executedType: Type.Optional(literals(buttonTypes, { description: 'As in the path.' })),
        status: literals(actionStatuses),
        payload: Type.Optional(freeObject({ description: 'Stored with the result; at most 16 KB.' })),
      },
      { title: 'AnswerWidgetButton', examples: [{ executedType: 'primary', status: 'done' }] },
    ),
    replies: { 201: one },
    errors: [404],
    handle: async ({ db, world }, { reader, params, body }) => {
      const { status, payload } = body
      if (payload !== undefined && Buffer.byteLength(JSON.stringify(payload)) > actionPayloadBytesMax) {
        throw invalidField('payload', `payload must be at most ${actionPayloadBytesMax} bytes`)
      }
      const said = payload === undefined ? { status } : { status, payload }
      const call = { id: params.messageId, type: params.type, ...said, isNoted: true }
      await answerAction(db, world, reader, call)
      const [data] = await inboxMessagesOf(db, reader, [params.messageId])
      return created({ data })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'POST',
    path: `${path}/bulk/delete`,
    operationId: 'deleteWidgetMessages',
    summary: 'Delete messages (older clients)',
    body: Type.Object(
      { messageIds: Type.Array(id, { minItems: 1, maxItems: messagesPerMarkMax }) },
      { title: 'DeleteWidgetMessages', examples: [{ messageIds: [exampleId] }] },
    ),
    replies: { 200: gone },
    handle: async ({ db, world }, { reader, body }) => {
      await deleteNotifications(db, world, reader, { ids: body.messageIds })
      return ok({ data: { acknowledged: true, status: 'deleted' } })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'DELETE',
    path: `${path}/{messageId}`,
    operationId: 'deleteWidgetMessage',
    summary: 'Delete a message (older clients)',
    params,
    replies: { 200: gone },
    errors: [404],
    handle: async ({ db, world }, { reader, params }) => {
      await deleteNotification(db, world, reader, { id: params.messageId })
      return ok({ data: { acknowledged: true, status: 'deleted' } })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'DELETE',
    path,
    operationId: 'deleteWidgetFeed',
    summary: 'Delete all messages (older clients)',
    query: Type.Object({ feedId: Type.Optional(Type.String({ maxLength: 255, description: 'Only of this feed.' })) }),
    replies: { 204: null },
    handle: async (service, { reader, query }) => {
      const feedIds = await feedsOf(service, reader, query.feedId)
      const filter = feedIds === undefined ? {} : { feedIds }
      await deleteMatching(service.db, service.world, reader, { filter })
      return noContent
    },
  }),
]
