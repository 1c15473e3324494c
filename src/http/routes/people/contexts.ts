// Contexts: /v2/contexts.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { changeContext, createContext, removeContext, unknownContext } from '../../../manage/people/contexts.ts'
import { contextOrders, contextsPage } from '../../../read/people/contexts.ts'
import { findContext } from '../../../store/people/contexts.ts'
import { route } from '../../route.ts'
import { cursorPage, cursorParameters, freeObject, literals, timestamp } from '../../schemas.ts'

/** As in triggers, which make contexts by mentioning them. */
const part = (description: string) => Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$', maxLength: 100, description })
const type = part('The type of object, such as `workspace`: letters, digits, `_` and `-`.')
const id = part('The id within its type: letters, digits, `_` and `-`.')
const data = freeObject({ description: 'Available to templates as `context.<type>.data`; at most 64 KB.' })
const params = Type.Object({ type, id })
const context = Type.Object(
  { type: Type.String(), id: Type.String(), data: freeObject(), createdAt: timestamp(), updatedAt: timestamp() },
  { title: 'Context' },
)
const shared = { tag: 'Contexts', category: 'configuration' } as const

export const contextRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v2/contexts',
    operationId: 'createContext',
    summary: 'Create a context',
    scope: 'subscribers:write',
    body: Type.Object(
      { type, id, data: Type.Optional(data) },
      { title: 'CreateContext', examples: [{ type: 'workspace', id: 'acme', data: { plan: 'team' } }] },
    ),
    replies: { 201: context },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createContext(db, world, principal.environment, {
        type: body.type,
        id: body.id,
        data: body.data,
        author,
        idempotency,
      }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/contexts',
    operationId: 'listContexts',
    summary: 'List contexts',
    description: 'By type, then by id.',
    scope: 'read',
    query: Type.Object({
      ...cursorParameters(contextOrders),
      orderDirection: Type.Optional(
        literals(['ASC', 'DESC'], { default: 'ASC', description: 'Ascending unless `DESC`.' }),
      ),
      id: Type.Optional(Type.String({ maxLength: 100, description: 'Only contexts with this id.' })),
      type: Type.Optional(Type.String({ maxLength: 100, description: 'Only contexts of this type.' })),
      search: Type.Optional(
        Type.String({
          maxLength: 201,
          description: 'Text contained in `type:id`; with fewer than three characters, text that it starts with.',
        }),
      ),
    }),
    replies: { 200: cursorPage('ContextPage', context) },
    handle: async ({ db }, { principal, query }) =>
      ok(await contextsPage(db, principal.environment, { ...query, orderDirection: query.orderDirection ?? 'ASC' })),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/contexts/{type}/{id}',
    operationId: 'retrieveContext',
    summary: 'Retrieve a context',
    scope: 'read',
    params,
    replies: { 200: context },
    errors: [404],
    handle: async ({ db }, { principal, params }) => {
      const found = await findContext(db, principal.environment, params)
      if (found === undefined) throw unknownContext(params)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: '/v2/contexts/{type}/{id}',
    operationId: 'updateContext',
    summary: 'Update a context',
    description: 'The data is replaced as a whole.',
    scope: 'subscribers:write',
    params,
    body: Type.Object({ data }, { title: 'UpdateContext', examples: [{ data: { plan: 'business' } }] }),
    replies: { 200: context },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeContext(db, world, principal.environment, { ...params, data: body.data, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v2/contexts/{type}/{id}',
    operationId: 'deleteContext',
    summary: 'Delete a context',
    description: 'Messages that were sent with it keep its key.',
    scope: 'subscribers:write',
    params,
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeContext(db, world, principal.environment, { ...params, author, idempotency }),
  }),
]
