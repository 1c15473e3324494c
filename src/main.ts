// Starts the service, as one process or as several, and stops it in order.
import type { Config } from './config.ts'
import { signInPath } from './domain/operate/dashboard-session.ts'
import { dashboardFolder, isOpenToItselfAlone, ownAddress } from './main/dashboard.ts'
import { prepare } from './main/prepare.ts'
import { serve } from './main/serve.ts'
import { startSeveral } from './main/several.ts'
import type { Store } from './main/store.ts'
import { createSignInLink } from './manage/operate/dashboard-sessions.ts'
import { listEnvironments } from './store/operate/installation.ts'
import { listHeldEnvironments } from './store/operate/sending-holds.ts'
import type { Log } from './world/log.ts'

export interface Running {
  readonly url: string
  readonly newKey: string | undefined
  /** A sign-in URL of the dashboard; undefined without a dashboard, or if the service listens on the network. */
  readonly signIn: string | undefined
  /** The names of the environments in which nothing is sent since a restore. */
  readonly held: readonly string[]
  stop(): Promise<void>
}

export async function start(config: Config, log: Log, signal?: AbortSignal): Promise<Running> {
  const prepared = await prepare(config, log, signal)
  const { store, newKey } = prepared
  const before = async () => ({ link: await signInLink(config, store), held: await listHeldEnvironments(store.db) })
  const { link, held } = await before().catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  const running = config.processes > 1 ? await startSeveral(config, store) : await serve(config, store)
  const at = config.baseUrl === undefined ? running.url : ownAddress(config, config.port)
  const names = held.map(({ name }) => name)
  return { ...running, newKey, held: names, signIn: link === undefined ? undefined : `${at}${signInPath}#${link}` }
}

/** Created before the child processes take over the database. */
async function signInLink(config: Config, { db, world }: Store): Promise<string | undefined> {
  if (dashboardFolder(config) === undefined || !isOpenToItselfAlone(config)) return undefined
  const [development] = await listEnvironments(db)
  return development && createSignInLink(db, world, development)
}
