// The dashboard: its pages, where they were built, and its sessions, which work without them too.
import type { FastifyInstance } from 'fastify'
import type { Db } from '../db/sql.ts'
import type { World } from '../world/world.ts'
import type { Authenticate } from './access/authenticate.ts'
import type { DashboardAccess } from './access/dashboard-access.ts'
import { createDashboardAccess } from './access/dashboard-access.ts'
import { basePathOf } from './base-path.ts'
import type { DashboardPages } from './pages/dashboard.ts'
import { installPages } from './pages/dashboard.ts'
import { readDashboardFiles } from './pages/dashboard-files.ts'
import { installDashboardSessions } from './routes/operate/dashboard-sessions.ts'

export interface DashboardOptions {
  readonly baseUrl: string
  /** Of the built pages. */
  readonly dashboardFolder?: string | undefined
  readonly unknownMembers?: 'warn' | 'refuse'
}

export function installDashboard(
  app: FastifyInstance,
  db: Db,
  world: World,
  authenticate: Authenticate,
  { baseUrl, dashboardFolder, unknownMembers = 'warn' }: DashboardOptions,
): { access: DashboardAccess; pages: DashboardPages | undefined } {
  const basePath = basePathOf(baseUrl)
  const access = createDashboardAccess(db, world, { basePath, isSecure: baseUrl.startsWith('https:') })
  const files = dashboardFolder === undefined ? undefined : readDashboardFiles(dashboardFolder, basePath)
  installDashboardSessions(app, db, world, { access, authenticate, unknownMembers })
  return { access, pages: files && installPages(app, files) }
}
