// Integrations as a caller may see them: secrets are for full keys only.

import type { Sql } from '../../db/sql.ts'
import { hiddenSecret } from '../../domain/delivery/hidden-secrets.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Principal } from '../../domain/environment.ts'
import { mayUse } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { hiddenCredentials, openCredentials } from '../../providers/form.ts'
import { providerOf } from '../../providers/registry.ts'
import { findIntegration, listIntegrations } from '../../store/integrations/integrations.ts'

export async function integrationsFor(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  filter: { activeOnly: boolean },
): Promise<Integration[]> {
  const integrations = await listIntegrations(db, sealer, principal.environment, filter)
  return integrations.map((integration) => asSeenBy(principal, integration))
}

export async function integrationFor(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  id: string,
): Promise<Integration | undefined> {
  const integration = await findIntegration(db, sealer, principal.environment, id)
  return integration && asSeenBy(principal, integration)
}

/** As full keys see it where the operator reveals no secrets. */
export function withHiddenSecrets(integration: Integration): Integration {
  const { configurations } = integration
  const hasKey = (configurations?.inboundWebhookSigningKey ?? '') !== ''
  return {
    ...integration,
    credentials: hiddenCredentials(providerOf(integration.providerId)?.form ?? {}, integration.credentials),
    ...(hasKey ? { configurations: { ...configurations, inboundWebhookSigningKey: hiddenSecret } } : {}),
  }
}

/** Whether there is anything to hide. */
export function holdsSecrets(integration: Integration): boolean {
  const hidden = withHiddenSecrets(integration)
  return JSON.stringify(hidden) !== JSON.stringify(integration)
}

export function asSeenBy(principal: Principal, integration: Integration): Integration {
  if (mayUse(principal, 'full')) return integration
  const { configurations, ...rest } = integration
  const { inboundWebhookSigningKey: _secret, ...open } = configurations ?? {}
  return {
    ...rest,
    credentials: openCredentials(providerOf(integration.providerId)?.form ?? {}, integration.credentials),
    ...(configurations === undefined ? {} : { configurations: open }),
  }
}
