// The dashboard: its pages, where they were built, and its sessions, which work without them too.
import type { FastifyInstance } from 'fastify'
import type { Db } from '../db/sql.ts'
import type { PasswordCost } from '../domain/operate/password.ts'
import type { World } from '../world/world.ts'
import type { Authenticate } from './access/authenticate.ts'
import type { DashboardAccess } from './access/dashboard-access.ts'
import { createDashboardAccess } from './access/dashboard-access.ts'
import { createPasswordSignIn } from './access/password-sign-in.ts'
import { basePathOf } from './base-path.ts'
import type { DashboardPages } from './pages/dashboard.ts'
import { installPages } from './pages/dashboard.ts'
import { readDashboardFiles } from './pages/dashboard-files.ts'
import type { OidcProvider } from './routes/operate/dashboard-oidc.ts'
import { installDashboardOidc } from './routes/operate/dashboard-oidc.ts'
import { installDashboardPasswords } from './routes/operate/dashboard-passwords.ts'
import { installDashboardSessions } from './routes/operate/dashboard-sessions.ts'

export interface DashboardOptions {
  readonly baseUrl: string
  /** Of the built pages. */
  readonly dashboardFolder?: string | undefined
  readonly unknownMembers?: 'warn' | 'refuse'
  /** What a password is hashed at; the usual cost where it is left out. */
  readonly passwordCost?: PasswordCost
  /** The identity provider; left out where there is none. */
  readonly oidc?: OidcProvider | undefined
}

export function installDashboard(
  app: FastifyInstance,
  db: Db,
  world: World,
  authenticate: Authenticate,
  { baseUrl, dashboardFolder, unknownMembers = 'warn', passwordCost, oidc }: DashboardOptions,
): { access: DashboardAccess; pages: DashboardPages | undefined } {
  const basePath = basePathOf(baseUrl)
  const access = createDashboardAccess(db, world, { basePath, isSecure: baseUrl.startsWith('https:') })
  const files = dashboardFolder === undefined ? undefined : readDashboardFiles(dashboardFolder, basePath)
  const passwords = createPasswordSignIn(db, world, passwordCost)
  installDashboardSessions(app, db, world, { access, authenticate, passwords, unknownMembers })
  installDashboardPasswords(app, db, { access, passwords, oidcName: oidc?.name, unknownMembers })
  if (oidc !== undefined) installDashboardOidc(app, db, world, { access, oidc, baseUrl })
  return { access, pages: files && installPages(app, files) }
}
