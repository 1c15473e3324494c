// Workflow versions by id, kept up to a bound: they never change.
import type { Sql } from '../../db/sql.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Environment } from '../../domain/environment.ts'
import type { WorkflowVersion } from '../../domain/workflows/workflow.ts'
import { findVersions } from '../../store/workflows/workflows.ts'

export interface Versions {
  of(db: Sql, environment: Environment, ids: readonly string[]): Promise<ReadonlyMap<string, WorkflowVersion>>
}

/** Some hundred megabytes at the very worst; usually a few. */
const versionsMax = 2_000

export function createVersions(max = versionsMax): Versions {
  const cached = new BoundedMap<string, WorkflowVersion>(max)
  return {
    of: async (db, environment, ids) => {
      // A batch's own: whatever is evicted in the meantime, it has everything it requested.
      const found = new Map<string, WorkflowVersion>()
      for (const id of ids) {
        const version = cached.get(id)
        if (version !== undefined) found.set(id, version)
      }
      const missing = [...new Set(ids)].filter((id) => !found.has(id))
      const loaded = missing.length === 0 ? [] : await findVersions(db, environment, missing)
      for (const version of loaded) {
        found.set(version.id, version)
        cached.set(version.id, version)
      }
      return found
    },
  }
}
