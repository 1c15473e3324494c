// What events name besides people, as far as can be seen before anything is locked.
import type { Sql } from '../db/sql.ts'
import type { ContextMention, EventRequest } from '../domain/delivery/event.ts'
import { contextKeyOf } from '../domain/delivery/event.ts'
import type { Environment } from '../domain/environment.ts'
import { inStoredOrder } from '../domain/stored-order.ts'
import type { ContextRow } from '../store/people/contexts.ts'
import { findSmallContexts } from '../store/people/contexts.ts'
import { findNamedOverrides } from '../store/workflows/workflow-overrides.ts'
import type { Surroundings } from './notify.ts'

/** Tenants are read where events are judged: without one its event does not run. */
export interface ForeseenSurroundings extends Omit<Surroundings, 'tenants'> {
  /** Contexts that are not there yet. */
  readonly made: readonly ContextMention[]
}

const nothing: ForeseenSurroundings = { contexts: [], overrides: [], made: [] }

/** A context with more data has to be read when its event is decided. */
const contextLettersMax = 2_000

/** `withFacts`: also what deciding needs of them. Otherwise only which contexts are there. */
export async function foreseeSurroundings(
  db: Sql,
  environment: Environment,
  requests: readonly EventRequest[],
  withFacts: boolean,
): Promise<ForeseenSurroundings> {
  const mentions = firstMentions(requests)
  const pairs = withFacts ? tenantPairs(requests) : []
  if (mentions.size + pairs.length === 0) return nothing
  const [found, overrides] = await Promise.all([
    findSmallContexts(db, environment, [...mentions.keys()], { lettersMax: withFacts ? contextLettersMax : 0 }),
    findNamedOverrides(db, environment, pairs),
  ])
  const known = new Set(found.map(({ key }) => key))
  const missing = [...mentions].filter(([key]) => !known.has(key))
  const contexts = [...found.filter(({ isWhole }) => isWhole), ...missing.map(asMade)]
  return { contexts, overrides, made: missing.map(([, mention]) => mention) }
}

const asMade = ([key, { type, id, data }]: readonly [string, ContextMention]): ContextRow => ({
  key,
  type,
  id,
  data: data === undefined ? null : inStoredOrder(data),
})

function tenantPairs(requests: readonly EventRequest[]): { workflow: string; tenant: string }[] {
  const pairs = new Map<string, { workflow: string; tenant: string }>()
  for (const { name: workflow, tenant: { identifier: tenant } = {} } of requests)
    if (tenant !== undefined) pairs.set(JSON.stringify([workflow, tenant]), { workflow, tenant })
  return [...pairs.values()]
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
