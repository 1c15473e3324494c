// Subscribers: /v2/subscribers, and bulk creation.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import type { SubscriberFields } from '../../../domain/people/subscriber.ts'
import type { BulkElement } from '../../../manage/people/subscriber-bulk.ts'
import { createSubscribersInBulk } from '../../../manage/people/subscriber-bulk.ts'
import type { NewSubscriber } from '../../../manage/people/subscriber-creations.ts'
import { changeSubscriber, removeSubscriber, unknownSubscriber } from '../../../manage/people/subscribers.ts'
import { answeredTo, findSubscriber, searchSubscribers, subscriberOrders } from '../../../read/people/subscribers.ts'
import type { ChannelInput } from '../../../store/people/channel-changes.ts'
import { elementCheck } from '../../request/validator.ts'
import { route } from '../../route.ts'
import { cursorPage, cursorParameters } from '../../schemas.ts'
import {
  bulkResult,
  bulkSubscriber,
  subscriber,
  subscriberExample,
  subscriberFields,
  subscriberId,
} from './subscriber-schemas.ts'

const params = Type.Object({ subscriberId })
const shared = { tag: 'Subscribers', category: 'configuration' } as const
const withPreferences = Type.Optional(
  Type.Boolean({ default: false, description: 'Whether to include `preferences`: what the subscriber chose.' }),
)
/** Enough for a screenful of people and small enough for one statement. */
const bulkMax = 500

export const subscriberRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v2/subscribers',
    operationId: 'createSubscriber',
    summary: 'Create a subscriber',
    description:
      'Creates the subscriber, or updates an existing one: omitted fields are unchanged, null clears a field.',
    scope: 'subscribers:write',
    query: Type.Object({
      failIfExists: Type.Optional(
        Type.Boolean({ default: false, description: 'Whether to respond with 409 if the subscriber exists.' }),
      ),
    }),
    body: Type.Object(
      { subscriberId, ...subscriberFields },
      { title: 'CreateSubscriber', examples: [subscriberExample] },
    ),
    replies: { 201: subscriber },
    errors: [409],
    handle: async ({ subscriberCreations }, { principal, query, body, idempotency }) => {
      const call = { subscriber: trimmed(body), failIfExists: query.failIfExists === true, idempotency }
      return answeredTo(principal, await subscriberCreations.add(principal.environment, call))
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/subscribers',
    operationId: 'searchSubscribers',
    summary: 'Search subscribers',
    description:
      'Filters are case-sensitive and combined by “and”: `subscriberId` matches exactly; `email`, `phone` and `name` ("first last") contain the text, or start with it if it is shorter than three characters.',
    scope: 'read',
    query: Type.Object({
      ...cursorParameters(subscriberOrders),
      email: Type.Optional(Type.String({ maxLength: 320, description: 'Part of the e-mail address.' })),
      name: Type.Optional(Type.String({ maxLength: 511, description: 'Part of the name.' })),
      phone: Type.Optional(Type.String({ maxLength: 64, description: 'Part of the phone number.' })),
      subscriberId: Type.Optional(Type.String({ maxLength: 255, description: 'The full id.' })),
      preferences: withPreferences,
    }),
    replies: { 200: cursorPage('SubscriberPage', subscriber) },
    handle: async ({ db, world }, { principal, query }) =>
      ok(await searchSubscribers(db, world.sealer, principal, query)),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/subscribers/{subscriberId}',
    operationId: 'retrieveSubscriber',
    summary: 'Retrieve a subscriber',
    scope: 'read',
    params,
    query: Type.Object({ preferences: withPreferences }),
    replies: { 200: subscriber },
    errors: [404],
    handle: async ({ db, world }, { principal, params, query }) => {
      const found = await findSubscriber(db, world.sealer, principal, { ...params, ...query })
      if (found === undefined) throw unknownSubscriber(params.subscriberId)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: '/v2/subscribers/{subscriberId}',
    operationId: 'updateSubscriber',
    summary: 'Update a subscriber',
    description: 'Omitted fields are unchanged, null clears a field, `data` is replaced as a whole.',
    scope: 'subscribers:write',
    params,
    body: Type.Object(subscriberFields, {
      title: 'UpdateSubscriber',
      examples: [{ email: 'ada@example.org', phone: null }],
    }),
    replies: { 200: subscriber },
    errors: [404],
    handle: async ({ db, world }, { principal, params, body, idempotency }) => {
      const call = { subscriberId: params.subscriberId, fields: body, idempotency }
      return answeredTo(principal, await changeSubscriber(db, world, principal.environment, call))
    },
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v2/subscribers/{subscriberId}',
    operationId: 'deleteSubscriber',
    summary: 'Delete a subscriber',
    description: 'Also deletes its credentials and topic subscriptions; the id can be used again.',
    scope: 'subscribers:write',
    params,
    replies: {
      200: Type.Object({ acknowledged: Type.Boolean(), status: Type.String() }, { title: 'DeletedSubscriber' }),
    },
    errors: [404],
    handle: ({ db, world }, { principal, params, idempotency }) =>
      removeSubscriber(db, world, principal.environment, { subscriberId: params.subscriberId, idempotency }),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/subscribers/bulk',
    operationId: 'createSubscribersInBulk',
    summary: 'Create subscribers in bulk',
    description: 'Each element is checked separately; an invalid one does not affect the others.',
    scope: 'subscribers:write',
    cost: 100,
    body: Type.Object(
      {
        subscribers: Type.Array(
          Type.Unsafe<unknown>({ type: 'object', description: 'As for creating one, plus `channels`.' }),
          {
            minItems: 1,
            maxItems: bulkMax,
          },
        ),
      },
      { title: 'CreateSubscribersInBulk', examples: [{ subscribers: [subscriberExample] }] },
    ),
    memberSchema: () => Type.Object({ subscribers: Type.Array(bulkSubscriber) }),
    replies: { 201: bulkResult },
    handle: ({ db, world }, { principal, body, idempotency }) =>
      createSubscribersInBulk(db, world, principal.environment, {
        elements: body.subscribers.map(bulkElement),
        idempotency,
      }),
  }),
]

const fieldNames = Object.keys(subscriberFields) as (keyof SubscriberFields)[]

/** Known fields only: other fields of a body are ignored. */
function trimmed(body: NewSubscriber): NewSubscriber {
  const given = fieldNames.filter((name) => body[name] !== undefined).map((name) => [name, body[name]])
  return { ...(Object.fromEntries(given) as SubscriberFields), subscriberId: body.subscriberId.trim() }
}

const checkElement = elementCheck(bulkSubscriber)

function bulkElement(element: unknown): BulkElement {
  const errors = checkElement(element)
  if (errors === undefined) {
    const good = element as NewSubscriber & { channels?: ChannelInput[] }
    return { subscriber: trimmed(good), channels: good.channels ?? [] }
  }
  const { subscriberId } = element as { subscriberId?: unknown }
  const message = Object.values(errors)
    .flatMap((error) => error.messages)
    .join('; ')
  return typeof subscriberId === 'string' ? { subscriberId, message } : { message }
}
