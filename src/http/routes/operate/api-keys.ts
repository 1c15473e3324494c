// The API keys of an environment: /v1/environments/api-keys.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { scopes } from '../../../domain/environment.ts'
import { changeApiKey, createApiKey, removeApiKey, rotateApiKey } from '../../../manage/operate/api-keys.ts'
import { apiKeysPage } from '../../../read/operate/api-keys.ts'
import { route } from '../../route.ts'
import { identifierText, literals, offsetPage, offsetParameters, pageLimitMax, timestamp, uuid } from '../../schemas.ts'

/** More than a company has ways out to the internet. */
const addressesMax = 100
const ratePerSecondMax = 1_000_000
/** Ninety days: whoever has not changed the key by then will not. */
const overlapSecondsMax = 90 * 24 * 60 * 60

const addressList = Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: addressesMax })
const addressMeaning =
  'Addresses and networks (`10.1.0.0/16`) that requests with the key may come from. Behind a proxy, set `POSTHORN_TRUSTED_PROXIES`.'
const rateMeaning =
  'Tokens a second of this key alone, beside those of the environment; five seconds’ worth at once, and at least 100.'

const apiKeyMembers = {
  _id: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: 'The last characters of the key, to recognise it by.' }),
  scopes: Type.Array(literals(scopes)),
  signing: Type.Boolean({
    description: 'Whether what is signed with it can be checked, such as the `subscriberHash` of inbox sessions.',
  }),
  allowedAddresses: Type.Optional(Type.Array(Type.String(), { description: addressMeaning })),
  ratePerSecond: Type.Optional(Type.Integer({ description: rateMeaning })),
  replaces: Type.Optional(Type.String({ description: 'The `_id` of the key that this one replaces.' })),
  createdAt: timestamp(),
  lastUsedAt: Type.Optional(
    timestamp({ description: 'Accurate to five minutes; left out where the key was never used.' }),
  ),
  expiresAt: Type.Optional(timestamp()),
  revokedAt: Type.Optional(timestamp()),
}
const apiKey = Type.Object(apiKeyMembers, { title: 'ApiKey' })
const newApiKey = Type.Object(
  { ...apiKeyMembers, key: Type.String({ description: 'The key itself. This is the only time it is shown.' }) },
  { title: 'NewApiKey' },
)
const params = Type.Object({ keyId: uuid({ description: 'The `_id` of the key, not the key itself.' }) })
const scopeMeaning = [
  '`full` (the default) may do everything, `trigger` may only trigger events, `read` may only read.',
  '`subscribers:write`, `inbox:write`, `workflows:write` and `integrations:write` may write what their names say and read nothing else; `outbox:read` may read captured messages.',
  'A key may have several. Only `full` sees secrets and manages keys.',
].join(' ')
const shared = { tag: 'Environments', category: 'global', scope: 'full' } as const

export const apiKeyRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/environments/api-keys',
    operationId: 'listApiKeys',
    summary: 'List API keys',
    description: 'Newest first, including revoked and expired ones. The keys themselves are not shown.',
    query: Type.Object(offsetParameters(pageLimitMax)),
    replies: { 200: offsetPage('ApiKeyPage', apiKey) },
    handle: async ({ db }, { principal, query }) =>
      ok(await apiKeysPage(db, principal.environment, { page: query.page ?? 0, limit: query.limit ?? 10 })),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/environments/api-keys',
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description: 'The answer is the only time the key is shown.',
    body: Type.Object(
      {
        name: Type.Optional(identifierText({ maxLength: 255, description: 'What the key is for.' })),
        scopes: Type.Optional(
          Type.Array(literals(scopes), { minItems: 1, uniqueItems: true, description: scopeMeaning }),
        ),
        signing: Type.Optional(
          Type.Boolean({
            description:
              'Keeps a sealed copy of the key beside its hash, so that what you sign with it can be checked: inbox sessions.',
          }),
        ),
        allowedAddresses: Type.Optional({ ...addressList, description: addressMeaning }),
        ratePerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: ratePerSecondMax, description: rateMeaning })),
        expiresAt: Type.Optional(timestamp({ description: 'When the key stops working; never when left out.' })),
      },
      {
        title: 'CreateApiKey',
        examples: [{ name: 'Order service', scopes: ['trigger'], expiresAt: '2030-01-31T00:00:00.000Z' }],
      },
    ),
    replies: { 201: newApiKey },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createApiKey(db, world, principal.environment, { key: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: '/v1/environments/api-keys/{keyId}',
    operationId: 'updateApiKey',
    summary: 'Update the limits of an API key',
    description:
      'Members that are absent stay as they are; null removes a limit. It applies on every node within a second. A key cannot close itself to the address that the call comes from.',
    params,
    body: Type.Object(
      {
        name: Type.Optional(identifierText({ maxLength: 255 })),
        allowedAddresses: Type.Optional(Type.Union([addressList, Type.Null()], { description: addressMeaning })),
        ratePerSecond: Type.Optional(
          Type.Unsafe<number | null>({
            type: ['integer', 'null'],
            minimum: 1,
            maximum: ratePerSecondMax,
            description: rateMeaning,
          }),
        ),
      },
      { title: 'UpdateApiKey', examples: [{ ratePerSecond: 50 }] },
    ),
    replies: { 200: apiKey },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeApiKey(db, world, principal.environment, { id: params.keyId, change: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/environments/api-keys/{keyId}/rotate',
    operationId: 'rotateApiKey',
    summary: 'Rotate an API key',
    description:
      'Creates a key with the same name, scopes and limits, and lets the old one expire after the overlap. The answer is the only time the new key is shown. A key that was made for a time is replaced by one for as long a time, unless `expiresAt` says otherwise. Keys of `POSTHORN_API_KEY` are rotated by the variable.',
    params,
    body: Type.Object(
      {
        overlapSeconds: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: overlapSecondsMax,
            default: 86_400,
            description: 'How long the old key goes on working; 0 revokes it at once.',
          }),
        ),
        expiresAt: Type.Optional(timestamp({ description: 'When the new key stops working.' })),
      },
      { title: 'RotateApiKey', examples: [{ overlapSeconds: 3600 }] },
    ),
    replies: { 201: newApiKey },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) => {
      const { overlapSeconds, expiresAt } = body
      const call = { id: params.keyId, overlapSeconds, expiresAt, author, idempotency }
      return rotateApiKey(db, world, principal.environment, call)
    },
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/environments/api-keys/{keyId}',
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'It stops working everywhere within a second. The last key that may do everything cannot be revoked.',
    params,
    replies: { 204: null },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeApiKey(db, world, principal.environment, { id: params.keyId, author, idempotency }),
  }),
]
