// Tenants: create, change, delete.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, noContent, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfTenant } from '../../domain/operate/audit-records.ts'
import type { NewTenant, Tenant } from '../../domain/people/tenant.ts'
import { conflict, notFound } from '../../domain/problem.ts'
import { deleteTenant, findTenant, insertTenant, lockTenant, updateTenant } from '../../store/people/tenants.ts'
import type { World } from '../../world/world.ts'

interface Call {
  readonly author: Author
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
    await audit(tx, world, environment, call.author, {
      ...named(tenant),
      action: 'create',
      after: recordOfTenant(tenant),
    })
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
    const before = await lockTenant(tx, environment, call.identifier)
    if (before === undefined) throw unknownTenant(call.identifier)
    if (renamedTo !== undefined && renamedTo !== call.identifier && (await findTenant(tx, environment, renamedTo))) {
      throw taken(renamedTo)
    }
    const tenant = await updateTenant(tx, environment, call.identifier, { ...call.change, now: world.now() })
    if (tenant === undefined) throw unknownTenant(call.identifier)
    await audit(tx, world, environment, call.author, {
      ...named(tenant),
      action: 'change',
      before: recordOfTenant(before),
      after: recordOfTenant(tenant),
    })
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
    const tenant = await deleteTenant(tx, environment, call.identifier)
    if (tenant === undefined) throw unknownTenant(call.identifier)
    await audit(tx, world, environment, call.author, {
      ...named(tenant),
      action: 'delete',
      before: recordOfTenant(tenant),
    })
    return noContent
  })
}

const named = ({ _id, identifier }: Tenant) => ({ kind: 'tenant', id: _id, name: identifier }) as const

export const unknownTenant = (identifier: string) => notFound(`Tenant with identifier ${identifier} not found`)
const taken = (identifier: string) => conflict(`Tenant with identifier ${identifier} already exists`)
