// Workflows: create, replace, change, switch on and off, delete.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, ok } from '../../domain/answer.ts'
import { canonicalJson } from '../../domain/canonical-json.ts'
import { slugOf } from '../../domain/delivery/integration.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import { mayUse } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfWorkflow } from '../../domain/operate/audit-records.ts'
import { conflict, invalidField } from '../../domain/problem.ts'
import { holdsStruckOut, shownTo } from '../../domain/workflows/shown-secrets.ts'
import type { NotificationStep, Workflow, WorkflowOrigin } from '../../domain/workflows/workflow.ts'
import { integrationStatusOf } from '../../domain/workflows/workflow-integrations.ts'
import { examineAhead } from '../../render/examine.ts'
import { judgeSchemaAhead } from '../../render/payload/schema-verdicts.ts'
import { listIntegrationStatuses } from '../../store/integrations/integrations.ts'
import { findFormerSteps } from '../../store/workflows/workflow-versions.ts'
import type { StoredDefinition, WorkflowRow } from '../../store/workflows/workflows.ts'
import {
  countWorkflows,
  deleteWorkflow,
  findWorkflow,
  findWorkflowsByIdentifier,
  insertVersion,
  insertWorkflow,
  lockWorkflow,
  updateWorkflow,
  workflowOf,
} from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'
import { groupFor } from './notification-groups.ts'
import type { WorkflowChange } from './workflow-definition.ts'
import { changedDefinition, newDefinition } from './workflow-definition.ts'
import { refuseUnknownNames } from './workflow-names.ts'
import { identifierTaken, unknownWorkflow, workflowsMax } from './workflow-rules.ts'

/** Of a change that must not overwrite another one: when the workflow was last saved, as the caller knows it. */
interface Known {
  readonly ifUpdatedAt?: Date | undefined
}

