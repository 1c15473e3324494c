// What would change if a document became a workflow of an environment: as texts to compare, and as a step to take.
import type { Db } from '../../db/sql.ts'
import type { Answer } from '../../domain/answer.ts'
import type { Principal } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { shownTo } from '../../domain/workflows/shown-secrets.ts'
import type { Workflow } from '../../domain/workflows/workflow.ts'
import type { StoredDefinition } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'
import { comparable } from './hidden-values.ts'
import type { WorkflowChange } from './workflow-definition.ts'
import { newDefinition } from './workflow-definition.ts'
import type { Document, DocumentNames } from './workflow-document.ts'
import { documentOf } from './workflow-document.ts'
import { filesOf } from './workflow-texts.ts'
import type { WorkflowApi } from './workflows.ts'
import { changeBy, createBy } from './workflows.ts'

export interface WorkflowPlan<Body> {
  readonly identifier: string
  readonly definition: StoredDefinition
  /** Without what may be secret; empty where there is none. */
  readonly before: string
  readonly after: string
  apply(): Promise<Answer<Body>>
}

/** `stored` is the workflow of this identifier, if there is one. */
export function workflowPlan<Body>(
  api: WorkflowApi<Body>,
  { db, world }: { readonly db: Db; readonly world: World },
  principal: Principal,
  {
    document,
    stored,
    names,
    author,
  }: { document: Document; stored: Workflow | undefined; names: DocumentNames; author: Author },
): WorkflowPlan<Body> {
  const given = withKnownSteps(document as unknown as WorkflowChange & { name: string }, stored)
  const newId = (): string => world.newId(world.now())
  const definition = newDefinition(given, newId, stored?.steps)
  const identifier = String(document['workflowId'])
  const active = given.active ?? stored?.active ?? false
  const trigger = { type: 'event', identifier, variables: [] } as const
  const after = documentOf({ ...(stored as Workflow), ...definition, active, triggers: [trigger] }, names)
  const before = stored && documentOf(shownTo(principal, stored), names)
  const shown = comparable(before === undefined ? [] : filesOf(before), filesOf(after))
  const call = { workflow: { ...given, active }, author, idempotency: undefined }
  const apply = (): Promise<Answer<Body>> =>
    stored === undefined
      ? createBy(api, db, world, principal, call, () => definition)
      : changeBy(api, db, world, principal, { ...call, id: stored._id }, () => definition)
  return { identifier, definition, before: shown.before, after: shown.after, apply }
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
