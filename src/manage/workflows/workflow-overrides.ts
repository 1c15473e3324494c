// Tenants' overrides of workflows: create, change, delete.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Sql, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, noContent, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfOverride } from '../../domain/operate/audit-records.ts'
import { conflict, invalidField, notFound } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { StoredOverride } from '../../domain/workflows/workflow-override.ts'
import { findTenants } from '../../store/people/tenants.ts'
import type { OverrideChange } from '../../store/workflows/workflow-overrides.ts'
import {
  deleteOverride,
  findOverride,
  insertOverride,
  lockOverride,
  updateOverride,
} from '../../store/workflows/workflow-overrides.ts'
import { findWorkflow } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'

interface Call {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

/** Each by its id or its identifier. */
interface Pair {
  readonly workflowId: string
  readonly tenantId: string
}

/** An override by its own id, or by what it is of. */
export type OverrideName = { readonly overrideId: string } | Pair

export async function createOverride(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & Pair & { change: OverrideChange },
): Promise<Answer<StoredOverride>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const { workflowId, tenantId } = await pairNamed(tx, environment, call)
    if (workflowId === undefined) {
      throw invalidField('workflowId', 'workflowId does not exist', call.workflowId)
    }
    if (tenantId === undefined) throw invalidField('tenantId', 'tenantId does not exist', call.tenantId)
    const now = world.now()
    const id = world.newId(now)
    if (!(await insertOverride(tx, environment, { id, workflowId, tenantId, ...call.change, now }))) {
      throw conflict(`Tenant ${call.tenantId} already has an override of workflow ${call.workflowId}`)
    }
    const made = await findOverride(tx, environment, { id })
    // One of the two was deleted meanwhile: an override of it is not shown, and this one is not kept.
    if (made === undefined) throw invalidField('workflowId', 'workflowId or tenantId was deleted', call.workflowId)
    await audit(tx, world, environment, call.author, {
      ...named(made),
      action: 'create',
      after: recordOfOverride(made),
    })
    return created(made)
  })
}

export async function changeOverride(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { name: OverrideName; change: OverrideChange },
): Promise<Answer<StoredOverride>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const override = await overrideLocked(tx, environment, call.name)
    await updateOverride(tx, environment, override._id, { ...call.change, now: world.now() })
    const changed = await overrideNamed(tx, environment, { overrideId: override._id })
    await audit(tx, world, environment, call.author, {
      ...named(changed),
      action: 'change',
      before: recordOfOverride(override),
      after: recordOfOverride(changed),
    })
    return ok(changed)
  })
}

export async function removeOverride(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { name: OverrideName },
): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const override = await overrideLocked(tx, environment, call.name)
    await deleteOverride(tx, environment, override._id)
    await audit(tx, world, environment, call.author, {
      ...named(override),
      action: 'delete',
      before: recordOfOverride(override),
    })
    return noContent
  })
}

/** Its state once no one else can change it. */
async function overrideLocked(tx: Tx, environment: Environment, name: OverrideName): Promise<StoredOverride> {
  const found = await overrideNamed(tx, environment, name)
  await lockOverride(tx, environment, found._id)
  return overrideNamed(tx, environment, { overrideId: found._id })
}

const named = ({ _id, workflowIdentifier, tenantIdentifier }: StoredOverride) =>
  ({ kind: 'workflow-override', id: _id, name: `${workflowIdentifier} for ${tenantIdentifier}` }) as const

export async function overrideNamed(db: Sql, environment: Environment, name: OverrideName): Promise<StoredOverride> {
  if ('overrideId' in name) {
    const found = isUuid(name.overrideId) ? await findOverride(db, environment, { id: name.overrideId }) : undefined
    if (found === undefined) throw notFound(`Workflow override ${name.overrideId} not found`)
    return found
  }
  const { workflowId, tenantId } = await pairNamed(db, environment, name)
  const isKnown = workflowId !== undefined && tenantId !== undefined
  const found = isKnown ? await findOverride(db, environment, { workflowId, tenantId }) : undefined
  if (found === undefined) {
    throw notFound(`Tenant ${name.tenantId} has no override of workflow ${name.workflowId}`)
  }
  return found
}

async function pairNamed(
  db: Sql,
  environment: Environment,
  pair: Pair,
): Promise<{ workflowId: string | undefined; tenantId: string | undefined }> {
  const workflow = await findWorkflow(db, environment, pair.workflowId)
  const ids = isUuid(pair.tenantId) ? [pair.tenantId] : []
  const tenants = await findTenants(db, environment, { identifiers: [pair.tenantId], ids })
  const tenant = tenants.find((one) => one._id === pair.tenantId) ?? tenants[0]
  return { workflowId: workflow?.id, tenantId: tenant?._id }
}
