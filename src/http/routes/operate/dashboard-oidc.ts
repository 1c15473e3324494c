// Signing in by the identity provider: the browser is sent there, and comes back. Pages, not calls: each answer is another address.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../../db/sql.ts'
import { signInPath } from '../../../domain/operate/dashboard-session.ts'
import { Problem } from '../../../domain/problem.ts'
import type { OidcOptions } from '../../../manage/operate/oidc.ts'
import { createOidcSignIn, SignInRefused, stateLifeMs } from '../../../manage/operate/oidc.ts'
import type { World } from '../../../world/world.ts'
import type { DashboardAccess } from '../../access/dashboard-access.ts'
import { createFailedAttempts } from '../../access/failed-attempts.ts'
import { basePathOf } from '../../base-path.ts'

export interface OidcProvider extends Omit<OidcOptions, 'redirectUri'> {
  /** What the sign-in page calls it. */
  readonly name: string
}

const path = '/v1/dashboard/oidc'
const cookieName = 'posthorn_oidc'
/** A page of our own: whoever made a link must not send people elsewhere. */
const ownPage = /^\/[a-z0-9-]+(?:[/?#][^\\]*)?$/i
const pageLengthMax = 500

interface Parts {
  readonly access: DashboardAccess
  readonly oidc: OidcProvider
  readonly baseUrl: string
}

export function installDashboardOidc(app: FastifyInstance, db: Db, world: World, parts: Parts): void {
  const { access, oidc, baseUrl } = parts
  const basePath = basePathOf(baseUrl)
  const home = baseUrl.replace(/\/$/, '')
  const signIn = createOidcSignIn(db, world, { ...oidc, redirectUri: `${home}${path}/callback` })
  const failed = createFailedAttempts(world.now)
  // Not Strict: the browser comes back from another site. It opens nothing by itself, and goes nowhere else.
  const attributes = `Path=${basePath}${path.slice(1)}; HttpOnly; SameSite=Lax${baseUrl.startsWith('https:') ? '; Secure' : ''}`
  const ended = `${cookieName}=; Max-Age=0; ${attributes}`

  /** To the sign-in page, which has a sentence for each reason. What the provider said is in the log. */
  function refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
    const reason = error instanceof SignInRefused ? error.reason : 'provider'
    world.log.warn({ reason, error: (error as Error).message, requestId: request.id }, 'A sign-in by OIDC was refused')
    return reply.header('set-cookie', ended).redirect(`${basePath}${signInPath.slice(1)}?error=${reason}`, 302)
  }

  /** A Problem is answered as one; everything else is a refusal that counts against the address. */
  async function attempt(request: FastifyRequest, reply: FastifyReply, work: () => Promise<FastifyReply>) {
    failed.throwIfSpent(request.ip)
    try {
      return await work()
    } catch (error) {
      if (error instanceof Problem && error.status !== 401) throw error
      failed.count(request.ip)
      return refuse(request, reply, error)
    }
  }

  app.get<{ Querystring: { to?: unknown } }>(`${path}/start`, (request, reply) =>
    attempt(request, reply, async () => {
      const { to } = request.query
      const isOurs = typeof to === 'string' && to.length <= pageLengthMax && ownPage.test(to)
      const { url, cookie } = await signIn.begin(isOurs ? to : '/')
      reply.header('set-cookie', `${cookieName}=${cookie}; Max-Age=${stateLifeMs / 1_000}; ${attributes}`)
      return reply.redirect(url, 302)
    }),
  )
  app.get(`${path}/callback`, (request, reply) =>
    attempt(request, reply, async () => {
      const at = request.url.indexOf('?')
      const caller = { address: request.ip, requestId: request.id }
      const query = at === -1 ? '' : request.url.slice(at)
      const { sessions, to } = await signIn.finish(query, cookieOf(request), caller)
      reply.header('set-cookie', ended)
      for (const one of sessions) reply.header('set-cookie', access.cookieFor(one))
      return reply.redirect(`${basePath}${to.slice(1)}`, 302)
    }),
  )
}

function cookieOf({ headers: { cookie = '' } }: FastifyRequest): string {
  const found = cookie
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${cookieName}=`))
  return found?.slice(cookieName.length + 1) ?? ''
}
