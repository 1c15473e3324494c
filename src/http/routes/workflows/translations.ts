// Translations: /v1/translations.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { putTranslation, removeTranslation, retrieveTranslation } from '../../../manage/workflows/translations.ts'
import { listLocales } from '../../../store/workflows/translations.ts'
import { route } from '../../route.ts'
import { freeObject, timestamp } from '../../schemas.ts'

const texts = freeObject({
  description:
    'Texts by key, nested or with dots in their keys. A text may contain `{name}` or Liquid, which are filled from the arguments of the filter and the variables of the template.',
})
const translation = Type.Object(
  { locale: Type.String(), texts: freeObject(), createdAt: timestamp(), updatedAt: timestamp() },
  { title: 'Translation' },
)
const localeEntry = Type.Object(
  { locale: Type.String(), createdAt: timestamp(), updatedAt: timestamp() },
  { title: 'TranslationLocale' },
)
export const locale = Type.String({
  minLength: 2,
  maxLength: 40,
  description: 'Such as `en`, `en-US` or `zh-Hant`.',
  examples: ['en'],
})
const params = Type.Object({ locale })
const shared = { tag: 'Translations', category: 'configuration' } as const

export const translationRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/translations',
    operationId: 'listTranslations',
    summary: 'List the locales that have texts',
    description: 'In alphabetical order. There are at most 200.',
    scope: 'read',
    replies: { 200: Type.Array(localeEntry) },
    handle: async ({ db }, { principal }) => {
      const locales = await listLocales(db, principal.environment)
      const written = (at: Date): string => at.toISOString()
      return ok(
        locales.map((one) => ({
          locale: one.locale,
          createdAt: written(one.created_at),
          updatedAt: written(one.updated_at),
        })),
      )
    },
  }),
  route({
    ...shared,
    method: 'PUT',
    path: '/v1/translations/{locale}',
    operationId: 'putTranslation',
    summary: 'Replace the texts of a locale',
    description:
      'Templates use them with the filter `t`, as in `{{ "order.shipped" | t: name: payload.name }}`. The text is looked up in the locale of the subscriber, then in its language, then in `en` or the first locale that was created; otherwise the key itself is used. Inserted values are escaped in HTML. All texts and keys together may have 10,000,000 characters.',
    scope: 'workflows:write',
    params,
    body: Type.Object(
      { texts },
      { title: 'PutTranslation', examples: [{ texts: { order: { shipped: 'Your order is on its way, {name}.' } } }] },
    ),
    replies: { 200: translation },
    errors: [409],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      putTranslation(db, world, principal.environment, {
        locale: params.locale,
        texts: body.texts,
        author,
        idempotency,
      }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/translations/{locale}',
    operationId: 'retrieveTranslation',
    summary: 'Retrieve the texts of a locale',
    scope: 'read',
    params,
    replies: { 200: translation },
    errors: [404],
    handle: async ({ db }, { principal, params }) =>
      ok(await retrieveTranslation(db, principal.environment, params.locale)),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/translations/{locale}',
    operationId: 'deleteTranslation',
    summary: 'Delete the texts of a locale',
    scope: 'workflows:write',
    params,
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeTranslation(db, world, principal.environment, { locale: params.locale, author, idempotency }),
  }),
]
