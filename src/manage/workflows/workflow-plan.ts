// Which workflows have to change for an environment to have those that are given.
import { isDeepStrictEqual } from 'node:util'
import { invalidField } from '../../domain/problem.ts'
import { Turn } from '../../domain/turn.ts'
import { holdsStruckOut, shownTo } from '../../domain/workflows/shown-secrets.ts'
import type { NotificationStep, Workflow } from '../../domain/workflows/workflow.ts'
import type { DocumentNames } from '../../domain/workflows/workflow-document.ts'
import { documentOf } from '../../domain/workflows/workflow-document.ts'
import { integrationStatusOf } from '../../domain/workflows/workflow-integrations.ts'
import { examineAhead } from '../../render/examine.ts'
import { judgeSchemaAhead } from '../../render/payload/schema-verdicts.ts'
import { listIntegrationStatuses } from '../../store/integrations/integrations.ts'
import type { StoredDefinition } from '../../store/workflows/workflows.ts'
import type { PlanContext, PlannedChange } from './configuration-change.ts'
import { changeOf, within } from './configuration-change.ts'
import type { WorkflowChange } from './workflow-definition.ts'
import { newDefinition } from './workflow-definition.ts'
import { refuseNames } from './workflow-names.ts'
import type { WorkflowApi } from './workflows.ts'
import { changeBy, createBy, refuseStruckOut, removeWorkflow } from './workflows.ts'

type GivenWorkflow = WorkflowChange & { readonly name: string; readonly workflowId: string }

export interface GivenWorkflows {
  readonly feeds?: readonly { readonly identifier: string }[]
  readonly layouts?: readonly { readonly identifier: string }[]
  readonly workflows?: readonly (WorkflowChange & { readonly name: string })[]
  readonly deleteWorkflows?: boolean
}

const filesApi: WorkflowApi<null> = { origin: 'external', answerOf: async () => null }

export async function plannedWorkflows(
  context: PlanContext,
  given: GivenWorkflows,
): Promise<{ changes: PlannedChange[]; notes: string[] }> {
  const { db, principal, stored } = context
  const names = namesIn(stored)
  const byIdentifier = new Map(stored.workflows.map((workflow) => [identifierOf(workflow), workflow]))
  const changes: PlannedChange[] = []
  const definitions = new Map<string, readonly NotificationStep[]>()
  // Each takes milliseconds, and there may be a thousand.
  const turn = new Turn()
  for (const workflow of (given.workflows ?? []).map(named)) {
    if (turn.isOver()) await turn.next()
    const known = byIdentifier.get(workflow.workflowId)
    const found = await within(`workflows.${workflow.workflowId}`, async () => {
      const definition = await definitionOf(context, given, workflow, known)
      definitions.set(workflow.workflowId, definition.steps)
      return changeOfWorkflow(context, workflow, { known, definition, names })
    })
    if (found !== undefined) changes.push(found)
  }
  const kept = new Set(given.workflows?.map(({ workflowId }) => workflowId))
  const gone = given.deleteWorkflows === true ? stored.workflows.filter((one) => !kept.has(identifierOf(one))) : []
  for (const workflow of gone) {
    if (turn.isOver()) await turn.next()
    changes.push(...deletionOf(context, workflow, names))
  }
  const statuses = definitions.size === 0 ? [] : await listIntegrationStatuses(db, principal.environment)
  const notes = [...definitions].flatMap(([identifier, steps]) => {
    const { channels } = integrationStatusOf(steps, statuses)
    const without = Object.entries(channels).filter(([, status]) => !status.hasActiveIntegrations)
    return without.map(
      ([channel]) =>
        `The workflow ${identifier} uses ${channel}, for which ${principal.environment.name} has no active integration: nothing is sent until there is one.`,
    )
  })
  return { changes, notes }
}

function named(workflow: WorkflowChange & { readonly name: string }): GivenWorkflow {
  const { workflowId } = workflow
  if (workflowId === undefined) throw invalidField('workflows', 'workflows must each have a workflowId')
  return { ...workflow, workflowId }
}

const identifierOf = (workflow: Workflow): string => workflow.triggers[0]?.identifier ?? ''

