// Translations as workflows and layouts have them of their own: /v2/translations.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { resourceTypes } from '../../../domain/workflows/translation.ts'
import {
  importMaster,
  putOwnTexts,
  removeOwnTexts,
  retrieveMaster,
  retrieveOwnTexts,
  retrieveOwnTextsGroup,
} from '../../../manage/workflows/own-texts.ts'
import { route } from '../../route.ts'
import { freeObject, literals, timestamp } from '../../schemas.ts'
import { locale } from './translations.ts'

const resourceType = literals(resourceTypes)
const resourceId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'The identifier or the id of the workflow or layout.',
})
const content = freeObject({
  description: 'Texts by key, nested or with dots in their keys.',
  examples: [{ title: 'Your order is on its way, {name}.' }],
})
const ownTexts = Type.Object(
  {
    resourceId: Type.String(),
    resourceType,
    locale: Type.String(),
    content: freeObject(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'OwnTranslation' },
)
const group = Type.Object(
  {
    resourceId: Type.String(),
    resourceType,
    resourceName: Type.String(),
    locales: Type.Array(Type.String()),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'OwnTranslationGroup' },
)
const shared = { tag: 'Translations', category: 'configuration' } as const
const named = Type.Object({ resourceType, resourceId })
const namedInLocale = Type.Object({ resourceType, resourceId, locale })

export const translationV2Routes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v2/translations',
    operationId: 'putOwnTranslation',
    summary: 'Replace the texts of a workflow or layout',
    description:
      'Texts of its own in one locale. In its templates the filter `t` finds them by their keys, before the texts that all workflows share: `{{ "title" | t }}`. They are a part of the texts of the locale, under `workflows` or `layouts` and the identifier.',
    scope: 'workflows:write',
    body: Type.Object(
      { resourceId, resourceType, locale, content },
      {
        title: 'PutOwnTranslation',
        examples: [
          { resourceId: 'order-shipped', resourceType: 'workflow', locale: 'en', content: { title: 'On its way' } },
        ],
      },
    ),
    replies: { 200: ownTexts },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      putOwnTexts(db, world, principal.environment, { ...body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/translations/master-json',
    operationId: 'retrieveMasterTranslation',
    summary: 'Retrieve the own texts of all workflows and layouts',
    description: 'In one locale: `en` or the first that was created, unless another is given.',
    scope: 'read',
    query: Type.Object({ locale: Type.Optional(locale) }),
    replies: {
      200: Type.Object({ workflows: freeObject(), layouts: freeObject() }, { title: 'MasterTranslation' }),
    },
    handle: async ({ db }, { principal, query }) => ok(await retrieveMaster(db, principal.environment, query.locale)),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v2/translations/master-json',
    operationId: 'importMasterTranslation',
    summary: 'Replace the own texts of several workflows and layouts',
    description: 'Those that are not named keep theirs. Unknown ones are reported in `failed`.',
    scope: 'workflows:write',
    body: Type.Object(
      {
        locale,
        masterJson: freeObject({ description: 'The texts by identifier, under `workflows` and `layouts`.' }),
      },
      {
        title: 'ImportMasterTranslation',
        examples: [{ locale: 'en', masterJson: { workflows: { 'order-shipped': { title: 'On its way' } } } }],
      },
    ),
    replies: {
      200: Type.Object(
        {
          success: Type.Boolean(),
          message: Type.String(),
          successful: Type.Array(Type.String()),
          failed: Type.Array(Type.String()),
        },
        { title: 'MasterTranslationResult' },
      ),
    },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      importMaster(db, world, principal.environment, { ...body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/translations/group/{resourceType}/{resourceId}',
    operationId: 'retrieveOwnTranslationGroup',
    summary: 'List the locales in which a workflow or layout has texts',
    scope: 'read',
    params: named,
    replies: { 200: group },
    errors: [404],
    handle: async ({ db }, { principal, params }) => ok(await retrieveOwnTextsGroup(db, principal.environment, params)),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/translations/{resourceType}/{resourceId}/{locale}',
    operationId: 'retrieveOwnTranslation',
    summary: 'Retrieve the texts of a workflow or layout',
    scope: 'read',
    params: namedInLocale,
    replies: { 200: ownTexts },
    errors: [404],
    handle: async ({ db }, { principal, params }) => ok(await retrieveOwnTexts(db, principal.environment, params)),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v2/translations/{resourceType}/{resourceId}/{locale}',
    operationId: 'deleteOwnTranslation',
    summary: 'Delete the texts of a workflow or layout in a locale',
    scope: 'workflows:write',
    params: namedInLocale,
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeOwnTexts(db, world, principal.environment, { ...params, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v2/translations/{resourceType}/{resourceId}',
    operationId: 'deleteOwnTranslationGroup',
    summary: 'Delete the texts of a workflow or layout in all locales',
    scope: 'workflows:write',
    params: named,
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeOwnTexts(db, world, principal.environment, { ...params, author, idempotency }),
  }),
]
