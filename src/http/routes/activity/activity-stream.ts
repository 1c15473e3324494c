// The activity as it happens: GET /v1/activity/stream, as server-sent events.
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { createActivityNews } from '../../../read/activity/activity-news.ts'
import { route } from '../../route.ts'
import { uuid } from '../../schemas.ts'

export const activityStreamRoutes = [
  route({
    tag: 'Activity',
    category: 'global',
    scope: 'read',
    method: 'GET',
    path: '/v1/activity/stream',
    operationId: 'streamActivity',
    summary: 'Follow the activity',
    description:
      'Server-sent events for a minute; then ask again. One comes at once and one whenever something happened, at most one a second, with how many notifications were `created` since the one before (counted up to 1,000), how many of the latest steps `changed`, and the `newest` notification. Ask for the list itself then.',
    query: Type.Object({
      after: Type.Optional(uuid({ description: 'The `newest` of the stream before: nothing is missed in between.' })),
    }),
    produces: 'text/event-stream',
    replies: { 200: null },
    handle: async ({ db, world }, { caller, query, untilGone }) => {
      const { environment } = caller
      const news = createActivityNews(db, world, { environment, after: query.after, signal: untilGone() })
      return { ...ok(Readable.from(news)), headers: { 'x-accel-buffering': 'no' } }
    },
  }),
]
