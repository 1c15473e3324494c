// The active integrations of an environment, opened once a version: their secrets are not unsealed for every batch.
import type { Sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { Integration } from '../domain/integration.ts'
import type { Sealer } from '../domain/sealed.ts'
import { integrationsStamp, listIntegrations } from '../store/integrations.ts'

export interface Integrations {
  active(db: Sql, environment: Environment): Promise<readonly Integration[]>
}

const environmentsMax = 1_000

export function createIntegrations(sealer: Sealer): Integrations {
  const kept = new Map<string, { stamp: string; integrations: readonly Integration[] }>()
  return {
    active: async (db, environment) => {
      const stamp = await integrationsStamp(db, environment)
      const known = kept.get(environment.id)
      if (known?.stamp === stamp) return known.integrations
      if (kept.size >= environmentsMax) kept.clear()
      const integrations = await listIntegrations(db, sealer, environment, { activeOnly: true })
      kept.set(environment.id, { stamp, integrations })
      return integrations
    },
  }
}
