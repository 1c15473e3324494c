// The topics that a session's subscriber follows: /v1/inbox/topics/{topicKey}/subscriptions.
import { Type } from 'typebox'
import { created, noContent, ok } from '../../../domain/answer.ts'
import { subscriptionIdentifierLengthMax } from '../../../domain/people/topic.ts'
import { subscriptionChoicesMax } from '../../../domain/preferences/subscription-preferences.ts'
import {
  changeReaderSubscription,
  subscribeReader,
  unsubscribeReader,
} from '../../../manage/people/inbox-subscriptions.ts'
import { inboxSubscriptions, withAskedPreferences } from '../../../read/people/inbox-subscriptions.ts'
import { inboxRoute } from '../../inbox-route.ts'
import {
  subscriptionPreferences as preferences,
  readPreferences,
  shownSubscriptionPreferences,
} from '../people/subscription-preferences.ts'
import { topicName, topicParams } from '../people/topics.ts'

const path = '/v1/inbox/topics/{topicKey}/subscriptions'
const shared = { tag: 'Inbox' } as const
const identifier = Type.String({
  maxLength: subscriptionIdentifierLengthMax,
  description: 'Default: `tk_<topicKey>:si_<subscriberId>`, followed by `:ctx_<type:id,…>` if there are contexts.',
})
const name = Type.Optional(Type.String({ maxLength: 255, description: 'A display name.' }))
const subscription = Type.Object(
  {
    id: Type.String(),
    identifier: Type.String({ examples: ['tk_project:42:si_user-1'] }),
    name: Type.Optional(Type.String()),
    preferences: shownSubscriptionPreferences,
    contextKeys: Type.Optional(Type.Array(Type.String())),
  },
  { title: 'InboxSubscription' },
)
const one = Type.Object({ data: subscription }, { title: 'InboxSubscriptionAnswer' })
const named = Type.Object({ ...topicParams.properties, identifier })
const texts = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: subscriptionChoicesMax, description }),
  )
const asked = Type.Object({
  workflowIds: texts('Workflows to show a preference for even if none was chosen, by id or identifier.'),
  tags: texts('The same for all active workflows with one of these tags.'),
})

export const inboxSubscriptionRoutes = [
  inboxRoute({
    ...shared,
    method: 'GET',
    path,
    operationId: 'listInboxSubscriptions',
    summary: 'List subscriptions to a topic',
    description: 'Only the subscriptions of this subscriber.',
    params: topicParams,
    replies: { 200: Type.Object({ data: Type.Array(subscription) }, { title: 'InboxSubscriptions' }) },
    handle: async ({ db }, { reader, params }) => ok({ data: await inboxSubscriptions(db, reader, params) }),
  }),
  inboxRoute({
    ...shared,
    method: 'POST',
    path,
    operationId: 'createInboxSubscription',
    summary: 'Subscribe to a topic',
    description:
      'Creates the topic if it does not exist. An existing subscription is returned, unchanged but for preferences that are given: they replace its own.',
    params: topicParams,
    body: Type.Object(
      {
        identifier: Type.Optional(identifier),
        name,
        topic: Type.Optional(
          Type.Object({ name: Type.Optional(topicName('The name of the topic, if this request creates it.')) }),
        ),
        preferences,
      },
      { title: 'CreateInboxSubscription', examples: [{ identifier: '', name: 'My project' }] },
    ),
    replies: { 201: one },
    errors: [404],
    handle: async ({ db, world }, { reader, params, body }) => {
      const { name: nameOfTopic } = body.topic ?? {}
      const topic = { key: params.topicKey, ...(nameOfTopic === undefined ? {} : { name: nameOfTopic }) }
      const change = { name: body.name, preferences: readPreferences(body.preferences) }
      const call = { topic, identifier: body.identifier ?? '', ...change }
      return created({ data: await subscribeReader(db, world, reader, call) })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'GET',
    path: `${path}/{identifier}`,
    operationId: 'retrieveInboxSubscription',
    summary: 'Retrieve a subscription to a topic',
    description:
      '204 if the subscriber has no subscription with that identifier. Workflows that are asked for and were not chosen are shown as enabled.',
    params: named,
    query: asked,
    replies: { 200: one, 204: null },
    handle: async ({ db }, { reader, params, query }) => {
      const [found] = await inboxSubscriptions(db, reader, params)
      if (found === undefined) return noContent
      return ok({ data: await withAskedPreferences(db, reader, found, query) })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'PATCH',
    path: `${path}/{identifier}`,
    operationId: 'updateInboxSubscription',
    summary: 'Update a subscription to a topic',
    description: 'Preferences that are given replace all preferences of the subscription.',
    params: named,
    body: Type.Object({ name, preferences }, { title: 'UpdateInboxSubscription', examples: [{ name: 'My project' }] }),
    replies: { 200: one },
    errors: [404],
    handle: async ({ db, world }, { reader, params, body }) => {
      const change = { name: body.name, preferences: readPreferences(body.preferences) }
      return ok({ data: await changeReaderSubscription(db, world, reader, { ...params, ...change }) })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'DELETE',
    path: `${path}/{identifier}`,
    operationId: 'deleteInboxSubscription',
    summary: 'Unsubscribe from a topic',
    params: named,
    replies: {
      200: Type.Object(
        { data: Type.Object({ success: Type.Boolean() }) },
        { title: 'InboxSubscriptionDeleted', examples: [{ data: { success: true } }] },
      ),
    },
    errors: [404],
    handle: async ({ db, world }, { reader, params }) => {
      await unsubscribeReader(db, world, reader, params)
      return ok({ data: { success: true } })
    },
  }),
]
