// The activity as it happens: GET /v1/activity/stream, as server-sent events.
import { Readable } from 'node:stream'
import { ok } from '../../../domain/answer.ts'
import { createActivityNews } from '../../../read/activity/activity-news.ts'
import { route } from '../../route.ts'

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
      'Server-sent events, until the caller hangs up: one at once and one whenever something happened, at most one a second, with how many notifications were `created` since the one before and how many steps `changed` (both counted up to 1,000). Ask for the list itself then.',
    produces: 'text/event-stream',
    replies: { 200: null },
    handle: async ({ db, world }, { caller, untilGone }) => {
      const news = createActivityNews(db, world, caller.environment, untilGone())
      return { ...ok(Readable.from(news)), headers: { 'x-accel-buffering': 'no' } }
    },
  }),
]
