// The built dashboard: its folder, and single-use sign-in URLs for the operator.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config.ts'
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { signInPath } from '../domain/operate/dashboard-session.ts'
import type { OidcProvider } from '../http/routes/operate/dashboard-oidc.ts'
import { createSignInLink } from '../manage/operate/dashboard-sessions.ts'
import type { World } from '../world/world.ts'

/** Two folders up from both src/main and the bundle in dist/cli. */
const builtFolder = fileURLToPath(new URL('../../dashboard/dist/', import.meta.url))

/** Undefined where it is switched off, or was never built. */
export function dashboardFolder(config: Config): string | undefined {
  const isServed = config.dashboard === 'on' && config.role !== 'worker'
  return isServed && existsSync(join(builtFolder, 'index.html')) ? builtFolder : undefined
}

/** Undefined where no identity provider is set. */
export function oidcOf(config: Config): OidcProvider | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcName, oidcDefaultRole: defaultRole } = config
  if (issuer === undefined || clientId === undefined) return undefined
  const name = oidcName ?? new URL(issuer).host
  return { issuer, clientId, clientSecret: config.oidcClientSecret, name, defaultRole, domains: config.oidcDomains }
}

/** The link works once, for ten minutes, in a browser on this machine. `url` is the local URL of the service. */
export async function signInAddress(db: Db, world: World, environment: Environment, url: string): Promise<string> {
  return `${url}${signInPath}#${await createSignInLink(db, world, environment)}`
}

/** The local URL of the service, whatever its public URL is. */
export function ownAddress({ baseUrl }: Config, port: number): string {
  const path = baseUrl === undefined ? '' : new URL(baseUrl).pathname.replace(/\/$/, '')
  return `http://localhost:${port}${path}`
}

export const isOpenToItselfAlone = ({ host }: Config): boolean => ['127.0.0.1', '::1', 'localhost'].includes(host)
