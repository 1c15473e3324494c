// What a subscriber wants to hear of, as the pages of their inbox show it.
import type { Sql } from '../../db/sql.ts'
import type { Reader } from '../../domain/messages/inbox.ts'
import type { InboxPreference } from '../../domain/preferences/preference-views.ts'
import { inboxGlobalPreferenceOf, inboxPreferenceOf } from '../../domain/preferences/preference-views.ts'
import type { Severity } from '../../domain/workflows/workflow.ts'
import { findSubscribersById } from '../../store/people/subscribers.ts'
import type { Criticality } from '../../store/workflows/preference-workflows.ts'
import { listPreferenceWorkflows } from '../../store/workflows/preference-workflows.ts'

export interface InboxPreferencesQuery {
  readonly criticality: Criticality
  readonly tags?: readonly string[] | undefined
  readonly severities?: readonly Severity[] | undefined
}

/** All of them nearly everywhere; pages know no next page. */
const workflowsMax = 1_000
const everyWorkflow = { criticality: 'all', offset: 0, limit: workflowsMax } as const

/** The global one first, then those of the workflows, oldest first. */
export async function inboxPreferences(
  db: Sql,
  reader: Reader,
  query: InboxPreferencesQuery,
): Promise<InboxPreference[]> {
  const page = { ...query, oldestFirst: true, offset: 0, limit: workflowsMax }
  const [[subscriber], workflows, all] = await Promise.all([
    findSubscribersById(db, reader.environment, [reader.id]),
    listPreferenceWorkflows(db, reader.environment, page),
    listPreferenceWorkflows(db, reader.environment, everyWorkflow),
  ])
  const preferences = subscriber?.preferences ?? null
  return [
    inboxGlobalPreferenceOf(preferences, all),
    ...workflows.map((workflow) => inboxPreferenceOf(preferences, workflow)),
  ]
}

export async function inboxGlobalPreference(db: Sql, reader: Reader): Promise<InboxPreference> {
  const [[subscriber], all] = await Promise.all([
    findSubscribersById(db, reader.environment, [reader.id]),
    listPreferenceWorkflows(db, reader.environment, everyWorkflow),
  ])
  return inboxGlobalPreferenceOf(subscriber?.preferences ?? null, all)
}
