// A subscriber's choices from the pages of their inbox: for some workflows, all of the changes or none.
import type { Db } from '../../db/sql.ts'
import type { Reader } from '../../domain/messages/inbox.ts'
import type { WorkflowChange } from '../../domain/preferences/preference.ts'
import type { InboxPreference } from '../../domain/preferences/preference-views.ts'
import { inboxPreferenceOf } from '../../domain/preferences/preference-views.ts'
import { badRequest, notFound } from '../../domain/problem.ts'
import { findPreferenceWorkflows } from '../../store/workflows/preference-workflows.ts'
import type { World } from '../../world/world.ts'
import { changeWorkflowPreferences } from './preferences.ts'

export interface InboxChange {
  /** By internal id or identifier. */
  readonly workflowId: string
  readonly change: WorkflowChange
}

/** In the order of the changes; of several for one workflow the last counts, and one is answered. */
export async function changeInboxPreferences(
  db: Db,
  world: World,
  { environment, subscriberId }: Reader,
  changes: readonly InboxChange[],
): Promise<InboxPreference[]> {
  const asked = changes.map(({ workflowId }) => workflowId)
  const found = await findPreferenceWorkflows(db, environment, asked)
  const last = new Map<string, InboxChange>()
  for (const { workflowId, change } of changes) {
    const workflow = found.get(workflowId)
    if (workflow === undefined) throw notFound(`Workflow with id: ${workflowId} is not found`)
    if (workflow.critical) throw badRequest(`Critical workflow with id: ${workflowId} can not be updated`)
    last.set(workflow.id, { workflowId: workflow.id, change })
  }
  const answer = await changeWorkflowPreferences(
    db,
    world,
    environment,
    {
      subscriberId,
      idempotency: undefined,
      changes: [...last.values()].map((one) => ({ ...one, field: 'workflowId' })),
    },
    (preferences, workflows) => workflows.map((workflow) => inboxPreferenceOf(preferences, workflow)),
  )
  return answer.body
}
