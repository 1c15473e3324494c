// Topics at their older addresses: /v1/topics, and who belongs to them.
import { Type } from 'typebox'
import type { Answer } from '../../../domain/answer.ts'
import { noContent, ok } from '../../../domain/answer.ts'
import type { SubscriptionsResult } from '../../../domain/people/topic.ts'
import { subscriptionsPerCallMax } from '../../../domain/people/topic.ts'
import { Problem } from '../../../domain/problem.ts'
import { subscribeToTopic, unsubscribeFromTopic } from '../../../manage/people/topic-subscriptions.ts'
import { topicsByPage } from '../../../read/people/topics.ts'
import { olderSpelling } from '../../older-spelling.ts'
import { route } from '../../route.ts'
import { offsetPage, offsetParameters, pageLimitMax } from '../../schemas.ts'
import { topicParams, topicRoutes, topicSchema } from './topics.ts'

const path = '/v1/topics'
const one = `${path}/{topicKey}`
const shared = { tag: 'Topics', category: 'configuration' } as const
const { page, limit } = offsetParameters(pageLimitMax)
const subscribers = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
  minItems: 1,
  maxItems: subscriptionsPerCallMax,
  description: 'The ids of the subscribers in your own system.',
})
const named = (title: string) => Type.Object({ subscribers }, { title, examples: [{ subscribers: ['ada', 'grace'] }] })
const outcome = Type.Object(
  {
    succeeded: Type.Array(Type.String(), { description: 'Who belongs to the topic now.' }),
    failed: Type.Optional(
      Type.Object({ notFound: Type.Array(Type.String(), { description: 'Ids that no subscriber has.' }) }),
    ),
  },
  { title: 'TopicSubscribersResult' },
)

export const topicV1Routes = [
  olderSpelling(topicRoutes, 'createTopic', { path, operationId: 'createTopicV1' }),
  route({
    ...shared,
    method: 'GET',
    path,
    operationId: 'listTopicsV1',
    summary: 'List topics by page',
    description: 'Newest first. `GET /v2/topics` reads long lists faster.',
    scope: 'read',
    query: Type.Object({
      page,
      pageSize: limit,
      key: Type.Optional(Type.String({ maxLength: 255, description: 'Only the topic with this exact key.' })),
    }),
    replies: { 200: offsetPage('TopicPageV1', topicSchema) },
    handle: async ({ db }, { principal, query }) => {
      const { page = 0, pageSize = 10, key } = query
      const asked = { page, limit: pageSize, ...(key === undefined ? {} : { key }) }
      return ok(await topicsByPage(db, principal.environment, asked))
    },
  }),
  olderSpelling(topicRoutes, 'retrieveTopic', { path: one, operationId: 'retrieveTopicV1' }),
  olderSpelling(topicRoutes, 'updateTopic', { path: one, operationId: 'updateTopicV1' }),
  olderSpelling(topicRoutes, 'deleteTopic', { path: one, operationId: 'deleteTopicV1' }),
  route({
    ...shared,
    method: 'POST',
    path: `${one}/subscribers`,
    operationId: 'addTopicSubscribers',
    summary: 'Add subscribers to a topic',
    description:
      'The older form of `POST /v2/topics/{topicKey}/subscriptions`. Creates the topic if it does not exist.',
    scope: 'subscribers:write',
    params: topicParams,
    body: named('AddTopicSubscribers'),
    replies: { 200: outcome },
    handle: async ({ db, world }, { principal, params, body, idempotency }) => {
      const requests = body.subscribers.map((subscriberId) => ({ subscriberId }))
      const call = { topic: { key: params.topicKey }, requests, idempotency }
      const { body: result, ...answer } = await evenIfNone(subscribeToTopic(db, world, principal.environment, call))
      const missing = (result.errors ?? []).map(({ subscriberId }) => subscriberId)
      const succeeded = result.data.map(({ subscriber }) => subscriber.subscriberId)
      const failed = missing.length === 0 ? {} : { failed: { notFound: missing } }
      return { ...answer, status: 200, body: { succeeded, ...failed } }
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: `${one}/subscribers/removal`,
    operationId: 'removeTopicSubscribers',
    summary: 'Remove subscribers from a topic',
    description: 'The older form of `DELETE /v2/topics/{topicKey}/subscriptions`. Ids that are not in it are ignored.',
    scope: 'subscribers:write',
    params: topicParams,
    body: named('RemoveTopicSubscribers'),
    replies: { 204: null },
    errors: [404],
    handle: async ({ db, world }, { principal, params, body, idempotency }) => {
      const targets = body.subscribers.map((subscriberId) => ({ subscriberId }))
      const call = { topicKey: params.topicKey, targets, idempotency }
      const answer = await evenIfNone(unsubscribeFromTopic(db, world, principal.environment, call))
      return { ...answer, ...noContent }
    },
  }),
]

/** A call that changed no one is an answer here, and no error. */
async function evenIfNone(calling: Promise<Answer<SubscriptionsResult>>): Promise<Answer<SubscriptionsResult>> {
  try {
    return await calling
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400 || error.members['meta'] === undefined) throw error
    return ok(error.members as unknown as SubscriptionsResult)
  }
}
