// The feed of older inbox clients, and how much of it is open: /v1/widgets/notifications.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import type { InboxFilter } from '../../../domain/messages/inbox-filter.ts'
import { invalidField } from '../../../domain/problem.ts'
import { inboxCounts, inboxMessages } from '../../../read/messages/inbox.ts'
import { feedNames } from '../../../store/workflows/feeds.ts'
import type { InboxRoute, InboxService } from '../../inbox-route.ts'
import { inboxRoute } from '../../inbox-route.ts'
import { pageLimitMax } from '../../schemas.ts'
import { widgetMessage } from './widget-messages.ts'

type Reader = Parameters<typeof inboxCounts>[1]

const path = '/v1/widgets/notifications'
const shared = { tag: 'Inbox', method: 'GET' } as const
const pageMax = 1_000
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const filterMembers = {
  feedIdentifier: Type.Optional(
    Type.Array(Type.String({ maxLength: 1_024 }), {
      maxItems: 20,
      description: 'Only items of these feeds; older clients separate them with commas.',
    }),
  ),
  seen: flag('Only seen or only unseen items.'),
  read: flag('Only read or only unread items.'),
}

interface Asked {
  readonly feedIdentifier?: readonly string[]
  readonly seen?: boolean
  readonly read?: boolean
}

async function filterOf({ db }: InboxService, reader: Reader, asked: Asked): Promise<InboxFilter> {
  const { seen, read } = asked
  const named = (asked.feedIdentifier ?? []).flatMap((text) => text.split(',')).filter((text) => text !== '')
  const feedIds = named.length === 0 ? undefined : await feedNames(db, reader.environment, named)
  return {
    snoozed: false,
    ...(seen === undefined ? {} : { seen }),
    ...(read === undefined ? {} : { read }),
    ...(feedIds === undefined ? {} : { feedIds }),
  }
}

const count = (name: string, operationId: string, summary: string, implied: Asked): InboxRoute =>
  inboxRoute({
    ...shared,
    path: `${path}/${name}`,
    operationId,
    summary,
    description: 'At most 100.',
    query: Type.Object({
      ...filterMembers,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'The highest number that is said.' })),
    }),
    replies: {
      200: Type.Object({ data: Type.Object({ count: Type.Integer() }) }, { title: 'WidgetCount' }),
    },
    handle: async (service, { reader, query }) => {
      const filter = await filterOf(service, reader, { ...implied, ...query })
      const [found = 0] = await inboxCounts(service.db, reader, [filter])
      return ok({ data: { count: Math.min(found, query.limit ?? found) } })
    },
  })

export const widgetFeedRoutes = [
  inboxRoute({
    ...shared,
    path: `${path}/feed`,
    operationId: 'retrieveWidgetFeed',
    summary: 'Retrieve the feed (older clients)',
    description: 'Newest first, without snoozed items. Payloads of events are for their senders, and not shown.',
    query: Type.Object({
      page: Type.Optional(Type.Integer({ minimum: 0, maximum: pageMax, default: 0, description: 'Page, from 0.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageLimitMax, default: 10 })),
      payload: Type.Optional(Type.String({ maxLength: 16_384, description: 'Not supported: leave it out.' })),
      ...filterMembers,
    }),
    replies: {
      200: Type.Object(
        {
          data: Type.Array(widgetMessage),
          hasMore: Type.Boolean(),
          page: Type.Integer(),
          pageSize: Type.Integer(),
        },
        { title: 'WidgetFeed' },
      ),
    },
    handle: async (service, { reader, query }) => {
      const { page = 0, limit = 10, payload } = query
      // A reader could find out a payload by asking for its parts.
      if (payload !== undefined) throw invalidField('payload', 'payload: payloads are not for readers to filter by')
      const filter = await filterOf(service, reader, query)
      const asked = { filter, limit, offset: page * limit, after: undefined }
      return ok({ ...(await inboxMessages(service.db, reader, asked)), page, pageSize: limit })
    },
  }),
  count('unseen', 'countWidgetUnseen', 'Count unseen items (older clients)', { seen: false }),
  count('unread', 'countWidgetUnread', 'Count unread items (older clients)', { read: false }),
  count('count', 'countWidgetItems', 'Count items (older clients)', {}),
]
