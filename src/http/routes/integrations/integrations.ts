// Integrations: /v1/integrations.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { changeIntegration, makePrimary, removeIntegration } from '../../../manage/integrations/change-integration.ts'
import { createIntegration } from '../../../manage/integrations/create-integration.ts'
import { unknownIntegration } from '../../../manage/integrations/integration-rules.ts'
import { integrationFor, integrationsFor } from '../../../read/operate/integrations.ts'
import { route } from '../../route.ts'
import { identifierText, uuid } from '../../schemas.ts'
import {
  channel,
  conditions,
  configurations,
  credentials,
  environmentId,
  integration,
  integrationIdentifier,
  integrationName,
} from './integration-schemas.ts'

const params = Type.Object({ integrationId: uuid({ description: 'The `_id` of the integration.' }) })
const changeable = {
  name: Type.Optional(integrationName),
  identifier: Type.Optional(integrationIdentifier),
  _environmentId: Type.Optional(environmentId),
  credentials: Type.Optional(credentials),
  active: Type.Optional(
    Type.Boolean({ description: 'While active, the provider’s required credentials must be complete.' }),
  ),
  check: Type.Optional(
    Type.Boolean({ description: 'Whether to verify the credentials with the provider, without sending.' }),
  ),
  conditions: Type.Optional(conditions),
  configurations: Type.Optional(configurations),
}
const shared = { tag: 'Integrations', category: 'global' } as const

export const integrationRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v1/integrations',
    operationId: 'createIntegration',
    summary: 'Create an integration',
    description:
      'The first active e-mail or SMS integration of a real provider becomes the primary integration of its channel.',
    scope: 'integrations:write',
    body: Type.Object(
      {
        providerId: identifierText({ maxLength: 255, description: 'A provider listed by `GET /v1/providers`.' }),
        channel,
        ...changeable,
      },
      {
        title: 'CreateIntegration',
        examples: [
          {
            providerId: 'sendgrid',
            channel: 'email',
            name: 'SendGrid',
            active: true,
            check: true,
            credentials: { apiKey: 'SG.xxxx', from: 'hello@example.com', senderName: 'Example' },
          },
        ],
      },
    ),
    replies: { 201: integration },
    errors: [409],
    handle: async ({ db, world, secretReaders }, { principal, author, body, idempotency }) =>
      secretReaders.made(
        principal,
        await createIntegration(db, world, principal, { integration: body, author, idempotency }),
      ),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/integrations',
    operationId: 'listIntegrations',
    summary: 'List all integrations',
    description: 'Oldest first. An environment holds at most 500.',
    scope: 'read',
    replies: { 200: Type.Array(integration) },
    handle: async ({ db, world, secretReaders }, { principal, author }) => {
      const found = await integrationsFor(db, world.sealer, principal, { activeOnly: false })
      return ok(await secretReaders.read(principal, author, found))
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/integrations/active',
    operationId: 'listActiveIntegrations',
    summary: 'List active integrations',
    scope: 'read',
    replies: { 200: Type.Array(integration) },
    handle: async ({ db, world, secretReaders }, { principal, author }) => {
      const found = await integrationsFor(db, world.sealer, principal, { activeOnly: true })
      return ok(await secretReaders.read(principal, author, found))
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/integrations/{integrationId}',
    operationId: 'retrieveIntegration',
    summary: 'Retrieve an integration',
    scope: 'read',
    params,
    replies: { 200: integration },
    errors: [404],
    handle: async ({ db, world, secretReaders }, { principal, author, params }) => {
      const found = await integrationFor(db, world.sealer, principal, params.integrationId)
      if (found === undefined) throw unknownIntegration(params.integrationId)
      const [shown = found] = await secretReaders.read(principal, author, [found])
      return ok(shown)
    },
  }),
  route({
    ...shared,
    method: 'PUT',
    path: '/v1/integrations/{integrationId}',
    operationId: 'updateIntegration',
    summary: 'Update an integration',
    description: 'Omitted fields are unchanged; credentials, conditions and configurations are replaced as a whole.',
    scope: 'integrations:write',
    params,
    body: Type.Object(changeable, {
      title: 'UpdateIntegration',
      examples: [{ active: true, credentials: { apiKey: 'SG.xxxx', from: 'hello@example.com' } }],
    }),
    replies: { 200: integration },
    errors: [404, 409],
    handle: async ({ db, world, secretReaders }, { principal, author, params, body, idempotency }) => {
      const call = { id: params.integrationId, change: body, author, idempotency }
      return secretReaders.answer(principal, author, await changeIntegration(db, world, principal, call))
    },
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/integrations/{integrationId}',
    operationId: 'deleteIntegration',
    summary: 'Delete an integration',
    description: 'Cannot be undone. Returns the remaining integrations.',
    scope: 'integrations:write',
    params,
    replies: { 200: Type.Array(integration) },
    errors: [404],
    handle: async ({ db, world, secretReaders }, { principal, author, params, idempotency }) => {
      const call = { id: params.integrationId, author, idempotency }
      return secretReaders.answer(principal, author, await removeIntegration(db, world, principal, call))
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/integrations/{integrationId}/set-primary',
    operationId: 'setPrimaryIntegration',
    summary: 'Make an integration the primary one of its channel',
    description: 'E-mail and SMS only. Activates the integration and clears its conditions.',
    scope: 'integrations:write',
    params,
    replies: { 200: integration },
    errors: [404],
    handle: async ({ db, world, secretReaders }, { principal, author, params, idempotency }) => {
      const call = { id: params.integrationId, author, idempotency }
      return secretReaders.answer(principal, author, await makePrimary(db, world, principal, call))
    },
  }),
]
