// Environments and their API keys: /v1/environments.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { scopes } from '../../../domain/environment.ts'
import { createApiKey, removeApiKey } from '../../../manage/operate/api-keys.ts'
import { changeEnvironment } from '../../../manage/operate/environments.ts'
import { apiKeysPage } from '../../../read/operate/api-keys.ts'
import { environmentsOfOrganization, ownEnvironment } from '../../../read/operate/environments.ts'
import { route } from '../../route.ts'
import { identifierText, literals, offsetPage, offsetParameters, pageLimitMax, timestamp, uuid } from '../../schemas.ts'

const configurations = Type.Object(
  {
    capture: Type.Boolean({
      description: 'Whether everything that would go out by e-mail, SMS, push or chat is kept in the outbox instead.',
    }),
  },
  { title: 'EnvironmentConfigurations' },
)
const environmentMembers = {
  _id: Type.String(),
  name: Type.String(),
  identifier: Type.String({ description: 'The public name of the environment, for clients that must not hold a key.' }),
  _organizationId: Type.String(),
  _parentId: Type.Optional(
    Type.String({ description: 'The environment this one follows, as Production does Development.' }),
  ),
  configurations,
  createdAt: timestamp(),
}
const environment = Type.Object(environmentMembers, { title: 'Environment' })
const ownEnvironmentReply = Type.Object(
  {
    ...environmentMembers,
    signingSecret: Type.Optional(
      Type.String({
        description:
          'What calls to your own addresses are signed with. The first one signs `X-Posthorn-Signature`; after `posthorn signing rotate` it is a key of Standard Webhooks (`whsec_…`), which signs `webhook-signature`. Only for keys with the scope `full`.',
      }),
    ),
    signingSecrets: Type.Optional(
      Type.Array(
        Type.Object(
          {
            version: Type.Integer(),
            secret: Type.String(),
            createdAt: timestamp(),
            signsUntil: Type.Optional(
              timestamp({ description: 'After a rotation, calls carry this signature too until then.' }),
            ),
          },
          { title: 'SigningSecret' },
        ),
        { description: 'All of them, the newest first. Only for keys with the scope `full`.' },
      ),
    ),
  },
  { title: 'OwnEnvironment' },
)
const apiKeyMembers = {
  _id: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: 'The last characters of the key, to recognise it by.' }),
  scopes: Type.Array(literals(scopes)),
  signing: Type.Boolean({
    description: 'Whether what is signed with it can be checked, such as the `subscriberHash` of inbox sessions.',
  }),
  createdAt: timestamp(),
  expiresAt: Type.Optional(timestamp()),
  revokedAt: Type.Optional(timestamp()),
}
const apiKey = Type.Object(apiKeyMembers, { title: 'ApiKey' })
const newApiKey = Type.Object(
  { ...apiKeyMembers, key: Type.String({ description: 'The key itself. This is the only time it is shown.' }) },
  { title: 'NewApiKey' },
)
const shared = { tag: 'Environments', category: 'global' } as const

export const environmentRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/environments',
    operationId: 'listEnvironments',
    summary: 'List the environments of the organization',
    scope: 'read',
    replies: { 200: Type.Array(environment) },
    handle: async ({ db }, { caller }) => ok(await environmentsOfOrganization(db, caller.environment)),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/environments/me',
    operationId: 'retrieveOwnEnvironment',
    summary: 'Retrieve the environment of the key',
    scope: 'read',
    replies: { 200: ownEnvironmentReply },
    handle: async ({ db, world }, { caller }) => ok(await ownEnvironment(db, world.sealer, caller)),
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: '/v1/environments/me',
    operationId: 'changeOwnEnvironment',
    summary: 'Change the settings of the environment',
    description:
      'With `capture`, whatever would go out is kept in the outbox instead, whichever integration is chosen: the next message that is about to go is the first. In-app messages, custom steps and calls of conditions go on as they are.',
    scope: 'full',
    body: Type.Object(
      { configurations: Type.Partial(configurations, { title: 'ChangeEnvironmentConfigurations' }) },
      { title: 'ChangeEnvironment', examples: [{ configurations: { capture: true } }] },
    ),
    replies: {
      200: Type.Object({ _id: Type.String(), name: Type.String(), configurations }, { title: 'EnvironmentSettings' }),
    },
    handle: ({ db, world }, { caller, author, body, idempotency }) =>
      changeEnvironment(db, world, caller.environment, {
        capture: body.configurations.capture,
        author,
        idempotency,
      }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/environments/api-keys',
    operationId: 'listApiKeys',
    summary: 'List API keys',
    description: 'Newest first, revoked and expired ones included. The keys themselves are not among it.',
    scope: 'full',
    query: Type.Object(offsetParameters(pageLimitMax)),
    replies: { 200: offsetPage('ApiKeyPage', apiKey) },
    handle: async ({ db }, { caller, query }) =>
      ok(await apiKeysPage(db, caller.environment, { page: query.page ?? 0, limit: query.limit ?? 10 })),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/environments/api-keys',
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description: 'The answer is the only time the key is shown.',
    scope: 'full',
    body: Type.Object(
      {
        name: Type.Optional(identifierText({ maxLength: 255, description: 'What the key is for.' })),
        scopes: Type.Optional(
          Type.Array(literals(scopes), {
            minItems: 1,
            uniqueItems: true,
            description: '`full` (when left out) may do everything, `trigger` only trigger events, `read` only read.',
          }),
        ),
        signing: Type.Optional(
          Type.Boolean({
            description:
              'Keeps a sealed copy of the key beside its hash, so that what you sign with it can be checked: inbox sessions.',
          }),
        ),
        expiresAt: Type.Optional(timestamp({ description: 'When the key stops working; never when left out.' })),
      },
      {
        title: 'CreateApiKey',
        examples: [{ name: 'Order service', scopes: ['trigger'], expiresAt: '2030-01-31T00:00:00.000Z' }],
      },
    ),
    replies: { 201: newApiKey },
    errors: [409],
    handle: ({ db, world }, { caller, author, body, idempotency }) =>
      createApiKey(db, world, caller.environment, { key: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/environments/api-keys/{keyId}',
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'It stops working everywhere within a second. The last key that may do everything cannot be revoked.',
    scope: 'full',
    params: Type.Object({ keyId: uuid({ description: 'The `_id` of the key, not the key itself.' }) }),
    replies: { 204: null },
    errors: [404, 409],
    handle: ({ db, world }, { caller, author, params, idempotency }) =>
      removeApiKey(db, world, caller.environment, { id: params.keyId, author, idempotency }),
  }),
]