export interface Call {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

/** A way to author workflows: who is recorded as the author, and how they are returned. */
export interface WorkflowApi<Body> {
  readonly origin: WorkflowOrigin
  /** Where it has what API v1 has at a path; the same path by default. */
  readonly pathOf?: (path: string) => string
  answerOf(tx: Tx, principal: Principal, id: string): Promise<Body>
}

/** What is no part of the definition. */
export type Setting = Pick<WorkflowChange, 'workflowId' | 'identifier' | 'active' | 'notificationGroupId'>

export async function createWorkflow(
  db: Db,
  world: World,
  principal: Principal,
  call: Call & { workflow: WorkflowChange & { name: string } },
): Promise<Answer<Workflow>> {
  return createBy(firstApi, db, world, principal, withSteps(call), (newId) => newDefinition(call.workflow, newId))
}

const withSteps = <Given extends { workflow: WorkflowChange }>(call: Given): Given & Examined => ({
  ...call,
  steps: call.workflow.steps,
  payloadSchema: call.workflow.payloadSchema,
})

/** As they were given: long templates and the schema are examined before anything is locked, in a thread or in turns. */
export interface Examined {
  readonly steps?: unknown
  readonly payloadSchema?: unknown
}

export async function createBy<Body>(
  api: WorkflowApi<Body>,
  db: Db,
  world: World,
  principal: Principal,
  call: Call & Examined & { workflow: Setting },
  definitionOf: (newId: () => string) => StoredDefinition,
): Promise<Answer<Body>> {
  const { environment } = principal
  const given = call.workflow
  await examineAhead(world.threads, call.steps)
  await judgeSchemaAhead(world.threads, call.payloadSchema)
  const now = world.now()
  const definition = definitionOf(() => world.newId(now))
  throwIfStruckOut(principal, definition.steps)
  return once(db, world, environment, call.idempotency, async (tx) => {
    await refuseOneMore(tx, environment)
    await refuseUnknownNames(tx, environment, definition, api.pathOf)
    const id = world.newId(now)
    const workflow = {
      id,
      active: given.active ?? false,
      groupId: (await groupFor(tx, world, environment, given.notificationGroupId))._id,
      versionId: world.newId(now),
      origin: api.origin,
      definition,
      createdBy: principal.keyId,
      now,
    }
    const slug = slugOf(definition.name) || 'workflow'
    // The end of an id is random, and short enough to be read out.
    const wanted = identifierOf(given)
    const names = wanted === undefined ? [slug, `${slug}-${id.slice(-8)}`] : [wanted]
    const identifier = await firstFree(names, (name) =>
      insertWorkflow(tx, environment, { ...workflow, identifier: name }),
    )
    if (identifier === undefined) throw identifierTaken(wanted ?? slug)
    await insertVersion(tx, environment, { id: workflow.versionId, workflowId: id, identifier, definition, now })
    const after = recordOfWorkflow({ ...workflow, identifier })
    await audit(tx, world, environment, call.author, {
      kind: 'workflow',
      id,
      name: identifier,
      action: 'create',
      after,
    })
    const answer = created(await api.answerOf(tx, principal, id))
    const isOther = wanted === undefined && identifier !== slug
    return isOther ? { ...answer, warnings: [{ code: 'name-taken', name: slug, used: identifier }] } : answer
  })
}

async function firstFree(
  names: readonly string[],
  take: (name: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const name of names) if (await take(name)) return name
  return undefined
}

/** The whole definition is replaced; the identifier, the group and whether it is active are unchanged unless given. */
export async function replaceWorkflow(
  db: Db,
  world: World,
  principal: Principal,
  call: Call & Known & { id: string; workflow: WorkflowChange & { name: string } },
): Promise<Answer<Workflow>> {
  return changeBy(firstApi, db, world, principal, withSteps(call), ({ definition }, newId, former) =>
    newDefinition(call.workflow, newId, { ...definition, steps: [...definition.steps, ...former] }),
  )
}

export async function changeWorkflow(
  db: Db,
  world: World,
  principal: Principal,
  call: Call & Known & { id: string; workflow: WorkflowChange },
): Promise<Answer<Workflow>> {
  return changeBy(firstApi, db, world, principal, withSteps(call), ({ definition }, newId, former) =>
    changedDefinition(definition, call.workflow, newId, former),
  )
}

export async function removeWorkflow(
  db: Db,
  world: World,
  principal: Principal,
  call: Call & { id: string },
): Promise<Answer<true>> {
  return once(db, world, principal.environment, call.idempotency, async (tx) => {
    await deleteNamed(tx, world, principal, { ...call, givenAs: call.id })
    return ok(true)
  })
}

/** `givenAs` is what the caller named it by. */
export async function deleteNamed(
  tx: Tx,
  world: World,
  { environment, keyId }: Principal,
  call: Call & { id: string; givenAs: string },
): Promise<void> {
  const found = await lockWorkflow(tx, environment, call.id)
  if (found === undefined) throw unknownWorkflow(call.givenAs)
  const { id, identifier: name } = found
  await deleteWorkflow(tx, environment, { id, deletedBy: keyId, now: world.now() })
  const before = recordOfWorkflow({ ...found, groupId: found.group_id })
  await audit(tx, world, environment, call.author, { kind: 'workflow', id, name, action: 'delete', before })
}

export async function changeBy<Body>(
  api: WorkflowApi<Body>,
  db: Db,
  world: World,
  principal: Principal,
  call: Call & Examined & Known & { id: string; workflow: Setting },
  definitionOf: (stored: WorkflowRow, newId: () => string, former: readonly NotificationStep[]) => StoredDefinition,
): Promise<Answer<Body>> {
  const { environment } = principal
  const given = call.workflow
  await examineAhead(world.threads, call.steps)
  await judgeSchemaAhead(world.threads, call.payloadSchema)
  const identifier = identifierOf(given)
  return once(db, world, environment, call.idempotency, async (tx) => {
    // Locked before it is read: two calls at once make two versions, one after the other.
    const stored = await lockWorkflow(tx, environment, call.id)
    if (stored === undefined) throw unknownWorkflow(call.id)
    if (call.ifUpdatedAt !== undefined && call.ifUpdatedAt.getTime() !== stored.updated_at.getTime()) {
      throw conflict('The workflow was saved in the meantime: nothing was changed')
    }
    const now = world.now()
    const groupId =
      given.notificationGroupId === undefined
        ? stored.group_id
        : (await groupFor(tx, world, environment, given.notificationGroupId))._id
    const definition = definitionOf(
      stored,
      () => world.newId(now),
      await formerSteps(tx, environment, stored, call.steps),
    )
    throwIfStruckOut(principal, definition.steps)
    // What was stored before is not checked again.
    if (canonicalJson(definition.steps) !== canonicalJson(stored.definition.steps)) {
      await refuseUnknownNames(tx, environment, definition, api.pathOf)
    }
    const wanted: Wanted = {
      identifier: identifier ?? stored.identifier,
      active: given.active ?? stored.active,
      groupId,
      origin: api.origin,
      definition,
    }
    await save(tx, world, environment, stored, wanted)
    await audit(tx, world, environment, call.author, {
      kind: 'workflow',
      id: stored.id,
      name: wanted.identifier,
      action: 'change',
      before: recordOfWorkflow({ ...stored, groupId: stored.group_id }),
      after: recordOfWorkflow(wanted),
    })
    return ok(await api.answerOf(tx, principal, stored.id))
  })
}

/** Steps that were removed and are there again, by the ids they had: what is open under them goes on. */
async function formerSteps(
  tx: Tx,
  environment: Environment,
  { id, definition }: WorkflowRow,
  given: unknown,
): Promise<NotificationStep[]> {
  const steps = Array.isArray(given) ? (given as readonly { readonly _id?: string }[]) : []
  const ids = steps.flatMap(({ _id }) =>
    _id === undefined || definition.steps.some((step) => step._id === _id) ? [] : [_id],
  )
  return ids.length === 0 ? [] : findFormerSteps(tx, environment, { workflowId: id, ids })
}

interface Wanted {
  readonly identifier: string
  readonly active: boolean
  readonly groupId: string
  readonly origin: WorkflowOrigin
  readonly definition: StoredDefinition
}

/** A new version only where the definition or the identifier is another one: runs are pinned to versions, and caches go by them. */
async function save(
  tx: Tx,
  world: World,
  environment: Environment,
  stored: WorkflowRow,
  wanted: Wanted,
): Promise<void> {
  const isRenamed = wanted.identifier !== stored.identifier
  if (isRenamed) await refuseTaken(tx, environment, wanted.identifier)
  const isAnother = isRenamed || canonicalJson(wanted.definition) !== canonicalJson(stored.definition)
  const isSame = wanted.active === stored.active && wanted.groupId === stored.group_id
  // Who changed it last is recorded for changes, not for requests that change nothing.
  if (!isAnother && isSame) return
  const now = world.now()
  const versionId = isAnother ? world.newId(now) : stored.version_id
  if (isAnother) {
    const { identifier, definition } = wanted
    await insertVersion(tx, environment, { id: versionId, workflowId: stored.id, identifier, definition, now })
  }
  await updateWorkflow(tx, environment, { ...wanted, id: stored.id, versionId, now })
}

function identifierOf({ workflowId, identifier }: Setting): string | undefined {
  if (workflowId !== undefined && identifier !== undefined && workflowId !== identifier) {
    throw invalidField('identifier', 'identifier must be the same as workflowId, or be omitted', identifier)
  }
  return workflowId ?? identifier
}

async function refuseTaken(tx: Tx, environment: Environment, identifier: string): Promise<void> {
  const [taken] = await findWorkflowsByIdentifier(tx, environment, [identifier])
  if (taken !== undefined) throw identifierTaken(identifier)
}

async function refuseOneMore(tx: Tx, environment: Environment): Promise<void> {
  if ((await countWorkflows(tx, environment, workflowsMax)) < workflowsMax) return
  throw invalidField('name', `name: an environment can have at most ${workflowsMax} workflows`)
}

export const firstApi: WorkflowApi<Workflow> = { origin: 'v1', answerOf }

async function answerOf(tx: Tx, principal: Principal, id: string): Promise<Workflow> {
  const { environment } = principal
  const [row, integrationStatuses] = [
    await findWorkflow(tx, environment, id),
    await listIntegrationStatuses(tx, environment),
  ]
  if (row === undefined) throw new Error('A workflow was lost while it was locked')
  const workflow = workflowOf(environment, row)
  const status = integrationStatusOf(workflow.steps, integrationStatuses)
  return shownTo(principal, { ...workflow, workflowIntegrationStatus: status })
}

/** Whoever reads `[redacted]` and saves it again would lose what it stands for, and must not be able to send that elsewhere. */
function throwIfStruckOut(principal: Principal, steps: readonly NotificationStep[]): void {
  if (!mayUse(principal, 'full')) refuseStruckOut(steps)
}

export function refuseStruckOut(steps: readonly NotificationStep[]): void {
  const place = steps.findIndex(holdsStruckOut)
  if (place === -1) return
  const path = `steps.${place}`
  throw invalidField(
    path,
    `${path} says [redacted] where a secret stood: give the value itself, or read and save it with keys that have the scope "full"`,
  )
}
