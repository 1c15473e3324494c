// Layouts in the words of API v2: /v2/layouts.
import { Type } from 'typebox'
import type { Answer } from '../../../domain/answer.ts'
import { ok } from '../../../domain/answer.ts'
import { slugOf } from '../../../domain/delivery/integration.ts'
import type { Layout } from '../../../domain/workflows/layout.ts'
import { layoutLengthMax, starterLayout } from '../../../domain/workflows/layout.ts'
import { usesTranslations } from '../../../domain/workflows/translation.ts'
import { changeLayout, createLayout, removeLayout, unknownLayout } from '../../../manage/workflows/layouts.ts'
import { previewLayout } from '../../../manage/workflows/preview-layout.ts'
import { countMatchingLayouts, findLayout, listLayouts } from '../../../store/workflows/layouts.ts'
import { workflowsNaming } from '../../../store/workflows/workflow-references.ts'
import type { Service } from '../../route.ts'
import { route } from '../../route.ts'
import { freeObject, literals, nullableFreeObject, pageLimitMax, timestamp } from '../../schemas.ts'
import { layoutIdentifier, layoutName, layoutParams as params } from './layouts.ts'

const emailControls = Type.Object({
  body: Type.String({
    minLength: 1,
    maxLength: layoutLengthMax,
    description:
      'HTML with Liquid and one `{{{body}}}` or `{{content}}`, which is replaced by the content of the e-mail.',
  }),
  editorType: Type.Optional(literals(['html'], { description: 'Block editor documents are not supported.' })),
})
const layout = Type.Object(
  {
    _id: Type.String(),
    layoutId: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    isDefault: Type.Boolean(),
    isTranslationEnabled: Type.Boolean({ description: 'Whether its content uses the filter `t`.' }),
    origin: Type.String(),
    type: literals(['REGULAR']),
    controls: Type.Object({ values: Type.Object({ email: emailControls }) }),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'LayoutV2' },
)
const isTranslationEnabled = Type.Optional(
  Type.Boolean({ description: 'Accepted for compatibility; the filter `t` works without it.' }),
)
const shared = { tag: 'Layouts', category: 'configuration' } as const
const contentField = 'controlValues.email.body'
/** A list of users of a layout is for a person to look at. */
const usersMax = 100

const shown = (one: Layout) => ({
  _id: one._id,
  layoutId: one.identifier,
  slug: `${slugOf(one.name) || 'layout'}_${one._id}`,
  name: one.name,
  isDefault: one.isDefault,
  isTranslationEnabled: usesTranslations(one.content),
  origin: 'platform-cloud',
  type: 'REGULAR',
  controls: { values: { email: { body: one.content, editorType: 'html' } } },
  createdAt: one.createdAt,
  updatedAt: one.updatedAt,
})

async function asShown(answer: Promise<Answer<Layout>>): Promise<Answer<unknown>> {
  const { body, ...rest } = await answer
  return { ...rest, body: shown(body) }
}

async function found({ db }: Service, environment: Parameters<typeof findLayout>[1], name: string): Promise<Layout> {
  const one = await findLayout(db, environment, name)
  if (one === undefined) throw unknownLayout(name)
  return one
}

