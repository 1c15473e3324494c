// The built dashboard: where it is, and the address at which an operator signs in to it once.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config.ts'
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { signInPath } from '../domain/operate/dashboard-session.ts'
import { createSignInLink } from '../manage/operate/dashboard-sessions.ts'
import type { World } from '../world/world.ts'

/** Named from two folders up: it is the same place whether this stands in src/main or in the one file of dist/cli. */
const builtFolder = fileURLToPath(new URL('../../dashboard/dist/', import.meta.url))

/** Undefined where it is switched off, or was never built. */
export function dashboardFolder(config: Config): string | undefined {
  const isServed = config.dashboard === 'on' && config.role !== 'worker'
  return isServed && existsSync(join(builtFolder, 'index.html')) ? builtFolder : undefined
}

/** Works once, for ten minutes, in a browser on this machine. `url` is where the service is reached from here. */
export async function signInAddress(db: Db, world: World, environment: Environment, url: string): Promise<string> {
  return `${url}${signInPath}#${await createSignInLink(db, world, environment)}`
}

/** Whatever name others know the service by, this machine reaches it by its own. */
export function ownAddress({ baseUrl }: Config, port: number): string {
  const path = baseUrl === undefined ? '' : new URL(baseUrl).pathname.replace(/\/$/, '')
  return `http://localhost:${port}${path}`
}

export const isOpenToItselfAlone = ({ host }: Config): boolean => ['127.0.0.1', '::1', 'localhost'].includes(host)
