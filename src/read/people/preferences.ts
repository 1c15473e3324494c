// A subscriber's preferences, and what is in effect for each workflow because of them.
import type { Sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { SubscriberPreferences } from '../../domain/preferences/preference.ts'
import type { PreferencesView, PreferenceWorkflow } from '../../domain/preferences/preference-views.ts'
import { globalPreferenceOf, workflowPreferenceOf } from '../../domain/preferences/preference-views.ts'
import { findSubscriberRows } from '../../store/people/subscribers.ts'
import type { Criticality } from '../../store/workflows/preference-workflows.ts'
import { findPreferenceWorkflows, listPreferenceWorkflows } from '../../store/workflows/preference-workflows.ts'

export interface PreferencesQuery {
  readonly criticality: Criticality
  readonly page: number
  readonly limit: number
}

/** Undefined if there is no such subscriber. */
export async function preferencesOf(
  db: Sql,
  environment: Environment,
  subscriberId: string,
  query: PreferencesQuery,
): Promise<PreferencesView | undefined> {
  const found = await preferencesAndWorkflows(db, environment, subscriberId, query)
  if (found === undefined) return undefined
  const { preferences, workflows } = found
  return {
    global: globalPreferenceOf(preferences),
    workflows: workflows.slice(0, query.limit).map((workflow) => workflowPreferenceOf(preferences, workflow)),
    hasMore: workflows.length > query.limit,
  }
}

/** Up to one workflow more than a page, which shows whether there are more. */
export async function preferencesAndWorkflows(
  db: Sql,
  environment: Environment,
  subscriberId: string,
  { criticality, page, limit }: PreferencesQuery,
): Promise<{ preferences: SubscriberPreferences | null; workflows: readonly PreferenceWorkflow[] } | undefined> {
  const [[row], workflows] = await Promise.all([
    findSubscriberRows(db, environment, [subscriberId]),
    listPreferenceWorkflows(db, environment, { criticality, offset: page * limit, limit: limit + 1 }),
  ])
  return row && { preferences: row.preferences, workflows }
}

/** Undefined if there is no such subscriber; without a workflow if there is no such workflow. */
export async function preferencesForWorkflow(
  db: Sql,
  environment: Environment,
  subscriberId: string,
  idOrIdentifier: string,
): Promise<{ preferences: SubscriberPreferences | null; workflow: PreferenceWorkflow | undefined } | undefined> {
  const [[row], workflows] = await Promise.all([
    findSubscriberRows(db, environment, [subscriberId]),
    findPreferenceWorkflows(db, environment, [idOrIdentifier]),
  ])
  return row && { preferences: row.preferences, workflow: workflows.get(idOrIdentifier) }
}
