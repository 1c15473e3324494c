// The progress of an event: /v1/events/{transactionId}.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { notFound } from '../../../domain/problem.ts'
import { findEventProgress } from '../../../read/activity/event-progress.ts'
import { route } from '../../route.ts'
import { eventProgress } from './activity-schemas.ts'

export const eventProgressRoutes = [
  route({
    tag: 'Events',
    category: 'global',
    method: 'GET',
    path: '/v1/events/{transactionId}',
    operationId: 'retrieveEventProgress',
    summary: 'Retrieve the progress of a triggered event',
    description:
      'The progress of the event and the results of its notifications. Also works for events that had no recipients.',
    scope: 'read',
    params: Type.Object({
      transactionId: Type.String({ maxLength: 255, description: 'As given in the trigger, or returned by it.' }),
    }),
    replies: { 200: eventProgress },
    errors: [404],
    handle: async ({ db }, { principal, params }) => {
      const found = await findEventProgress(db, principal.environment, params.transactionId)
      if (found === undefined) throw notFound(`No event has the transactionId ${params.transactionId}`)
      return ok(found)
    },
  }),
]
