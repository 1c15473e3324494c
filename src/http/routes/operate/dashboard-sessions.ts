// Sessions of the dashboard: /v1/dashboard/sessions. Opened with a key or a link, and stored by the browser as a cookie.
import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Db } from '../../../db/sql.ts'
import { scopes } from '../../../domain/environment.ts'
import { Problem } from '../../../domain/problem.ts'
import type { OpenedSession } from '../../../manage/operate/dashboard-sessions.ts'
import { closeSession, openSessionByKey, openSessionByLink } from '../../../manage/operate/dashboard-sessions.ts'
import type { World } from '../../../world/world.ts'
import type { Authenticate } from '../../access/authenticate.ts'
import type { DashboardAccess } from '../../access/dashboard-access.ts'
import { refuseOtherOrigins } from '../../access/dashboard-access.ts'
import { createFailedAttempts } from '../../access/failed-attempts.ts'
import { schemaOf } from '../../install-route.ts'
import type { Documented } from '../../route.ts'
import { literals, timestamp } from '../../schemas.ts'
import { lookForUnknown } from '../../unknown.ts'

/** An environment's id, a dot and the secret. */
const linkLengthMax = 255

const session = Type.Object(
  {
    environment: Type.Object({ _id: Type.String(), name: Type.String() }, { title: 'SessionEnvironment' }),
    keyName: Type.String({
      description: 'The name in the audit log: the API key, or that a link opened the session.',
    }),
    scopes: Type.Array(literals(scopes)),
    expiresAt: timestamp(),
  },
  { title: 'DashboardSession' },
)
const opening = Type.Object(
  {
    apiKey: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'The session has the scopes of the key.' }),
    ),
    link: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: linkLengthMax,
        description: 'The part of a sign-in link after the `#`.',
      }),
    ),
  },
  { title: 'OpenDashboardSession', examples: [{ apiKey: 'ph_0a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ0123456' }] },
)

const shared = { tag: 'Dashboard', path: '/v1/dashboard/sessions' } as const
const open: Documented = {
  ...shared,
  method: 'POST',
  operationId: 'openDashboardSession',
  summary: 'Sign in to the dashboard',
  description:
    'With an API key, or with a sign-in link (`posthorn dashboard`). A link works once, for ten minutes, and only on the machine that runs the service. The response sets a cookie that is valid for 12 hours. Requires the header `X-Posthorn-Dashboard: *`.',
  opensWith: 'nothing',
  body: opening,
  replies: { 201: session },
}
const list: Documented = {
  ...shared,
  method: 'GET',
  operationId: 'listDashboardSessions',
  summary: 'List the sessions of this browser',
  description: 'One per environment. Requires the header `X-Posthorn-Dashboard: *`.',
  opensWith: 'nothing',
  replies: { 200: Type.Array(session) },
}
const close: Documented = {
  ...shared,
  method: 'DELETE',
  operationId: 'closeDashboardSessions',
  summary: 'Sign out of the dashboard',
  description: 'Revokes all sessions of this browser. Requires the header `X-Posthorn-Dashboard: *`.',
  opensWith: 'nothing',
  replies: { 204: null },
}

export const dashboardSessionRoutes: readonly Documented[] = [open, list, close]

interface Parts {
  readonly access: DashboardAccess
  readonly authenticate: Authenticate
  readonly unknownMembers: 'warn' | 'refuse'
}

export function installDashboardSessions(app: FastifyInstance, db: Db, world: World, parts: Parts): void {
  const { access, authenticate } = parts
  const failed = createFailedAttempts(world.now)

  async function opened(request: FastifyRequest): Promise<OpenedSession> {
    const { apiKey, link } = request.body as { apiKey?: string; link?: string }
    if ((apiKey === undefined) === (link === undefined)) {
      throw new Problem(422, 'Give either apiKey or link')
    }
    if (apiKey !== undefined) {
      return openSessionByKey(db, world, await authenticate(`ApiKey ${apiKey}`, request.ip))
    }
    if (!isOnThisMachine(request)) {
      throw new Problem(403, 'Sign-in links work only on the machine that runs the service; sign in with an API key')
    }
    try {
      return await openSessionByLink(db, world, link ?? '')
    } catch (error) {
      if (error instanceof Problem && error.status === 401) failed.count(request.ip)
      throw error
    }
  }

  app.route({
    method: open.method,
    url: open.path,
    schema: schemaOf(open),
    onRequest: async (request) => refuseOtherOrigins(request),
    preValidation: lookForUnknown(open, parts.unknownMembers),
    handler: async (request, reply) => {
      const made = await opened(request)
      reply.header('set-cookie', access.cookieFor(made))
      const found = await access.foundFor(made)
      return reply.code(201).send(found === undefined ? undefined : shown(found))
    },
  })
  app.route({
    method: list.method,
    url: list.path,
    schema: schemaOf(list),
    handler: async (request, reply) => reply.send((await access.sessionsOf(request)).map(shown)),
  })
  app.route({
    method: close.method,
    url: close.path,
    handler: async (request, reply) => {
      for (const one of await access.sessionsOf(request)) {
        await closeSession(db, world, one.environment, one.sessionId)
        reply.header('set-cookie', access.endedCookieFor(one.environment.id))
      }
      return reply.code(204).send()
    },
  })
}

const shown = (one: Awaited<ReturnType<DashboardAccess['sessionsOf']>>[number]) => ({
  environment: { _id: one.environment.id, name: one.environment.name },
  keyName: one.keyName,
  scopes: one.scopes,
  expiresAt: one.expiresAt.toISOString(),
})

/** Checks the connection and the host name: a proxy on the same machine forwards calls from elsewhere. */
function isOnThisMachine({ ip, headers: { host = '' } }: FastifyRequest): boolean {
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : ''
  return isLoopback(ip) && (name === 'localhost' || isLoopback(name.replace(/^\[|\]$/g, '')))
}

function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  return isIP(plain) === 4 ? plain.startsWith('127.') : plain === '::1'
}
