// From documents of workflows to what would change in an environment.
import type { Environment, Principal } from '../../domain/environment.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { Problem } from '../../domain/problem.ts'
import type { Workflow } from '../../domain/workflows/workflow.ts'
import type { Store } from '../../main/store.ts'
import type { WorkflowChange } from '../../manage/workflows/workflow-definition.ts'
import { newDefinition } from '../../manage/workflows/workflow-definition.ts'
import type { Document, DocumentNames } from '../../manage/workflows/workflow-document.ts'
import { documentOf } from '../../manage/workflows/workflow-document.ts'
import type { WorkflowApi } from '../../manage/workflows/workflows.ts'
import { changeBy, createBy, removeWorkflow } from '../../manage/workflows/workflows.ts'
import { allFeeds, allLayouts, allWorkflows } from '../../read/workflows/documents.ts'
import { commandAuthor } from '../author.ts'
import { UsageError } from '../command.ts'
import type { PlannedChange } from './change-plan.ts'
import { plannedChange } from './change-plan.ts'
import { comparable } from './hidden-values.ts'
import { filesOf } from './workflow-files.ts'

/** The author of what comes from files or from another environment. */
function principalOf(environment: Environment): Principal {
  const { keyId, keyName } = commandAuthor()
  return { environment, keyId, keyName, scopes: ['full'] }
}

const filesApi: WorkflowApi<null> = { origin: 'external', answerOf: async () => null }

export async function namesIn({ db }: Store, environment: Environment): Promise<DocumentNames> {
  const [layouts, feeds] = [await allLayouts(db, environment), await allFeeds(db, environment)]
  const named = (all: readonly { _id: string; identifier: string }[]) =>
    new Map(all.map((one) => [one._id, one.identifier]))
  return { layouts: named(layouts), feeds: named(feeds) }
}

export interface Wanted {
  readonly document: Document
  /** Where it comes from, for error messages. */
  readonly from: string
}

/** What has to change for the environment to hold these; with `deletes`, those that are not among them go. */
export async function workflowChanges(
  store: Store,
  environment: Environment,
  wanted: readonly Wanted[],
  { deletes }: { deletes: boolean },
): Promise<PlannedChange[]> {
  const names = await namesIn(store, environment)
  const stored = new Map(
    (await allWorkflows(store.db, environment)).map((workflow) => [identifierOf(workflow), workflow]),
  )
  const changes = wanted.flatMap(
    (one) => changeOf(store, environment, one, stored.get(String(one.document['workflowId'])), names) ?? [],
  )
  const kept = new Set(wanted.map((one) => one.document['workflowId']))
  const gone = deletes ? [...stored.values()].filter((workflow) => !kept.has(identifierOf(workflow))) : []
  return [...changes, ...gone.flatMap((workflow) => deletionOf(store, environment, workflow, names) ?? [])]
}

const identifierOf = (workflow: Workflow): string => workflow.triggers[0]?.identifier ?? ''

function changeOf(
  { db, world }: Store,
  environment: Environment,
  { document, from }: Wanted,
  stored: Workflow | undefined,
  names: DocumentNames,
): PlannedChange | undefined {
  const given = withKnownSteps(document as unknown as WorkflowChange & { name: string }, stored)
  const newId = (): string => world.newId(world.now())
  const definition = orExplained(from, () => newDefinition(given, newId, stored?.steps))
  const identifier = String(document['workflowId'])
  const active = given.active ?? stored?.active ?? false
  const trigger = { type: 'event', identifier, variables: [] } as const
  const after = documentOf({ ...(stored as Workflow), ...definition, active, triggers: [trigger] }, names)
  const shown = comparable(stored === undefined ? [] : filesOf(documentOf(stored, names)), filesOf(after))
  const call = { workflow: { ...given, active }, author: commandAuthor(), idempotency: undefined }
  return plannedChange(`workflow ${identifier}`, shown.before, shown.after, async () => {
    if (stored === undefined) await createBy(filesApi, db, world, principalOf(environment), call, () => definition)
    else await changeBy(filesApi, db, world, principalOf(environment), { ...call, id: stored._id }, () => definition)
  })
}

function deletionOf(
  { db, world }: Store,
  environment: Environment,
  workflow: Workflow,
  names: DocumentNames,
): PlannedChange | undefined {
  const shown = comparable(filesOf(documentOf(workflow, names)), [])
  return plannedChange(`workflow ${identifierOf(workflow)}`, shown.before, shown.after, async () => {
    const call = { id: workflow._id, author: commandAuthor(), idempotency: undefined }
    await removeWorkflow(db, world, principalOf(environment), call)
  })
}

/** A step of a file that says no uuid is the stored one of the same name, or at the same place and of the same type. */
function withKnownSteps(
  given: WorkflowChange & { name: string },
  stored: Workflow | undefined,
): WorkflowChange & { name: string } {
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

/** Errors in a workflow are reported with its file. */
function orExplained<Result>(from: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const errors = (error.members['errors'] ?? {}) as FieldErrors
    const fields = Object.values(errors).flatMap(({ messages }) => messages)
    throw new UsageError(`${from}: ${fields.length === 0 ? error.message : fields.join('\n  ')}`)
  }
}