export const layoutV2Routes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v2/layouts',
    operationId: 'createLayoutV2',
    summary: 'Create a layout (v2)',
    description: 'Starts with plain content; update the layout to set your own.',
    scope: 'workflows:write',
    body: Type.Object(
      { layoutId: layoutIdentifier, name: layoutName, isTranslationEnabled },
      { title: 'CreateLayoutV2', examples: [{ layoutId: 'acme-plain', name: 'Acme, plain' }] },
    ),
    replies: { 201: layout },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      asShown(
        createLayout(db, world, principal.environment, {
          layout: { identifier: body.layoutId, name: body.name, content: starterLayout },
          contentField,
          author,
          idempotency,
        }),
      ),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/layouts',
    operationId: 'listLayoutsV2',
    summary: 'List layouts (v2)',
    scope: 'read',
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageLimitMax, default: 10 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
      orderDirection: Type.Optional(literals(['ASC', 'DESC'], { default: 'DESC' })),
      orderBy: Type.Optional(literals(['createdAt'], { default: 'createdAt' })),
      query: Type.Optional(
        Type.String({ maxLength: 255, description: 'Text contained in the name or the identifier.' }),
      ),
    }),
    replies: {
      200: Type.Object({ layouts: Type.Array(layout), totalCount: Type.Integer() }, { title: 'LayoutListV2' }),
    },
    handle: async ({ db }, { principal, query }) => {
      const { limit = 10, offset = 0, query: text } = query
      const oldestFirst = query.orderDirection === 'ASC'
      const [layouts, totalCount] = await Promise.all([
        listLayouts(db, principal.environment, { limit, offset, oldestFirst, ...(text === undefined ? {} : { text }) }),
        countMatchingLayouts(db, principal.environment, text),
      ])
      return ok({ layouts: layouts.map(shown), totalCount })
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/layouts/{layoutId}',
    operationId: 'retrieveLayoutV2',
    summary: 'Retrieve a layout (v2)',
    scope: 'read',
    params,
    replies: { 200: layout },
    errors: [404],
    handle: async (service, { principal, params }) =>
      ok(shown(await found(service, principal.environment, params.layoutId))),
  }),
  route({
    ...shared,
    method: 'PUT',
    path: '/v2/layouts/{layoutId}',
    operationId: 'updateLayoutV2',
    summary: 'Update a layout (v2)',
    description: 'Omitted control values are unchanged; null restores the plain content.',
    scope: 'workflows:write',
    params,
    body: Type.Object(
      {
        name: layoutName,
        isTranslationEnabled,
        controlValues: Type.Optional(Type.Union([Type.Object({ email: Type.Optional(emailControls) }), Type.Null()])),
      },
      {
        title: 'UpdateLayoutV2',
        examples: [{ name: 'Acme', controlValues: { email: { body: '<main>{{{body}}}</main>', editorType: 'html' } } }],
      },
    ),
    replies: { 200: layout },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) => {
      const content = body.controlValues === null ? starterLayout : body.controlValues?.email?.body
      const change = { name: body.name, ...(content === undefined ? {} : { content }) }
      return asShown(
        changeLayout(db, world, principal.environment, { ...params, change, contentField, author, idempotency }),
      )
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v2/layouts/{layoutId}/duplicate',
    operationId: 'duplicateLayoutV2',
    summary: 'Duplicate a layout',
    description: 'The copy is not the default.',
    scope: 'workflows:write',
    params,
    body: Type.Object(
      { name: layoutName, layoutId: Type.Optional(layoutIdentifier), isTranslationEnabled },
      { title: 'DuplicateLayoutV2', examples: [{ name: 'Acme, winter' }] },
    ),
    replies: { 201: layout },
    errors: [404, 409],
    handle: async (service, { principal, author, params, body, idempotency }) => {
      const { content, description } = await found(service, principal.environment, params.layoutId)
      const named = { name: body.name, ...(body.layoutId === undefined ? {} : { identifier: body.layoutId }) }
      return asShown(
        createLayout(service.db, service.world, principal.environment, {
          layout: { ...named, content, description },
          contentField,
          author,
          idempotency,
        }),
      )
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v2/layouts/{layoutId}/preview',
    operationId: 'previewLayout',
    summary: 'Preview a layout',
    description: 'The layout, or the given control values in its place, around a sample body. Nothing is saved.',
    scope: 'read',
    cost: 20,
    params,
    body: Type.Object(
      {
        controlValues: Type.Optional(Type.Union([Type.Object({ email: Type.Optional(emailControls) }), Type.Null()])),
        previewPayload: Type.Optional(
          Type.Object({
            subscriber: Type.Optional(nullableFreeObject({ description: 'Completed with sample values.' })),
          }),
        ),
      },
      { title: 'PreviewLayout', examples: [{ previewPayload: { subscriber: { firstName: 'Ada' } } }] },
    ),
    replies: {
      201: Type.Object(
        {
          result: Type.Object({ type: literals(['email']), preview: Type.Object({ body: Type.String() }) }),
          previewPayloadExample: Type.Object({ subscriber: freeObject() }),
        },
        { title: 'LayoutPreview' },
      ),
    },
    errors: [404],
    handle: ({ db, world }, { principal, params, body }) =>
      previewLayout(db, world, principal.environment, {
        ...params,
        content: body.controlValues?.email?.body,
        subscriber: body.previewPayload?.subscriber,
        contentField,
      }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/layouts/{layoutId}/usage',
    operationId: 'retrieveLayoutUsage',
    summary: 'List the workflows that use a layout',
    scope: 'read',
    params,
    replies: {
      200: Type.Object(
        { workflows: Type.Array(Type.Object({ name: Type.String(), workflowId: Type.String() })) },
        { title: 'LayoutUsage' },
      ),
    },
    errors: [404],
    handle: async (service, { principal, params }) => {
      const { _id, identifier } = await found(service, principal.environment, params.layoutId)
      const asked = { member: 'layoutId', names: [_id, identifier], activeOnly: false, limit: usersMax } as const
      const users = await workflowsNaming(service.db, principal.environment, asked)
      return ok({ workflows: users.map((user) => ({ name: user.name, workflowId: user.identifier })) })
    },
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v2/layouts/{layoutId}',
    operationId: 'deleteLayoutV2',
    summary: 'Delete a layout (v2)',
    scope: 'workflows:write',
    params,
    replies: { 204: null },
    errors: [404, 409],
    handle: async ({ db, world }, { principal, author, params, idempotency }) =>
      removeLayout(db, world, principal.environment, { ...params, author, idempotency }),
  }),
]
