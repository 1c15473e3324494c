// What a subscriber can be reached by: /v1/subscribers/{subscriberId}/credentials, and whether it is online.
import { Type } from 'typebox'
import { invalidField } from '../../../domain/problem.ts'
import { addCredentials, changeOnlineStatus, removeCredentials } from '../../../manage/people/subscribers.ts'
import { answeredTo } from '../../../read/people/subscribers.ts'
import { route } from '../../route.ts'
import { channelInput, subscriber, subscriberId } from './subscriber-schemas.ts'

const params = Type.Object({ subscriberId })
const shared = { tag: 'Subscribers', category: 'configuration', scope: 'subscribers:write', errors: [404] } as const

const append = {
  ...shared,
  path: '/v1/subscribers/{subscriberId}/credentials',
  description:
    'Device tokens are appended to the existing ones; other given fields are replaced, omitted ones are unchanged. If the provider has no integration yet, the credentials are stored for the first one.',
  params,
  body: channelInput,
  replies: { 200: subscriber },
} as const

export const subscriberChannelRoutes = [
  route({
    ...append,
    method: 'PUT',
    operationId: 'updateSubscriberCredentials',
    summary: 'Update provider credentials',
    handle: async ({ db, world }, { principal, params, body, idempotency }) => {
      const call = { subscriberId: params.subscriberId, channel: body, idempotency }
      return answeredTo(principal, await addCredentials(db, world, principal.environment, call))
    },
  }),
  route({
    ...append,
    method: 'PATCH',
    operationId: 'appendSubscriberCredentials',
    summary: 'Append provider credentials',
    handle: async ({ db, world }, { principal, params, body, idempotency }) => {
      const call = { subscriberId: params.subscriberId, channel: body, idempotency }
      return answeredTo(principal, await addCredentials(db, world, principal.environment, call))
    },
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/subscribers/{subscriberId}/credentials/{providerId}',
    operationId: 'deleteSubscriberCredentials',
    summary: 'Delete provider credentials',
    params: Type.Object({ subscriberId, providerId: channelInput.properties.providerId }),
    replies: { 204: null },
    handle: ({ db, world }, { principal, params, idempotency }) =>
      removeCredentials(db, world, principal.environment, { ...params, idempotency }),
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: '/v1/subscribers/{subscriberId}/online-status',
    operationId: 'updateSubscriberOnlineStatus',
    summary: 'Update the online status',
    description: 'Sets `lastOnlineAt` when the subscriber goes offline.',
    params,
    body: Type.Object(
      {
        isOnline: Type.Optional(Type.Boolean({ description: 'Required.' })),
        online: Type.Optional(Type.Boolean({ deprecated: true, description: 'As older clients name it.' })),
      },
      { title: 'UpdateOnlineStatus', examples: [{ isOnline: true }] },
    ),
    replies: { 200: subscriber },
    handle: async ({ db, world }, { principal, params, body, idempotency }) => {
      const isOnline = body.isOnline ?? body.online
      if (isOnline === undefined) throw invalidField('isOnline', 'isOnline is required')
      const call = { subscriberId: params.subscriberId, isOnline, idempotency }
      return answeredTo(principal, await changeOnlineStatus(db, world, principal.environment, call))
    },
  }),
]
