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
      'A stream of server-sent events that ends after a minute; then request it again. The first event is sent immediately, then at most one per second when something happened: how many notifications were `created` since the previous event (at most 1,000), how many of the latest steps `changed`, and the id of the `newest` notification.',
    query: Type.Object({
      after: Type.Optional(
        uuid({ description: 'The `newest` of the previous stream, so that nothing is missed in between.' }),
      ),
    }),
    produces: 'text/event-stream',
    replies: { 200: null },
    handle: async ({ db, world }, { principal, query, untilGone }) => {
      const { environment } = principal
      const news = createActivityNews(db, world, { environment, after: query.after, signal: untilGone() })
      return { ...ok(Readable.from(news)), headers: { 'x-accel-buffering': 'no' } }
    },
  }),
]
