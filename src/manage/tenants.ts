// Tenants: create, change, delete.
import { once } from '../commit/once.ts'
import type { Db } from '../db/sql.ts'
import type { Answer, Idempotency } from '../domain/answer.ts'
import { created, noContent, ok } from '../domain/answer.ts'
import type { Environment } from '../domain/environment.ts'
import { conflict, notFound } from '../domain/problem.ts'
import type { NewTenant, Tenant } from '../domain/tenant.ts'
import { deleteTenant, findTenant, insertTenant, updateTenant } from '../store/tenants.ts'
import type { World } from '../world/world.ts'

interface Call {
  readonly idempotency: Idempotency | undefined
}

export async function createTenant(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { tenant: NewTenant },
): Promise<Answer<Tenant>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    const tenant = await insertTenant(tx, environment, { ...call.tenant, id: world.newId(now), now })
    if (tenant === undefined) throw taken(call.tenant.identifier)
    return created(tenant)
  })
}

export async function changeTenant(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { identifier: string; change: Partial<NewTenant> },
): Promise<Answer<Tenant>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const renamedTo = call.change.identifier
    if (renamedTo !== undefined && renamedTo !== call.identifier && (await findTenant(tx, environment, renamedTo))) {
      throw taken(renamedTo)
    }
    const tenant = await updateTenant(tx, environment, call.identifier, { ...call.change, now: world.now() })
    if (tenant === undefined) throw unknownTenant(call.identifier)
    return ok(tenant)
  })
}

export async function removeTenant(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { identifier: string },
): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    if (!(await deleteTenant(tx, environment, call.identifier))) throw unknownTenant(call.identifier)
    return noContent
  })
}

export const unknownTenant = (identifier: string) => notFound(`Tenant with identifier ${identifier} not found`)
const taken = (identifier: string) => conflict(`Tenant with identifier ${identifier} already exists`)
