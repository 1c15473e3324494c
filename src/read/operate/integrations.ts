// Integrations as a caller may see them: secrets are for full keys only.

import type { Sql } from '../../db/sql.ts'
import { hiddenSecret } from '../../domain/delivery/hidden-secrets.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Caller } from '../../domain/environment.ts'
import { mayUse } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { hiddenCredentials, openCredentials } from '../../providers/form.ts'
import { providerOf } from '../../providers/registry.ts'
import { findIntegration, listIntegrations } from '../../store/integrations/integrations.ts'

export async function integrationsFor(
  db: Sql,
  sealer: Sealer,
  caller: Caller,
  filter: { activeOnly: boolean },
): Promise<Integration[]> {
  const integrations = await listIntegrations(db, sealer, caller.environment, filter)
  return integrations.map((integration) => asSeenBy(caller, integration))
}

export async function integrationFor(
  db: Sql,
  sealer: Sealer,
  caller: Caller,
  id: string,
): Promise<Integration | undefined> {
  const integration = await findIntegration(db, sealer, caller.environment, id)
  return integration && asSeenBy(caller, integration)
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

export function asSeenBy(caller: Caller, integration: Integration): Integration {
  if (mayUse(caller, 'full')) return integration
  const { configurations, ...rest } = integration
  const { inboundWebhookSigningKey: _secret, ...open } = configurations ?? {}
  return {
    ...rest,
    credentials: openCredentials(providerOf(integration.providerId)?.form ?? {}, integration.credentials),
    ...(configurations === undefined ? {} : { configurations: open }),
  }
}
