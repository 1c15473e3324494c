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
      description:
        'Whether everything that would be sent by e-mail, SMS, push or chat is captured in the outbox instead.',
    }),
  },
  { title: 'EnvironmentConfigurations' },
)
const environmentMembers = {
  _id: Type.String(),
  name: Type.String(),
  identifier: Type.String({
    description: 'The public identifier of the environment, for clients that must not hold a key.',
  }),
  _organizationId: Type.String(),
  _parentId: Type.Optional(Type.String({ description: 'The parent environment, as Development is of Production.' })),
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
          'The secret that signs requests to your services. The first one signs `X-Posthorn-Signature`; after `posthorn signing rotate` it is a Standard Webhooks key (`whsec_…`), which signs `webhook-signature`. Shown only to keys with the scope `full`.',
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
              timestamp({ description: 'After a rotation, requests also carry this signature until then.' }),
            ),
          },
          { title: 'SigningSecret' },
        ),
        { description: 'All of them, newest first. Shown only to keys with the scope `full`.' },
      ),
    ),
  },
  { title: 'OwnEnvironment' },
)
const apiKeyMembers = {
  _id: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: 'The last characters of the key, to identify it.' }),
  scopes: Type.Array(literals(scopes)),
  signing: Type.Boolean({
    description: 'Whether signatures made with it can be verified, such as the `subscriberHash` of inbox sessions.',
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
      'With `capture`, every message is captured in the outbox instead of sent, whichever integration is selected, starting with the next message. In-app messages, custom steps and webhook conditions are not affected.',
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
    description: 'Newest first, including revoked and expired keys. The keys themselves are not shown.',
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
    description: 'The key is shown only in this response.',
    scope: 'full',
    body: Type.Object(
      {
        name: Type.Optional(identifierText({ maxLength: 255, description: 'What the key is for.' })),
        scopes: Type.Optional(
          Type.Array(literals(scopes), {
            minItems: 1,
            uniqueItems: true,
            description:
              '`full` (the default) allows everything, `trigger` only triggering events, `read` only reading.',
          }),
        ),
        signing: Type.Optional(
          Type.Boolean({
            description:
              'Stores an encrypted copy of the key with its hash, so that signatures made with it can be verified, as inbox sessions need.',
          }),
        ),
        expiresAt: Type.Optional(timestamp({ description: 'When the key expires. Default: never.' })),
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
    description:
      'The key stops working on every node within a second. The last key with the scope `full` cannot be revoked.',
    scope: 'full',
    params: Type.Object({ keyId: uuid({ description: 'The `_id` of the key, not the key itself.' }) }),
    replies: { 204: null },
    errors: [404, 409],
    handle: ({ db, world }, { caller, author, params, idempotency }) =>
      removeApiKey(db, world, caller.environment, { id: params.keyId, author, idempotency }),
  }),
]
