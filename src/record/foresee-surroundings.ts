// What events name besides people, as far as can be seen before anything is locked.
import type { Sql } from '../db/sql.ts'
import type { ContextMention, EventRequest } from '../domain/delivery/event.ts'
import { contextKeyOf } from '../domain/delivery/event.ts'
import type { Environment } from '../domain/environment.ts'
import { findContexts } from '../store/people/contexts.ts'
import { findNamedOverrides } from '../store/workflows/workflow-overrides.ts'
import type { Surroundings } from './notify.ts'

/** Tenants are read where events are judged: without one its event does not run. */
export interface ForeseenSurroundings extends Omit<Surroundings, 'tenants'> {
  /** Contexts that are not there yet. */
  readonly made: readonly ContextMention[]
}

const nothing: ForeseenSurroundings = { contexts: [], overrides: [], made: [] }

export async function foreseeSurroundings(
  db: Sql,
  environment: Environment,
  requests: readonly EventRequest[],
): Promise<ForeseenSurroundings> {
  const mentions = firstMentions(requests)
  const withTenant = new Map<string, { workflow: string; tenant: string }>()
  for (const { name: workflow, tenant } of requests)
    if (tenant !== undefined)
      withTenant.set(`${workflow}/${tenant.identifier}`, { workflow, tenant: tenant.identifier })
  if (mentions.size + withTenant.size === 0) return nothing
  const [found, overrides] = await Promise.all([
    findContexts(db, environment, [...mentions.keys()]),
    findNamedOverrides(db, environment, [...withTenant.values()]),
  ])
  const known = new Set(found.map(({ key }) => key))
  const missing = [...mentions].filter(([key]) => !known.has(key))
  const asMade = missing.map(([key, { type, id, data = null }]) => ({ key, type, id, data }))
  return { contexts: [...found, ...asMade], overrides, made: missing.map(([, mention]) => mention) }
}

/** By key. Of several mentions the first makes the context, and the others find it. */
export function firstMentions(requests: readonly EventRequest[]): Map<string, ContextMention> {
  const mentions = new Map<string, ContextMention>()
  for (const { context } of requests) {
    for (const mention of context) {
      const key = contextKeyOf(mention)
      if (!mentions.has(key)) mentions.set(key, mention)
    }
  }
  return mentions
}
