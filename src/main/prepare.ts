// What happens before a service takes its first request: the custom providers, the database, its schema, the first key.
import type { Config } from '../config.ts'
import { ensureFirstStart, StartError } from '../manage/operate/first-start.ts'
import { preparePartitions } from '../manage/operate/partitions.ts'
import { BadProviderFile, loadOwnProviders } from '../providers/own-providers.ts'
import type { Log } from '../world/log.ts'
import type { Store } from './store.ts'
import { migrateStore, openStore } from './store.ts'

export interface Prepared {
  readonly store: Store
  /** The first API key, if this start created it. */
  readonly newKey: string | undefined
}

export async function prepare(config: Config, log: Log, signal?: AbortSignal): Promise<Prepared> {
  // Before anything else: what is wrong with a file of the operator's own need not wait for a database.
  await loadProviders(config, log)
  const store = await openStore(config, log, { embedded: 'hold', signal })
  try {
    await migrateStore(store)
    const { db, world } = store
    const { newKey } = await ensureFirstStart(
      db,
      world,
      { development: config.apiKeys, production: config.productionApiKeys },
      { mailIsReal: config.smtp !== undefined },
    )
    await preparePartitions(db, world, { tries: 1 })
    return { store, newKey }
  } catch (error) {
    await store.close()
    throw error
  }
}

export async function loadProviders({ providersDirectory }: Config, log: Log): Promise<void> {
  if (providersDirectory === undefined) return
  const providers = await loadOwnProviders(providersDirectory).catch((error: Error) => {
    throw error instanceof BadProviderFile ? new StartError(error.message) : error
  })
  log.info({ providers }, 'Loaded custom providers')
}
