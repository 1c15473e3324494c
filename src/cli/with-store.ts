// A command's access to the data: the store is opened, migrated, and closed whatever happens.
import type { Environment } from '../domain/environment.ts'
import type { Store } from '../main/store.ts'
import { migrateStore, openStore } from '../main/store.ts'
import { ensureInstallation } from '../manage/operate/first-start.ts'
import { listEnvironments } from '../store/operate/installation.ts'
import type { Terminal } from './command.ts'
import { UsageError } from './command.ts'

export async function withStore<Result>(
  { config, log }: Terminal,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(config, log, { embedded: 'join' })
  try {
    await migrateStore(store)
    await ensureInstallation(store.db, store.world)
    return await work(store)
  } finally {
    await store.close()
  }
}

export async function environmentNamed(store: Store, name: string): Promise<Environment> {
  const environments = await listEnvironments(store.db)
  const found = environments.find((environment) => environment.name === name)
  if (found !== undefined) return found
  throw new UsageError(
    `Unknown environment "${name}"; the environments are ${environments.map((one) => one.name).join(', ')}`,
  )
}
