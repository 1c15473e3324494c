// What was sent to a webhook endpoint, and sending it again: /v1/webhook-endpoints/{endpointId}/deliveries.
import { Type } from 'typebox'
import type { Answer } from '../../../domain/answer.ts'
import { ok } from '../../../domain/answer.ts'
import { notFound } from '../../../domain/problem.ts'
import { deliveryStatuses } from '../../../domain/webhooks/webhook-delivery.ts'
import { redriveMany, redriveOne, sendTest } from '../../../manage/webhooks/webhook-deliveries.ts'
import { unknownEndpoint } from '../../../manage/webhooks/webhook-endpoints.ts'
import { deliveriesPage } from '../../../read/webhooks/webhook-pages.ts'
import type { DeliveryRow } from '../../../store/webhooks/webhook-deliveries.ts'
import { findDelivery } from '../../../store/webhooks/webhook-deliveries.ts'
import { findEndpoint } from '../../../store/webhooks/webhook-endpoints.ts'
import type { Service } from '../../route.ts'
import { route } from '../../route.ts'
import { cursorPage, cursorParameters, literals } from '../../schemas.ts'
import { delivery, deliveryParams, endpointParams, redriveBody, redriveReply } from './webhook-schemas.ts'

const shared = { tag: 'Webhooks', category: 'configuration' } as const
const path = '/v1/webhook-endpoints/{endpointId}'

const shown = ({ id, dueAt, createdAt, settledAt, ...row }: DeliveryRow) => ({
  _id: id,
  ...row,
  nextAttemptAt: dueAt === null ? null : new Date(dueAt).toISOString(),
  createdAt: new Date(createdAt).toISOString(),
  settledAt: settledAt === null ? null : new Date(settledAt).toISOString(),
})

/** The worker looks at once; dates of a repeated answer are texts. */
async function sentSoon({ queue }: Service, work: Promise<Answer<DeliveryRow>>): Promise<Answer<unknown>> {
  const answer = await work
  queue.poke()
  return { ...answer, body: shown(answer.body) }
}

export const webhookDeliveryRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: `${path}/test`,
    operationId: 'testWebhookEndpoint',
    summary: 'Send a test event',
    description:
      'Sends a `webhook.test` by the way of every event. Read the delivery to see what the endpoint answered.',
    scope: 'full',
    params: endpointParams,
    replies: { 201: delivery },
    errors: [404, 409],
    handle: (service, { principal, params, idempotency }) =>
      sentSoon(service, sendTest(service.db, service.world, principal.environment, { ...params, idempotency })),
  }),
  route({
    ...shared,
    method: 'GET',
    path: `${path}/deliveries`,
    operationId: 'listWebhookDeliveries',
    summary: 'List webhook deliveries',
    description: 'Newest first, with the answers of the endpoint. They are kept for 30 days.',
    scope: 'read',
    params: endpointParams,
    query: Type.Object({ ...cursorParameters(['_id']), status: Type.Optional(literals(deliveryStatuses)) }),
    replies: { 200: cursorPage('WebhookDeliveryPage', delivery) },
    errors: [404],
    handle: async ({ db, world }, { principal, params, query }) => {
      const { endpointId } = params
      const found = await findEndpoint(db, world.sealer, principal.environment, endpointId)
      if (found === undefined) throw unknownEndpoint(endpointId)
      const { data, ...page } = await deliveriesPage(db, principal.environment, { ...query, endpointId })
      return ok({ ...page, data: data.map(shown) })
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: `${path}/deliveries/{deliveryId}`,
    operationId: 'retrieveWebhookDelivery',
    summary: 'Retrieve a webhook delivery',
    scope: 'read',
    params: deliveryParams,
    replies: { 200: delivery },
    errors: [404],
    handle: async ({ db, world }, { principal, params: { endpointId, deliveryId } }) => {
      const endpoint = await findEndpoint(db, world.sealer, principal.environment, endpointId)
      if (endpoint === undefined) throw unknownEndpoint(endpointId)
      const found = await findDelivery(db, principal.environment, { endpointId, id: deliveryId })
      if (found === undefined) throw notFound(`Delivery ${deliveryId} of this webhook endpoint not found`)
      return ok(shown(found))
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: `${path}/deliveries/{deliveryId}/redrive`,
    operationId: 'redriveWebhookDelivery',
    summary: 'Send a webhook delivery again',
    description: 'Also one that was accepted. It has the same `webhook-id` and body, and three days of attempts again.',
    scope: 'full',
    params: deliveryParams,
    replies: { 200: delivery },
    errors: [404, 409],
    handle: (service, { principal, params: { endpointId, deliveryId: id }, idempotency }) =>
      sentSoon(service, redriveOne(service.db, service.world, principal.environment, { endpointId, id, idempotency })),
  }),
  route({
    ...shared,
    method: 'POST',
    path: `${path}/redrive`,
    operationId: 'redriveWebhookDeliveries',
    summary: 'Send the webhook deliveries of a time again',
    description: 'At most 100,000 in one call, the oldest first.',
    scope: 'full',
    params: endpointParams,
    body: redriveBody,
    replies: { 200: redriveReply },
    errors: [404, 409],
    handle: async ({ db, world, queue }, { principal, params, body: { from, to, statuses }, idempotency }) => {
      const call = { ...params, from, to, statuses: statuses ?? (['failed'] as const), idempotency }
      const answer = await redriveMany(db, world, principal.environment, call)
      queue.poke()
      return answer
    },
  }),
]
