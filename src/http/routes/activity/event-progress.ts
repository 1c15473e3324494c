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
    description: 'How far it has come, and what became of its notifications. Also of an event that reached nobody.',
    scope: 'read',
    params: Type.Object({
      transactionId: Type.String({ maxLength: 255, description: 'As the trigger gave it or was answered.' }),
    }),
    replies: { 200: eventProgress },
    errors: [404],
    handle: async ({ db }, { caller, params }) => {
      const found = await findEventProgress(db, caller.environment, params.transactionId)
      if (found === undefined) throw notFound(`No event has the transactionId ${params.transactionId}`)
      return ok(found)
    },
  }),
]
