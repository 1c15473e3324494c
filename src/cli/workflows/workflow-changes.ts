// From documents of workflows to what would change in an environment.
import type { Environment, Principal } from '../../domain/environment.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { Problem } from '../../domain/problem.ts'
import type { Workflow } from '../../domain/workflows/workflow.ts'
import type { Store } from '../../main/store.ts'
import { comparable } from '../../manage/workflows/hidden-values.ts'
import type { Document, DocumentNames } from '../../manage/workflows/workflow-document.ts'
import { documentOf } from '../../manage/workflows/workflow-document.ts'
import { workflowPlan } from '../../manage/workflows/workflow-plan.ts'
import { filesOf } from '../../manage/workflows/workflow-texts.ts'
import type { WorkflowApi } from '../../manage/workflows/workflows.ts'
import { removeWorkflow } from '../../manage/workflows/workflows.ts'
import { allFeeds, allLayouts, allWorkflows } from '../../read/workflows/documents.ts'
import { commandAuthor } from '../author.ts'
import { UsageError } from '../command.ts'
import type { PlannedChange } from './change-plan.ts'
import { plannedChange } from './change-plan.ts'

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
  store: Store,
  environment: Environment,
  { document, from }: Wanted,
  stored: Workflow | undefined,
  names: DocumentNames,
): PlannedChange | undefined {
  const call = { document, stored, names, author: commandAuthor() }
  const plan = orExplained(from, () => workflowPlan(filesApi, store, principalOf(environment), call))
  return plannedChange(`workflow ${plan.identifier}`, plan.before, plan.after, async () => {
    await plan.apply()
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
