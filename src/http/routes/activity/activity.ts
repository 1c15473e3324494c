// The activity: /v1/notifications, what was triggered and what happened.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { seesAddresses } from '../../../domain/messages/shown-addresses.ts'
import { notFound } from '../../../domain/problem.ts'
import { activityWithoutAddresses, findActivity } from '../../../read/activity/activity.ts'
import { route } from '../../route.ts'
import { activityAnswer } from './activity-answer.ts'
import { activityDetail, activityPageReply, activityQuery } from './activity-schemas.ts'

const shared = { tag: 'Activity', category: 'global', method: 'GET', scope: 'read' } as const

export const activityRoutes = [
  route({
    ...shared,
    path: '/v1/notifications',
    operationId: 'listActivity',
    summary: 'List all events',
    description:
      'Triggered events, one item per subscriber, newest first, with the jobs of each step and their execution details. Filters are combined by “and”, the values of one filter by “or”.',
    query: activityQuery,
    replies: { 200: activityPageReply },
    // 45 kB for ten of two steps: by its schema it would take almost three times as long.
    writtenBy: JSON.stringify,
    handle: (service, { principal, query }) =>
      activityAnswer(service, principal, { ...query, page: query.page ?? 0, limit: query.limit ?? 10 }),
  }),
  route({
    ...shared,
    path: '/v1/notifications/{notificationId}',
    operationId: 'retrieveActivity',
    summary: 'Retrieve an event',
    description: 'As in the list, with the messages that each step created.',
    params: Type.Object({
      notificationId: Type.String({ maxLength: 255, description: 'The `_id` of an item of the list.' }),
    }),
    replies: { 200: activityDetail },
    errors: [404],
    writtenBy: JSON.stringify,
    handle: async ({ db, world, versions }, { principal, params }) => {
      const sealer = seesAddresses(principal) ? world.sealer : undefined
      const found = await findActivity(db, principal.environment, params.notificationId, versions, sealer)
      if (found === undefined) throw notFound('Notification not found')
      return ok(seesAddresses(principal) ? found : await activityWithoutAddresses(found))
    },
  }),
]
