// Sessions of the dashboard: /v1/dashboard/sessions. Opened with a key, a link or a password, and stored by the browser as a cookie.
import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Db } from '../../../db/sql.ts'
import { scopes } from '../../../domain/environment.ts'
import { passwordLengthMax } from '../../../domain/operate/password.ts'
import { emailLengthMax, userRoles } from '../../../domain/operate/user.ts'
import { Problem } from '../../../domain/problem.ts'
import type { OpenedSession } from '../../../manage/operate/dashboard-sessions.ts'
import { closeSession, openSessionByKey, openSessionByLink } from '../../../manage/operate/dashboard-sessions.ts'
import { closeUserSession } from '../../../manage/operate/user-sign-in.ts'
import type { World } from '../../../world/world.ts'
import type { Authenticate } from '../../access/authenticate.ts'
import type { BrowserSession, DashboardAccess } from '../../access/dashboard-access.ts'
import { refuseOtherOrigins } from '../../access/dashboard-access.ts'
import { createFailedAttempts } from '../../access/failed-attempts.ts'
import type { PasswordSignIn } from '../../access/password-sign-in.ts'
import { schemaOf } from '../../install-route.ts'
import type { Documented } from '../../route.ts'
import { literals, timestamp } from '../../schemas.ts'
import { lookForUnknown } from '../../unknown.ts'

/** An environment's id, a dot and the secret. */
const linkLengthMax = 255

export const session = Type.Object(
  {
    environment: Type.Object({ _id: Type.String(), name: Type.String() }, { title: 'SessionEnvironment' }),
    keyName: Type.String({
      description: 'The name in the audit log: the API key, the user, or that a link opened the session.',
    }),
    user: Type.Optional(
      Type.Object(
        {
          _id: Type.String(),
          email: Type.String(),
          name: Type.String(),
          role: literals(userRoles),
          hasPassword: Type.Boolean({ description: 'Or signs in by the identity provider alone.' }),
        },
        { title: 'SessionUser', description: 'Left out where a key or a link opened the session.' },
      ),
    ),
    scopes: Type.Array(literals(scopes)),
    managesUsers: Type.Boolean({ description: 'Whether it may manage users: an owner, or the operator by a link.' }),
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
    email: Type.Optional(Type.String({ minLength: 1, maxLength: emailLengthMax, description: 'Of a user.' })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: passwordLengthMax })),
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
    'With an API key, with a sign-in link (`posthorn dashboard`), or with the e-mail address and password of a user. A link works once, for ten minutes, and only on the machine that runs the service. The response sets a cookie that is valid for 12 hours: for a user one for each environment of the organization, of which the body shows the first. Requires the header `X-Posthorn-Dashboard: *`.',
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
  readonly passwords: PasswordSignIn
}

export function installDashboardSessions(app: FastifyInstance, db: Db, world: World, parts: Parts): void {
  const { access, authenticate, passwords } = parts
  const failed = createFailedAttempts(world.now)

  async function opened(request: FastifyRequest): Promise<readonly OpenedSession[]> {
    const { apiKey, link, email, password } = request.body as Partial<Record<string, string>>
    const ways = [apiKey, link, email].filter((one) => one !== undefined).length
    if (ways !== 1 || (email === undefined) !== (password === undefined)) {
      throw new Problem(422, 'Give either apiKey, or link, or email and password')
    }
    if (email !== undefined && password !== undefined) return passwords.signIn(request.ip, { email, password })
    if (apiKey !== undefined) {
      return [await openSessionByKey(db, world, await authenticate(`ApiKey ${apiKey}`, request.ip))]
    }
    if (!isOnThisMachine(request)) {
      throw new Problem(403, 'Sign-in links work only on the machine that runs the service; sign in with an API key')
    }
    try {
      return [await openSessionByLink(db, world, link ?? '')]
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
      for (const one of made) reply.header('set-cookie', access.cookieFor(one))
      return reply.code(201).send(await shownFirst(access, made))
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
        const close = one.openedBy === 'user' ? closeUserSession : closeSession
        await close(db, world, one.environment, one.sessionId)
        reply.header('set-cookie', access.endedCookieFor(one.environment.id))
      }
      return reply.code(204).send()
    },
  })
}

export async function shownFirst(access: DashboardAccess, [first]: readonly OpenedSession[]) {
  const found = first && (await access.foundFor(first))
  return found && shown(found)
}

function shown({ environment, keyName, scopes, user, expiresAt, ...one }: BrowserSession) {
  const { id: _id, ...rest } = user ?? {}
  return {
    environment: { _id: environment.id, name: environment.name },
    keyName,
    ...(user === undefined ? {} : { user: { _id, ...rest } }),
    scopes,
    managesUsers: one.isOperator === true || user?.role === 'owner',
    expiresAt: expiresAt.toISOString(),
  }
}

/** Checks the connection and the host name: a proxy on the same machine forwards calls from elsewhere. */
function isOnThisMachine({ ip, headers: { host = '' } }: FastifyRequest): boolean {
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : ''
  return isLoopback(ip) && (name === 'localhost' || isLoopback(name.replace(/^\[|\]$/g, '')))
}

function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  return isIP(plain) === 4 ? plain.startsWith('127.') : plain === '::1'
}
