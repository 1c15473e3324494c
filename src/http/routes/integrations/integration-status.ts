// Whether the inbox, or the receipts of a provider, are set up: the older questions of clients.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { providerOf } from '../../../providers/registry.ts'
import { integrationsFor } from '../../../read/operate/integrations.ts'
import { route } from '../../route.ts'
import { identifierText } from '../../schemas.ts'

const shared = { tag: 'Integrations', category: 'global', method: 'GET', scope: 'read' } as const

export const integrationStatusRoutes = [
  route({
    ...shared,
    path: '/v1/integrations/in-app/status',
    operationId: 'retrieveInAppStatus',
    summary: 'Retrieve whether an in-app integration is active',
    replies: { 200: Type.Object({ active: Type.Boolean() }, { title: 'InAppStatus' }) },
    handle: async ({ db, world }, { principal }) => {
      const active = await integrationsFor(db, world.sealer, principal, { activeOnly: true })
      return ok({ active: active.some(({ channel }) => channel === 'in_app') })
    },
  }),
  route({
    ...shared,
    path: '/v1/integrations/webhook/provider/{providerId}/status',
    operationId: 'retrieveWebhookStatus',
    summary: 'Retrieve whether receipts of a provider can be received',
    description: 'True if an integration of the provider is active, and the provider reports what became of messages.',
    params: Type.Object({
      providerId: identifierText({ maxLength: 255, description: 'A provider listed by `GET /v1/providers`.' }),
    }),
    replies: { 200: Type.Boolean() },
    handle: async ({ db, world }, { principal, params }) => {
      const active = await integrationsFor(db, world.sealer, principal, { activeOnly: true })
      const isActive = active.some(({ providerId }) => providerId === params.providerId)
      return ok(isActive && providerOf(params.providerId)?.receipts !== undefined)
    },
  }),
]
