// Endpoints of the customer's backend: /v1/webhook-endpoints. (/v1/webhooks is what providers call.)
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import type { Principal } from '../../../domain/environment.ts'
import { mayUse } from '../../../domain/environment.ts'
import type { ShownEndpoint } from '../../../manage/webhooks/endpoint-views.ts'
import { shownEndpoint, shownEndpoints } from '../../../manage/webhooks/endpoint-views.ts'
import {
  changeEndpoint,
  createEndpoint,
  removeEndpoint,
  rotateEndpointSecret,
  unknownEndpoint,
} from '../../../manage/webhooks/webhook-endpoints.ts'
import { endpointsPage } from '../../../read/webhooks/webhook-pages.ts'
import { findEndpoint } from '../../../store/webhooks/webhook-endpoints.ts'
import { route } from '../../route.ts'
import { cursorPage, cursorParameters } from '../../schemas.ts'
import { catalogueReply, eventCatalogue } from './event-catalogue.ts'
import {
  createEndpointBody,
  endpoint,
  endpointParams,
  newEndpoint,
  overlapSecondsDefault,
  rotateSecretBody,
  updateEndpointBody,
} from './webhook-schemas.ts'

const shared = { tag: 'Webhooks', category: 'configuration' } as const
const path = '/v1/webhook-endpoints'

/** A path or a query may hold a token, which as other secrets is shown to full keys only. */
function shownTo(principal: Principal, shown: ShownEndpoint): ShownEndpoint {
  if (mayUse(principal, 'full')) return shown
  return { ...shown, url: new URL(shown.url).origin }
}

export const webhookEndpointRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: `${path}/event-types`,
    operationId: 'listWebhookEventTypes',
    summary: 'List webhook event types',
    description: 'Every type of event with the JSON Schema of the body that is sent, and an example.',
    scope: 'read',
    replies: { 200: catalogueReply },
    handle: async () => ok(eventCatalogue),
  }),
  route({
    ...shared,
    method: 'GET',
    path,
    operationId: 'listWebhookEndpoints',
    summary: 'List webhook endpoints',
    scope: 'read',
    query: Type.Object(cursorParameters(['_id'])),
    replies: { 200: cursorPage('WebhookEndpointPage', endpoint) },
    handle: async ({ db, world }, { principal, query }) => {
      const { environment } = principal
      const { data, ...page } = await endpointsPage(db, world.sealer, environment, query)
      const shown = await shownEndpoints(db, environment, data, world.now())
      return ok({ ...page, data: shown.map((one) => shownTo(principal, one)) })
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path,
    operationId: 'createWebhookEndpoint',
    summary: 'Create a webhook endpoint',
    description:
      'Events are sent to it as POST requests, signed as Standard Webhooks say, at least once each, with the same `webhook-id` every time. Events about the same message, subscriber, workflow or integration are sent in their order. One that is not answered 2xx is sent again for three days. The answer is the only time the secret is shown.',
    scope: 'full',
    body: createEndpointBody,
    replies: { 201: newEndpoint },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createEndpoint(db, world, principal.environment, { endpoint: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: `${path}/{endpointId}`,
    operationId: 'retrieveWebhookEndpoint',
    summary: 'Retrieve a webhook endpoint',
    scope: 'read',
    params: endpointParams,
    replies: { 200: endpoint },
    errors: [404],
    handle: async ({ db, world }, { principal, params }) => {
      const { environment } = principal
      const found = await findEndpoint(db, world.sealer, environment, params.endpointId)
      if (found === undefined) throw unknownEndpoint(params.endpointId)
      return ok(shownTo(principal, await shownEndpoint(db, environment, found, world.now())))
    },
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: `${path}/{endpointId}`,
    operationId: 'updateWebhookEndpoint',
    summary: 'Update a webhook endpoint',
    description:
      'Members that are absent stay as they are. Enabling an endpoint forgets its failures, and sends what still waits; what happened while it was disabled is not sent.',
    scope: 'full',
    params: endpointParams,
    body: updateEndpointBody,
    replies: { 200: endpoint },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeEndpoint(db, world, principal.environment, { id: params.endpointId, change: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'POST',
    path: `${path}/{endpointId}/rotate-secret`,
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'Until the overlap ends, requests carry a signature of each secret. The answer is the only time the new secret is shown.',
    scope: 'full',
    params: endpointParams,
    body: rotateSecretBody,
    replies: { 201: newEndpoint },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) => {
      const overlapSeconds = body.overlapSeconds ?? overlapSecondsDefault
      const call = { id: params.endpointId, overlapSeconds, author, idempotency }
      return rotateEndpointSecret(db, world, principal.environment, call)
    },
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: `${path}/{endpointId}`,
    operationId: 'deleteWebhookEndpoint',
    summary: 'Delete a webhook endpoint',
    description: 'Nothing more is sent to it. Its deliveries are deleted as well.',
    scope: 'full',
    params: endpointParams,
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeEndpoint(db, world, principal.environment, { id: params.endpointId, author, idempotency }),
  }),
]
