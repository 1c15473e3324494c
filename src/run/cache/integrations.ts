// The active integrations of an environment, opened once a version: their secrets are not unsealed for every batch.
import type { Sql } from '../../db/sql.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { listIntegrations } from '../../store/integrations/integrations.ts'
import type { ConfigurationStamps } from '../../store/operate/configuration-stamps.ts'

export interface Integrations {
  active(db: Sql, environment: Environment, stamps: ConfigurationStamps): Promise<readonly Integration[]>
}

const environmentsMax = 1_000

interface CacheEntry {
  readonly stamp: string
  readonly captures: boolean
  readonly integrations: readonly Integration[]
}

export function createIntegrations(sealer: Sealer): Integrations {
  const cached = new BoundedMap<string, CacheEntry>(environmentsMax)
  return {
    active: async (db, environment, { integrations: stamp, captures }) => {
      const known = cached.get(environment.id)
      if (known?.stamp === stamp && known.captures === captures) return known.integrations
      const opened = await listIntegrations(db, sealer, environment, { activeOnly: true })
      const integrations = captures ? opened.map(capturing) : opened
      cached.set(environment.id, { stamp, captures, integrations })
      return integrations
    },
  }
}

/** In an environment that captures, every integration does. */
const capturing = (integration: Integration): Integration => ({
  ...integration,
  configurations: { ...integration.configurations, capture: true },
})
