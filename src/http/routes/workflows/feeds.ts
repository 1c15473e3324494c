// Feeds: /v1/feeds.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { createFeed, removeFeed } from '../../../manage/workflows/feeds.ts'
import { feedsPage } from '../../../read/workflows/feeds.ts'
import { route } from '../../route.ts'
import { identifierText, offsetPage, offsetParameters, pageLimitMax, timestamp } from '../../schemas.ts'

const feed = Type.Object(
  {
    _id: Type.String(),
    identifier: Type.String(),
    name: Type.String(),
    _environmentId: Type.String(),
    _organizationId: Type.String(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'NamedFeed' },
)
const identifier = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[A-Za-z0-9_.:-]+$',
  description: 'The identifier used in steps and in the feed filter. Default: a slug of the name.',
})
const shared = { tag: 'Feed', category: 'configuration' } as const

export const feedRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v1/feeds',
    operationId: 'createFeed',
    summary: 'Create a feed',
    description: 'A named part of the in-app feed. Steps use its `feedId` to place messages there.',
    scope: 'workflows:write',
    body: Type.Object(
      { name: identifierText({ maxLength: 255 }), identifier: Type.Optional(identifier) },
      { title: 'CreateFeed', examples: [{ name: 'Orders', identifier: 'orders' }] },
    ),
    replies: { 201: feed },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createFeed(db, world, principal.environment, {
        name: body.name,
        identifier: body.identifier,
        author,
        idempotency,
      }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/feeds',
    operationId: 'listFeeds',
    summary: 'List feeds',
    description: 'Oldest first.',
    scope: 'read',
    query: Type.Object(offsetParameters(pageLimitMax)),
    replies: { 200: offsetPage('NamedFeedPage', feed) },
    handle: async ({ db }, { principal, query }) =>
      ok(await feedsPage(db, principal.environment, { page: query.page ?? 0, limit: query.limit ?? 10 })),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/feeds/{feedId}',
    operationId: 'deleteFeed',
    summary: 'Delete a feed',
    description: '409 if active workflows use it; the error lists them. Its messages are not deleted.',
    scope: 'workflows:write',
    params: Type.Object({
      feedId: Type.String({ minLength: 1, maxLength: 255, description: 'The `_id` or the identifier.' }),
    }),
    replies: { 204: null },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeFeed(db, world, principal.environment, { ...params, author, idempotency }),
  }),
]
