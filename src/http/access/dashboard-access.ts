// Authenticates calls of the dashboard: a sealed cookie, valid only for calls from our own pages that carry a header.
import type { FastifyRequest } from 'fastify'
import type { Db } from '../../db/sql.ts'
import { UnsealError } from '../../domain/operate/sealed.ts'
import { Problem } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { OpenedSession } from '../../manage/operate/dashboard-sessions.ts'
import type { SessionPrincipal } from '../../store/operate/dashboard-sessions.ts'
import { findSession } from '../../store/operate/dashboard-sessions.ts'
import { findUserSession } from '../../store/operate/user-sessions.ts'
import type { World } from '../../world/world.ts'
import { allowListOf, throwIfElsewhere } from './allowed-addresses.ts'

/**
 * The environment that a call is for, or `*` for calls about sessions themselves. A page of another origin cannot send it:
 * the preflight request for it is refused.
 */
const dashboardHeader = 'x-posthorn-dashboard'
const cookiePrefix = 'posthorn_session_'
/** One per environment. */
const sessionsMax = 20
const cookieLengthMax = 512

export interface BrowserSession extends SessionPrincipal {
  readonly sessionId: string
}

export interface DashboardAccess {
  /** Undefined where the call is not the dashboard's. Throws the 401 where its session has ended. */
  principalOf(request: FastifyRequest): Promise<BrowserSession | undefined>
  /** All sessions of the browser that are still good. */
  sessionsOf(request: FastifyRequest): Promise<BrowserSession[]>
  /** As the database has it now. */
  foundFor(session: OpenedSession): Promise<BrowserSession | undefined>
  cookieFor(session: OpenedSession): string
  /** Removes the cookie from the browser. */
  endedCookieFor(environmentId: string): string
}

/** `basePath` ends with a slash; `isSecure`: the service is reached by https. */
export function createDashboardAccess(
  db: Db,
  world: World,
  { basePath, isSecure }: { basePath: string; isSecure: boolean },
): DashboardAccess {
  const attributes = `Path=${basePath}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

  async function sessionOf(environmentId: string, sealed: string): Promise<BrowserSession | undefined> {
    for (const [purpose, find] of kinds) {
      const sessionId = opened(world, purpose, environmentId, sealed)
      if (sessionId === undefined) continue
      const found = await find(db, environmentId, sessionId, world.now())
      return found && { ...found, sessionId }
    }
    return undefined
  }

  return {
    async principalOf(request) {
      const environmentId = request.headers[dashboardHeader]
      if (environmentId === undefined) return undefined
      refuseOtherOrigins(request)
      const sealed = cookiesOf(request).get(String(environmentId))
      const session = sealed === undefined ? undefined : await sessionOf(String(environmentId), sealed)
      if (session === undefined) throw new Problem(401, 'The session has ended; sign in again')
      // A session may do what its key may, and from where: an allow-list that was narrowed holds at once.
      const allowed = allowListOf(session.allowedAddresses)
      if (allowed !== undefined) throwIfElsewhere(allowed, request.ip)
      return session
    },
    async sessionsOf(request) {
      refuseOtherOrigins(request)
      const found = await Promise.all([...cookiesOf(request)].map(([id, sealed]) => sessionOf(id, sealed)))
      return found.filter((one) => one !== undefined)
    },
    async foundFor({ environment, id, userId }) {
      const find = userId === undefined ? findSession : findUserSession
      const found = await find(db, environment.id, id, world.now())
      return found && { ...found, sessionId: id }
    },
    cookieFor({ environment, id, expiresAt, userId }) {
      const purpose = userId === undefined ? 'dashboard-session' : 'user-session'
      const sealed = world.sealer.seal(environment.id, purpose, environment.id, id).toString('base64url')
      const seconds = Math.floor((expiresAt.getTime() - world.now().getTime()) / 1_000)
      return `${nameFor(environment.id)}=${sealed}; Max-Age=${seconds}; ${attributes}`
    },
    endedCookieFor: (environmentId) => `${nameFor(environmentId)}=; Max-Age=0; ${attributes}`,
  }
}

const nameFor = (environmentId: string): string => `${cookiePrefix}${environmentId}`

/** Which table a cookie speaks of is part of what it is sealed for. */
const kinds = [
  ['dashboard-session', findSession],
  ['user-session', findUserSession],
] as const

function opened(
  world: World,
  purpose: (typeof kinds)[number][0],
  environmentId: string,
  sealed: string,
): string | undefined {
  try {
    return world.sealer.open(environmentId, purpose, environmentId, Buffer.from(sealed, 'base64url'))
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}

/** The sealed sessions of a request, by their environments. */
function cookiesOf({ headers: { cookie = '' } }: FastifyRequest): Map<string, string> {
  const found = new Map<string, string>()
  for (const part of cookie.split(';')) {
    const [name = '', value = ''] = part.trim().split('=', 2)
    const environmentId = name.startsWith(cookiePrefix) ? name.slice(cookiePrefix.length) : ''
    const isFit = isUuid(environmentId) && value !== '' && value.length <= cookieLengthMax
    if (isFit && found.size < sessionsMax) found.set(environmentId, value)
  }
  return found
}

/** In addition to SameSite=Strict and the header: what the browser reports about the calling page must match. */
export function refuseOtherOrigins({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site']
  const isOurs = site === undefined || site === 'same-origin'
  if (headers[dashboardHeader] === undefined || !isOurs || !isOwnOrigin(headers.origin, headers.host)) {
    throw new Problem(
      403,
      `Sessions can only be used by the pages of the dashboard: the header ${dashboardHeader} is required`,
    )
  }
}

/** Compares only the host: a proxy may use another scheme to reach us. */
function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}
