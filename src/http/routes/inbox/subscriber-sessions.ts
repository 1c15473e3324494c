// The inbox sessions of a subscriber, as an API key sees them: they can be revoked.
import { Type } from 'typebox'
import { revokeInboxSessions } from '../../../manage/messages/inbox-session.ts'
import { route } from '../../route.ts'
import { subscriberId } from '../people/subscriber-schemas.ts'

export const subscriberSessionRoutes = [
  route({
    method: 'DELETE',
    path: '/v2/subscribers/{subscriberId}/sessions',
    operationId: 'revokeSubscriberSessions',
    tag: 'Subscribers',
    summary: 'Revoke inbox sessions',
    description:
      'Revokes the tokens of all inbox sessions that the subscriber has opened so far, on every node within a second. Pages open a new session when they are reloaded.',
    scope: 'inbox:write',
    category: 'configuration',
    params: Type.Object({ subscriberId }),
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, params, idempotency }) =>
      revokeInboxSessions(db, world, principal.environment, { subscriberId: params.subscriberId, idempotency }),
  }),
]
