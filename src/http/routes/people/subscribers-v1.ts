// Subscribers at their older addresses: /v1/subscribers.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { subscribersPage } from '../../../read/people/subscribers.ts'
import { olderSpelling } from '../../older-spelling.ts'
import { route } from '../../route.ts'
import { offsetPage, offsetParameters, pageLimitMax } from '../../schemas.ts'
import { subscriberPreferenceV1Routes } from './subscriber-preferences-v1.ts'
import { subscriber } from './subscriber-schemas.ts'
import { subscriberRoutes } from './subscribers.ts'

const path = '/v1/subscribers'
const one = `${path}/{subscriberId}`
/** A page behind it would walk over a million rows; `GET /v2/subscribers` goes on by cursors. */
const pageMax = 10_000

export const subscriberV1Routes = [
  olderSpelling(subscriberRoutes, 'createSubscriber', { path, operationId: 'createSubscriberV1' }),
  route({
    tag: 'Subscribers',
    category: 'configuration',
    method: 'GET',
    path,
    operationId: 'listSubscribersV1',
    summary: 'List subscribers by page',
    description: 'Newest first. `GET /v2/subscribers` searches, and reads long lists faster.',
    scope: 'read',
    query: Type.Object({
      ...offsetParameters(pageLimitMax),
      page: Type.Optional(Type.Integer({ minimum: 0, maximum: pageMax, default: 0, description: 'Page, from 0.' })),
    }),
    replies: { 200: offsetPage('SubscriberPageV1', subscriber) },
    handle: async ({ db, world }, { principal, query }) => {
      const page = { page: query.page ?? 0, limit: query.limit ?? 10 }
      return ok(await subscribersPage(db, world.sealer, principal, page))
    },
  }),
  olderSpelling(subscriberRoutes, 'retrieveSubscriber', { path: one, operationId: 'retrieveSubscriberV1' }),
  olderSpelling(subscriberRoutes, 'updateSubscriber', {
    method: 'PUT',
    path: one,
    operationId: 'updateSubscriberV1',
  }),
  olderSpelling(subscriberRoutes, 'deleteSubscriber', { path: one, operationId: 'deleteSubscriberV1' }),
  olderSpelling(subscriberPreferenceV1Routes, 'listSubscriberPreferences', {
    path: `${one}/preferences/template`,
    operationId: 'listSubscriberPreferencesByLevel',
  }),
]
