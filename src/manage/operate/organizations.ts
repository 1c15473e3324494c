// Organizations come and go, by the operator's commands alone: no key reaches beyond its own.
import { audit } from '../../commit/audited.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { conflict } from '../../domain/problem.ts'
import { ensureAuditKey } from '../../store/operate/audit-key.ts'
import { environmentsMax, listEnvironments } from '../../store/operate/installation.ts'
import type { Organization } from '../../store/operate/organizations.ts'
import {
  insertOrganization,
  lockOrganizations,
  markOrganizationDeleted,
  updateOrganization,
} from '../../store/operate/organizations.ts'
import type { World } from '../../world/world.ts'
import { addFirstKey } from './environment-life.ts'
import { makeEnvironment } from './make-environment.ts'

export interface NewOrganization extends Organization {
  /** With the first key of each, which is shown this once. */
  readonly environments: readonly { readonly environment: Environment; readonly key: string }[]
}

/** With the two environments that every installation begins with. */
export async function createOrganization(
  db: Db,
  world: World,
  { name, author }: { name: string; author: Author },
): Promise<NewOrganization> {
  return db.transaction(async (tx) => {
    throwIfTaken(await lockOrganizations(tx), name)
    if ((await listEnvironments(tx)).length + 2 > environmentsMax) {
      throw conflict(`There can be at most ${environmentsMax} environments, and an organization has two`)
    }
    const now = world.now()
    const organization = { id: world.newId(now), name }
    await insertOrganization(tx, { ...organization, now })
    const [development, production] = [world.newId(now), world.newId(now)]
    const make = (id: string, called: string, parentId: string | null) =>
      makeFirst(tx, world, { id, organizationId: organization.id, name: called }, { parentId, author })
    const environments = [
      await make(development, 'Development', null),
      await make(production, 'Production', development),
    ]
    return { ...organization, environments }
  })
}

async function makeFirst(
  tx: Tx,
  world: World,
  environment: Environment,
  { parentId, author }: { parentId: string | null; author: Author },
): Promise<NewOrganization['environments'][number]> {
  await makeEnvironment(tx, world, environment, { parentId, captures: parentId === null })
  if (world.sealer.form() === 2) await ensureAuditKey(tx, world.sealer, environment)
  const { id, name } = environment
  const after = { compared: { name }, shown: { name } }
  await audit(tx, world, environment, author, { kind: 'environment', id, name, action: 'create', after })
  return { environment, key: await addFirstKey(tx, world, environment, author) }
}

export async function renameOrganization(db: Db, organization: Organization, name: string): Promise<void> {
  await db.transaction(async (tx) => {
    const all = await lockOrganizations(tx)
    if (name !== organization.name) throwIfTaken(all, name)
    await updateOrganization(tx, { ...organization, name })
  })
}

/** Its environments go first, each with its own confirmation: what is left here holds nothing. */
export async function deleteOrganization(db: Db, organization: Organization, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    const [first] = await lockOrganizations(tx)
    if (first?.id === organization.id) {
      throw conflict(`Every installation has the organization ${organization.name}: it cannot be deleted`)
    }
    const left = (await listEnvironments(tx)).filter(({ organizationId }) => organizationId === organization.id)
    if (left.length > 0) {
      const names = left.map(({ name }) => name).join(', ')
      throw conflict(`${organization.name} still has environments (${names}): delete them first`)
    }
    await markOrganizationDeleted(tx, organization, now)
  })
}

function throwIfTaken(all: readonly Organization[], name: string): void {
  if (all.some((one) => one.name === name)) throw conflict(`There is an organization "${name}" already`)
}
