// Workflow versions by id, kept up to a bound: they never change.
import type { Sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { WorkflowVersion } from '../domain/workflow.ts'
import { findVersions } from '../store/workflows.ts'

export interface Versions {
  of(environment: Environment, ids: readonly string[]): Promise<Map<string, WorkflowVersion>>
}

/** Some hundred megabytes at the very worst; usually a few. */
const versionsMax = 2_000

export function createVersions(db: Sql): Versions {
  const kept = new Map<string, WorkflowVersion>()
  return {
    of: async (environment, ids) => {
      const missing = [...new Set(ids)].filter((id) => !kept.has(id))
      if (missing.length > 0) {
        if (kept.size + missing.length > versionsMax) kept.clear()
        for (const version of await findVersions(db, environment, missing)) kept.set(version.id, version)
      }
      return new Map(ids.flatMap((id) => (kept.has(id) ? [[id, kept.get(id) as WorkflowVersion]] : [])))
    },
  }
}