function namesIn({ layouts, feeds }: PlanContext['stored']): DocumentNames {
  const named = (all: readonly { _id: string; identifier: string }[]) =>
    new Map(all.map((one) => [one._id, one.identifier]))
  return { layouts: named(layouts), feeds: named(feeds) }
}

/** Complete and without errors; what it names is there, or comes with it. */
async function definitionOf(
  { world, stored }: PlanContext,
  given: GivenWorkflows,
  workflow: GivenWorkflow,
  known: Workflow | undefined,
): Promise<StoredDefinition> {
  await examineAhead(world.threads, workflow.steps)
  // One that is there already is not judged again.
  if (!isDeepStrictEqual(workflow.payloadSchema, known?.payloadSchema)) {
    await judgeSchemaAhead(world.threads, workflow.payloadSchema)
  }
  const now = world.now()
  const definition = newDefinition(withKnownSteps(workflow, known), () => world.newId(now), known)
  // Whoever applies it: it was exported for someone who may not see the secret, and would replace the one that is there.
  if (known !== undefined && !known.steps.some(holdsStruckOut)) refuseStruckOut(definition.steps)
  const absent =
    (all: readonly { _id: string; identifier: string }[], coming: readonly { identifier: string }[] = []) =>
    async (names: readonly string[]): Promise<string[]> => {
      const there = new Set([
        ...all.flatMap((one) => [one._id, one.identifier]),
        ...coming.map((one) => one.identifier),
      ])
      return names.filter((name) => !there.has(name))
    }
  await refuseNames(definition, {
    layouts: absent(stored.layouts, given.layouts),
    feeds: absent(stored.feeds, given.feeds),
  })
  return definition
}

function changeOfWorkflow(
  { db, world, principal, author }: PlanContext,
  workflow: GivenWorkflow,
  { known, definition, names }: { known: Workflow | undefined; definition: StoredDefinition; names: DocumentNames },
): PlannedChange | undefined {
  const { workflowId: identifier } = workflow
  const active = workflow.active ?? known?.active ?? false
  const trigger = { type: 'event', identifier, variables: [] } as const
  const after = { ...(known as Workflow), ...definition, active, triggers: [trigger] }
  const call = { workflow: { ...workflow, active }, author, idempotency: undefined }
  const change = changeOf(
    'workflow',
    identifier,
    { before: known && documentOf(known, names), after: documentOf(after, names) },
    async () => {
      if (known === undefined) await createBy(filesApi, db, world, principal, call, () => definition)
      else await changeBy(filesApi, db, world, principal, { ...call, id: known._id }, () => definition)
    },
  )
  // Compared with its secrets, shown without them to whoever may not see them.
  return change && { ...change, before: known === undefined ? null : documentOf(shownTo(principal, known), names) }
}

function deletionOf(context: PlanContext, workflow: Workflow, names: DocumentNames): PlannedChange[] {
  const { db, world, principal, author } = context
  const before = documentOf(shownTo(principal, workflow), names)
  const change = changeOf('workflow', identifierOf(workflow), { before, after: undefined }, async () => {
    await removeWorkflow(db, world, principal, { id: workflow._id, author, idempotency: undefined })
  })
  return change === undefined ? [] : [change]
}

/** A step of a file that says no uuid is the stored one of the same name, or at the same place and of the same type. */
function withKnownSteps(given: GivenWorkflow, stored: Workflow | undefined): GivenWorkflow {
  const known = stored?.steps ?? []
  const taken = new Set((given.steps ?? []).flatMap((step) => step.uuid ?? []))
  const steps = (given.steps ?? []).map((step, place) => {
    if (step.uuid !== undefined || step._id !== undefined) return step
    const isSame = (index: number): boolean => known[index]?.template.type === step.template.type
    const found =
      known.find((one, index) => one.name !== undefined && one.name === step.name && isSame(index)) ??
      (isSame(place) ? known[place] : undefined)
    if (found === undefined || taken.has(found.uuid)) return step
    taken.add(found.uuid)
    return { ...step, uuid: found.uuid }
  })
  return { ...given, steps }
}
