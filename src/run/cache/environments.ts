// Environments by id, kept: they never change.
import type { Sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { findEnvironments } from '../../store/operate/installation.ts'

export interface Environments {
  of(ids: readonly string[]): Promise<Map<string, Environment>>
}

export function createEnvironments(db: Sql): Environments {
  const cached = new Map<string, Environment>()
  return {
    of: async (ids) => {
      const missing = ids.filter((id) => !cached.has(id))
      if (missing.length > 0) for (const found of await findEnvironments(db, missing)) cached.set(found.id, found)
      return new Map(ids.flatMap((id) => (cached.has(id) ? [[id, cached.get(id) as Environment]] : [])))
    },
  }
}
