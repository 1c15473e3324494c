// A local command's access to the data of an existing installation: opened, migrated, and closed whatever happens.
import type { Environment } from '../../domain/environment.ts'
import type { Store } from '../../main/store.ts'
import { migrateStore, openStore } from '../../main/store.ts'
import { ensureInstallation } from '../../manage/operate/first-start.ts'
import { listEnvironments } from '../../store/operate/installation.ts'
import type { Organization } from '../../store/operate/organizations.ts'
import { listOrganizations } from '../../store/operate/organizations.ts'
import type { Terminal } from '../command.ts'
import { UsageError } from '../command.ts'

export async function withStore<Result>(
  { config, log }: Terminal,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(config, log, { embedded: 'join', mustExist: true })
  try {
    await migrateStore(store)
    await ensureInstallation(store.db, store.world)
    return await work(store)
  } finally {
    await store.close()
  }
}

/**
 * By its name, or by that of its organization and its own with a slash between. A name alone is that of the first organization
 * before any other's, as it was when there was one.
 */
export async function environmentNamed(store: Store, name: string): Promise<Environment> {
  const [environments, organizations] = [await listEnvironments(store.db), await listOrganizations(store.db)]
  const [first] = organizations
  const named = environments.filter((environment) => environment.name === name)
  const found = named.find(({ organizationId }) => organizationId === first?.id)
  if (found !== undefined) return found
  const organizationOf = new Map(organizations.map((one) => [one.id, one.name]))
  const wholeName = (one: Environment) =>
    one.organizationId === first?.id ? one.name : `${organizationOf.get(one.organizationId)}/${one.name}`
  const whole = environments.find((one) => `${organizationOf.get(one.organizationId)}/${one.name}` === name)
  if (whole !== undefined) return whole
  if (named.length === 1) return named[0] as Environment
  const problem = named.length > 1 ? 'Several organizations have an environment' : 'Unknown environment'
  throw new UsageError(`${problem} "${name}"; the environments are ${environments.map(wholeName).join(', ')}`)
}

export async function organizationNamed(store: Store, name: string): Promise<Organization> {
  const organizations = await listOrganizations(store.db)
  const found = organizations.find((organization) => organization.name === name)
  if (found !== undefined) return found
  throw new UsageError(
    `Unknown organization "${name}"; the organizations are ${organizations.map((one) => one.name).join(', ')}`,
  )
}
