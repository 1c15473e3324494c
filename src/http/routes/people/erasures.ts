// Privacy erase: /v1/subscribers/{subscriberId}/erase, /v1/erasures/{erasureId}.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { erasurePhases, removedKinds } from '../../../domain/people/erasure.ts'
import { notFound } from '../../../domain/problem.ts'
import { isUuid } from '../../../domain/uuid-v7.ts'
import { eraseSubscriber } from '../../../manage/people/erase-subscriber.ts'
import { findErasure } from '../../../store/people/erasures.ts'
import { route } from '../../route.ts'
import { identifierText, literals, nullableString, timestamp } from '../../schemas.ts'

const erasure = Type.Object(
  {
    _id: Type.String(),
    status: literals(['running', 'completed', 'stuck'], {
      description: '`stuck`: it failed repeatedly, see the log; repeat the request to restart it.',
    }),
    phase: literals(erasurePhases, { description: 'The current stage.' }),
    subscriberHash: Type.String({
      description: 'A keyed hash of the subscriberId: the same for the same id, and not reversible.',
    }),
    requestedBy: Type.String({ description: 'The id of the API key that requested it.' }),
    requestedAt: timestamp(),
    completedAt: nullableString({ format: 'date-time' }),
    removed: Type.Object(Object.fromEntries(removedKinds.map((kind) => [kind, Type.Integer()])), {
      description:
        'How many were removed so far, by kind. `mentionsInEvents`: events of other people from which the person was removed; `suppressedAddresses`: suppressed addresses that were replaced by hashes and stay suppressed.',
    }),
  },
  { title: 'Erasure' },
)
const shared = { tag: 'Subscribers', category: 'configuration', scope: 'full' } as const

export const erasureRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v1/subscribers/{subscriberId}/erase',
    operationId: 'eraseSubscriber',
    summary: 'Erase a person',
    description:
      'Removes all data about a subscriber, including one that was already deleted: steps that have not run are canceled first, then messages, activity, digests, topic subscriptions, channels, the subscriber, and events that were only for them are removed. It cannot be undone. The response is a receipt that shows the progress.',
    cost: 100,
    params: Type.Object({ subscriberId: identifierText({ maxLength: 255 }) }),
    replies: { 202: erasure },
    errors: [404, 409],
    handle: ({ db, world, queue }, { principal, author, params, idempotency }) =>
      eraseSubscriber(db, world, principal.environment, queue, { ...params, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/erasures/{erasureId}',
    operationId: 'getErasure',
    summary: 'Retrieve an erasure',
    params: Type.Object({ erasureId: Type.String({ maxLength: 100 }) }),
    replies: { 200: erasure },
    errors: [404],
    handle: async ({ db }, { principal, params: { erasureId } }) => {
      const found = isUuid(erasureId) ? await findErasure(db, principal.environment, erasureId) : undefined
      if (found === undefined) throw notFound(`Erasure ${erasureId} was not found`)
      return ok(found)
    },
  }),
]
