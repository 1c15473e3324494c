// Layouts: /v1/layouts.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { layoutLengthMax } from '../../../domain/workflows/layout.ts'
import { changeLayout, createLayout, removeLayout, unknownLayout } from '../../../manage/workflows/layouts.ts'
import { layoutsPage } from '../../../read/workflows/layouts.ts'
import { findLayout } from '../../../store/workflows/layouts.ts'
import { route } from '../../route.ts'
import { identifierText, literals, offsetPage, offsetParameters, pageLimitMax, timestamp } from '../../schemas.ts'

const layout = Type.Object(
  {
    _id: Type.String(),
    _organizationId: Type.String(),
    _environmentId: Type.String(),
    _creatorId: Type.String({ description: 'The id of the API key that created it.' }),
    identifier: Type.String(),
    name: Type.String(),
    description: Type.String(),
    channel: literals(['email']),
    content: Type.String(),
    contentType: literals(['customHtml']),
    isDefault: Type.Boolean(),
    isDeleted: Type.Boolean(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Layout' },
)
export const layoutIdentifier = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[A-Za-z0-9_.:-]+$',
  description: 'The identifier used in workflows and triggers: letters, digits, `_`, `-`, `.` and `:`.',
})
export const layoutName = identifierText({ maxLength: 255 })
const content = Type.String({
  minLength: 1,
  maxLength: layoutLengthMax,
  description:
    'HTML with Liquid and one `{{{body}}}`, which is replaced by the content of the e-mail. It has the variables of e-mail templates, plus `subject`, `preheader` and `branding`.',
})
const isDefault = Type.Boolean({
  description: 'Whether it is used for e-mails without a layout of their own. At most one layout is the default.',
})
const members = {
  name: layoutName,
  identifier: Type.Optional(layoutIdentifier),
  description: Type.Optional(Type.String({ maxLength: 1_000 })),
  content,
  isDefault: Type.Optional(isDefault),
}
export const layoutParams = Type.Object({
  layoutId: Type.String({ minLength: 1, maxLength: 255, description: 'The `_id` or the identifier.' }),
})
const params = layoutParams
const shared = { tag: 'Layouts', category: 'configuration' } as const
const contentField = 'content'
const example = '<html><body><h1>Acme</h1>{{{body}}}</body></html>'

export const layoutRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v1/layouts',
    operationId: 'createLayout',
    summary: 'Create a layout',
    description: 'The content is checked; errors are reported with their line.',
    scope: 'workflows:write',
    body: Type.Object(members, {
      title: 'CreateLayout',
      examples: [{ name: 'Acme', identifier: 'acme', content: example, isDefault: true }],
    }),
    replies: { 201: layout },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createLayout(db, world, principal.environment, {
        layout: body,
        contentField,
        author,
        idempotency,
      }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/layouts',
    operationId: 'listLayouts',
    summary: 'List layouts',
    description: 'Newest first.',
    scope: 'read',
    query: Type.Object({
      ...offsetParameters(pageLimitMax),
      pageSize: Type.Optional(
        Type.Integer({ minimum: 1, maximum: pageLimitMax, description: '`limit` as older clients name it.' }),
      ),
    }),
    replies: { 200: offsetPage('LayoutPage', layout) },
    handle: async ({ db }, { principal, query }) => {
      const limit = query.pageSize ?? query.limit ?? 10
      return ok(await layoutsPage(db, principal.environment, { page: query.page ?? 0, limit }))
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/layouts/{layoutId}',
    operationId: 'retrieveLayout',
    summary: 'Retrieve a layout',
    scope: 'read',
    params,
    replies: { 200: layout },
    errors: [404],
    handle: async ({ db }, { principal, params }) => {
      const found = await findLayout(db, principal.environment, params.layoutId)
      if (found === undefined) throw unknownLayout(params.layoutId)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: '/v1/layouts/{layoutId}',
    operationId: 'updateLayout',
    summary: 'Update a layout',
    description:
      'Omitted fields are unchanged. An identifier that active workflows use cannot be changed: 409 lists them.',
    scope: 'workflows:write',
    params,
    body: Type.Partial(Type.Object(members), { title: 'UpdateLayout', examples: [{ content: example }] }),
    replies: { 200: layout },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeLayout(db, world, principal.environment, { ...params, change: body, contentField, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/layouts/{layoutId}/default',
    operationId: 'makeLayoutDefault',
    summary: 'Make a layout the default',
    description: 'From now on it is used for e-mails that do not set a layout.',
    scope: 'workflows:write',
    params,
    replies: { 200: layout },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      changeLayout(db, world, principal.environment, {
        ...params,
        change: { isDefault: true },
        contentField,
        author,
        idempotency,
      }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/layouts/{layoutId}',
    operationId: 'deleteLayout',
    summary: 'Delete a layout',
    description: '409 if it is the default, or if active workflows use it; the error lists them.',
    scope: 'workflows:write',
    params,
    replies: { 204: null },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeLayout(db, world, principal.environment, { ...params, author, idempotency }),
  }),
]
