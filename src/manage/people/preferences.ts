// What a subscriber wants to hear of: changed for all workflows, for one, or for many at once.
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { GlobalChange, SubscriberPreferences, WorkflowChange } from '../../domain/preferences/preference.ts'
import { changedForWorkflow, changedGlobally, workflowChoicesMax } from '../../domain/preferences/preference.ts'
import type { PreferenceWorkflow } from '../../domain/preferences/preference-views.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { invalid, invalidField } from '../../domain/problem.ts'
import { durationMsMax } from '../../domain/time/duration.ts'
import { wakeHeld } from '../../store/jobs/wake-held.ts'
import { lockPreferences, savePreferences } from '../../store/people/subscribers.ts'
import { findPreferenceWorkflows } from '../../store/workflows/preference-workflows.ts'
import type { World } from '../../world/world.ts'
import { unknownWorkflow } from '../workflows/workflow-rules.ts'
import { reportPreferences } from './preference-news.ts'
import { unknownSubscriber } from './subscribers.ts'

interface Call {
  readonly subscriberId: string
  readonly idempotency: Idempotency | undefined
}

/** The preferences after a change for all workflows; `seen` is what the caller gets back. */
export async function changeGlobalPreferences<Body>(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { change: GlobalChange },
  seen: (tx: Tx, preferences: SubscriberPreferences) => Promise<Body> | Body,
): Promise<Answer<Body>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const until = call.change.doNotDisturbUntil
    if (until != null) checkQuietUntil(until, world.now())
    const change = (before: SubscriberPreferences): SubscriberPreferences => changedGlobally(before, call.change)
    const { id, preferences } = await changed(tx, world, environment, call.subscriberId, change)
    await reportPreferences(tx, world, environment, { id, preferences, workflows: [null] })
    return ok(await seen(tx, preferences))
  })
}

export interface WorkflowChangeCall {
  /** By internal id or identifier. */
  readonly workflowId: string
  readonly change: WorkflowChange
  /** Where the caller named the workflow, for errors about it. */
  readonly field: string
}

/** All of them or none. `seen` is what the caller gets back, with the workflows in the order of the changes. */
export async function changeWorkflowPreferences<Body>(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { changes: readonly WorkflowChangeCall[] },
  seen: (preferences: SubscriberPreferences, workflows: readonly PreferenceWorkflow[]) => Body,
): Promise<Answer<Body>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    const { changes, subscriberId } = call
    const found = await findPreferenceWorkflows(
      tx,
      environment,
      changes.map((one) => one.workflowId),
    )
    const named = changes.map(({ workflowId }) => found.get(workflowId))
    const workflows = named.filter((workflow) => workflow !== undefined)
    refuseMistakes(changes, named)
    const { id, preferences } = await changed(tx, world, environment, subscriberId, (before) =>
      changes.reduce(
        (all, { change }, index) => changedForWorkflow(all, workflows[index]?.id ?? '', change, now),
        before,
      ),
    )
    await reportPreferences(tx, world, environment, { id, preferences, workflows: [...new Set(workflows)] })
    return ok(seen(preferences, workflows))
  })
}

function refuseMistakes(
  changes: readonly WorkflowChangeCall[],
  workflows: readonly (PreferenceWorkflow | undefined)[],
): void {
  const [first] = changes
  if (first?.field === 'workflowId' && workflows[0] === undefined) throw unknownWorkflow(first.workflowId)
  const errors: FieldErrors = {}
  for (const [index, { workflowId, field }] of changes.entries()) {
    const workflow = workflows[index]
    if (workflow === undefined) {
      errors[field] = { messages: [`${field}: the workflow ${workflowId} does not exist`], value: workflowId }
    } else if (workflow.critical) {
      const message = `${field}: the workflow ${workflow.identifier} is critical; subscribers cannot change its preferences`
      errors[field] = { messages: [message], value: workflowId }
    }
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

async function changed(
  tx: Tx,
  world: World,
  environment: Environment,
  subscriberId: string,
  change: (before: SubscriberPreferences) => SubscriberPreferences,
): Promise<{ id: string; preferences: SubscriberPreferences }> {
  const row = await lockPreferences(tx, environment, subscriberId)
  if (row === undefined) throw unknownSubscriber(subscriberId)
  const preferences = change(row.preferences ?? {})
  if (Object.keys(preferences.workflows ?? {}).length > workflowChoicesMax) {
    const message = `workflowId: a subscriber can have preferences for at most ${workflowChoicesMax} workflows; clear one that is no longer needed`
    throw invalidField('workflowId', message)
  }
  const now = world.now()
  await savePreferences(tx, environment, { id: row.id, preferences, now })
  await wakeHeld(tx, environment, { subscriberId: row.id, now })
  return { id: row.id, preferences }
}

/** What waits longer outlives the retention of its event. */
function checkQuietUntil(until: string, now: Date): void {
  const aheadMs = Date.parse(until) - now.getTime()
  const field = 'doNotDisturbUntil'
  if (!(aheadMs > 0)) throw invalidField(field, `${field} must be in the future; null ends it at once`, until)
  if (aheadMs > durationMsMax) throw invalidField(field, `${field} must be at most a year ahead`, until)
}
