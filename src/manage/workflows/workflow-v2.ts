// Workflows by the second api: create, replace, change, delete. The model, its rules and its versions are the first one's.
import { once } from '../../commit/once.ts'
import type { Db, Sql } from '../../db/sql.ts'
import type { Answer } from '../../domain/answer.ts'
import { noContent } from '../../domain/answer.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import type { GivenPreferences } from '../../domain/preferences/workflow-preferences.ts'
import { settingsOfPreferences } from '../../domain/preferences/workflow-preferences.ts'
import { shownTo } from '../../domain/workflows/shown-secrets.ts'
import { idOfSlug } from '../../domain/workflows/slug.ts'
import type { Severity } from '../../domain/workflows/workflow.ts'
import type { WorkflowV2 } from '../../domain/workflows/workflow-v2.ts'
import { workflowV2Of } from '../../domain/workflows/workflow-v2.ts'
import { listIntegrationStatuses } from '../../store/integrations/integrations.ts'
import type { StoredDefinition } from '../../store/workflows/workflows.ts'
import { findTriggeredAt, findWorkflow } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'
import type { WorkflowChange } from './workflow-definition.ts'
import { changedDefinition, newDefinition } from './workflow-definition.ts'
import type { GivenStepV2 } from './workflow-v2-steps.ts'
import { asControlErrors, stepsOfV2 } from './workflow-v2-steps.ts'
import type { Call, Setting, WorkflowApi } from './workflows.ts'
import { changeBy, createBy, deleteNamed } from './workflows.ts'

/** What a caller may say of a workflow; null clears. */
export interface WorkflowV2Change {
  readonly name?: string
  readonly workflowId?: string
  readonly description?: string | null
  readonly tags?: readonly string[]
  readonly active?: boolean
  readonly severity?: Severity
  readonly payloadSchema?: Readonly<Record<string, unknown>> | null
  readonly validatePayload?: boolean
  readonly isTranslationEnabled?: boolean
  readonly preferences?: GivenPreferences
  readonly steps?: readonly GivenStepV2[]
}

type WholeWorkflowV2 = WorkflowV2Change & { readonly name: string; readonly steps: readonly GivenStepV2[] }

export async function createWorkflowV2(
  db: Db,
  world: World,
  principal: Principal,
  call: Call & { workflow: WholeWorkflowV2 & { workflowId: string } },
): Promise<Answer<WorkflowV2>> {
  const { steps, payloadSchema } = call.workflow
  const workflow = settingOf(call.workflow)
  return createBy(secondApi, db, world, principal, { ...call, steps, payloadSchema, workflow }, (newId) =>
    definitionOf(call.workflow, newId),
  )
}

/**
 * Everything that API v2 can express is replaced; the identifier and whether it is active are unchanged unless given.
 */
export async function replaceWorkflowV2(
  db: Db,
  world: World,
  principal: Principal,
  call: Call & { id: string; workflow: WholeWorkflowV2 },
): Promise<Answer<WorkflowV2>> {
  const id = await idOf(db, principal.environment, call.id)
  const workflow = settingOf(call.workflow)
  const { steps, payloadSchema } = call.workflow
  const change = { ...call, id, steps, payloadSchema, workflow }
  return changeBy(secondApi, db, world, principal, change, ({ definition }, newId, former) =>
    definitionOf(call.workflow, newId, { ...definition, steps: [...definition.steps, ...former] }),
  )
}

export async function changeWorkflowV2(
  db: Db,
  world: World,
  principal: Principal,
  call: Call & { id: string; workflow: Omit<WorkflowV2Change, 'workflowId' | 'steps' | 'preferences'> },
): Promise<Answer<WorkflowV2>> {
  const id = await idOf(db, principal.environment, call.id)
  const { active, name, payloadSchema } = call.workflow
  const workflow = active === undefined ? {} : { active }
  return changeBy(secondApi, db, world, principal, { ...call, id, payloadSchema, workflow }, (stored, newId) =>
    changedDefinition(stored.definition, { ...saidOf(call.workflow), ...(name === undefined ? {} : { name }) }, newId),
  )
}

export async function removeWorkflowV2(
  db: Db,
  world: World,
  principal: Principal,
  call: Call & { id: string },
): Promise<Answer<null>> {
  const { environment } = principal
  const id = await idOf(db, environment, call.id)
  return once(db, world, environment, call.idempotency, async (tx) => {
    await deleteNamed(tx, world, principal, { ...call, id, givenAs: call.id })
    return noContent
  })
}

/** By id, identifier or slug; what is found by none of them is shown as it was given. */
async function idOf(db: Sql, environment: Environment, name: string): Promise<string> {
  const slugged = idOfSlug('wf', name)
  if (slugged === undefined) return name
  // An identifier may look like a slug, and wins.
  return (await findWorkflow(db, environment, name))?.id ?? slugged
}

const secondApi: WorkflowApi<WorkflowV2> = {
  origin: 'v2',
  pathOf: (path) => path.replace(/^(steps\.\d+)\.template\.layoutId$/, '$1.controlValues.layoutId'),
  answerOf: async (tx, principal, id) => {
    const { environment } = principal
    const row = await findWorkflow(tx, environment, id)
    if (row === undefined) throw new Error('A workflow was lost while it was locked')
    const [triggered, integrationStatuses] = [
      await findTriggeredAt(tx, environment, [row.id]),
      await listIntegrationStatuses(tx, environment),
    ]
    const shown = { ...row, definition: shownTo(principal, row.definition) }
    return workflowV2Of({ ...shown, triggered_at: triggered.get(row.id) ?? null }, integrationStatuses)
  },
}

/**
 * The fields that the schema has checked: other fields of a body are ignored, and must not be mistaken for those of API
 * v1.
 */
const saidMembers = ['description', 'tags', 'payloadSchema', 'validatePayload', 'isTranslationEnabled'] as const

function saidOf(given: WorkflowV2Change): Pick<WorkflowChange, (typeof saidMembers)[number]> {
  return Object.fromEntries(saidMembers.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])))
}

function settingOf({ workflowId, active }: WorkflowV2Change): Setting {
  return { ...(workflowId === undefined ? {} : { workflowId }), ...(active === undefined ? {} : { active }) }
}

function definitionOf(given: WholeWorkflowV2, newId: () => string, stored?: StoredDefinition): StoredDefinition {
  const existing = stored?.steps ?? []
  const { steps, mistakes } = stepsOfV2(given.steps, existing)
  const { name, severity, preferences } = given
  const change: WorkflowChange & { name: string } = {
    ...saidOf(given),
    name,
    ...(severity === undefined ? {} : { severity }),
    steps,
    ...(preferences === undefined ? {} : { preferences, ...settingsOfPreferences(preferences) }),
    // The first api's own.
    ...(stored?.data === undefined ? {} : { data: stored.data }),
  }
  return newDefinition(change, newId, stored, { translate: asControlErrors(steps), found: mistakes })
}
