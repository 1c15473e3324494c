// What happened to one notification, step by step: /v1/execution-details.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { notFound } from '../../../domain/problem.ts'
import { activityWithoutAddresses, findActivity } from '../../../read/activity/activity.ts'
import { route } from '../../route.ts'
import { executionDetail } from './activity-schemas.ts'

export const executionDetailRoutes = [
  route({
    tag: 'Activity',
    category: 'global',
    method: 'GET',
    path: '/v1/execution-details',
    operationId: 'listExecutionDetails',
    summary: 'List the execution details of a notification',
    description: 'Oldest first. `GET /v1/notifications/{notificationId}` has them by step.',
    scope: 'read',
    query: Type.Object({
      notificationId: Type.String({ maxLength: 255, description: 'The `_id` of an item of `GET /v1/notifications`.' }),
      subscriberId: Type.Optional(
        Type.String({ maxLength: 255, description: 'Its subscriber, by either id; another is 404.' }),
      ),
    }),
    replies: {
      200: Type.Array(
        Type.Object({ ...executionDetail.properties, _jobId: Type.String() }, { title: 'NotificationExecutionDetail' }),
      ),
    },
    errors: [404],
    handle: async ({ db, versions }, { principal, query }) => {
      const found = await findActivity(db, principal.environment, query.notificationId, versions, undefined)
      const { subscriberId } = query
      const ids = [found?._subscriberId, found?.subscriber?.subscriberId]
      if (found === undefined || (subscriberId !== undefined && !ids.includes(subscriberId))) {
        throw notFound('Notification not found')
      }
      const { jobs } = await activityWithoutAddresses(found)
      const details = jobs.flatMap((job) => job.executionDetails.map((detail) => ({ ...detail, _jobId: job._id })))
      return ok(details.sort((one, other) => one.createdAt.localeCompare(other.createdAt)))
    },
  }),
]
