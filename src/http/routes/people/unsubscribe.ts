// Unsubscribe links: /v1/unsubscribe/{token}. No key: the token is what opens it. Pages, so it is not among the API's routes.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../../db/sql.ts'
import type { Environment } from '../../../domain/environment.ts'
import { isDevelopment } from '../../../domain/messages/inbox.ts'
import type { SigningKeys } from '../../../domain/operate/signing-keys.ts'
import type { Unsubscription } from '../../../domain/preferences/unsubscribe-token.ts'
import { readUnsubscribeToken, unsubscribePath } from '../../../domain/preferences/unsubscribe-token.ts'
import type { Problem } from '../../../domain/problem.ts'
import type { Choices } from '../../../manage/people/unsubscribe.ts'
import { findChoices, saveChoices, unsubscribe } from '../../../manage/people/unsubscribe.ts'
import { createEnvironments } from '../../../run/cache/environments.ts'
import { createSigningSecrets } from '../../../run/cache/signing-secrets.ts'
import type { World } from '../../../world/world.ts'
import { createFewAtOnce } from '../../access/few-at-once.ts'
import { isLocalCall } from '../../access/local-call.ts'
import { pageHeaders } from '../../pages/page.ts'
import {
  deadLinkPage,
  faultPage,
  preferencePage,
  ticksOf,
  tooManyPage,
  unreadFormPage,
} from '../../pages/preference-page.ts'
import { createVisitLimit } from '../../pages/visit-limit.ts'
import { problemOf } from '../../problem-reply.ts'

interface Opened {
  readonly environment: Environment
  readonly unsubscription: Unsubscription
}

/** A form of a dozen boxes. */
const formBytesMax = 16 * 1024
/** RFC 8058, 3.2: as a form, or as one in several parts. */
const formTypes = /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i
const retryAfterSeconds = '60'

/** From `/v1/unsubscribe/{token}`, wherever the service stands. */
const demoInboxLink = '../../demo/inbox'

type Link = { Params: { token: string } }

export async function installUnsubscribe(
  app: FastifyInstance,
  db: Db,
  world: World,
  mayDemo: (isLocal: boolean) => boolean,
): Promise<void> {
  const open = createOpen(db, world)
  const isWithin = createVisitLimit(world)
  // Of Development alone, and for whom it opens: elsewhere the inbox is a part of the customer's own pages.
  const inboxOf = ({ environment }: Opened, { raw }: FastifyRequest): string | undefined =>
    isDevelopment(environment) && mayDemo(isLocalCall(raw)) ? demoInboxLink : undefined
  const answer = async (
    reply: FastifyReply,
    token: string,
    act: (opened: Opened) => Promise<Choices | undefined>,
    done?: 'unsubscribed' | 'saved',
  ): Promise<FastifyReply> => {
    const opened = await open(token)
    if (opened === undefined) return show(reply, 404, deadLinkPage)
    if (!isWithin(token)) return show(reply.header('retry-after', retryAfterSeconds), 429, tooManyPage)
    const choices = await act(opened)
    if (choices === undefined) return show(reply, 404, deadLinkPage)
    return show(reply, 200, preferencePage(choices, done, inboxOf(opened, reply.request)))
  }
  await app.register(async (pages) => {
    pages.addContentTypeParser(formTypes, { parseAs: 'string' }, async (_request: unknown, body: string) => body)
    pages.setErrorHandler((error, request, reply) => {
      const problem = problemOf(error)
      if (problem === undefined) world.log.error({ err: error, requestId: request.id }, 'A page failed')
      return show(reply.headers(problem?.headers ?? {}), problem?.status ?? 500, pageOf(problem))
    })
    pages.get<Link>(`${unsubscribePath}/:token`, (request, reply) =>
      answer(reply, request.params.token, ({ environment, unsubscription }) =>
        findChoices(db, environment, unsubscription),
      ),
    )
    pages.post<Link>(`${unsubscribePath}/:token`, { bodyLimit: formBytesMax }, (request, reply) => {
      const { token } = request.params
      const form = formOf(request.body)
      if (isOneClick(form)) {
        const act = (one: Opened) => unsubscribe(db, world, one.environment, one.unsubscription)
        return answer(reply, token, act, 'unsubscribed')
      }
      const ticks = typeof form === 'string' ? undefined : ticksOf(form)
      if (ticks === undefined) return show(reply, 400, unreadFormPage)
      const act = (one: Opened) => saveChoices(db, world, one.environment, one.unsubscription, ticks)
      return answer(reply, token, act, 'saved')
    })
  })
}

/** Who a token speaks for; undefined unless it was signed with the secret of the environment it names. */
function createOpen(db: Db, world: World): (token: string) => Promise<Opened | undefined> {
  const environments = createEnvironments(db)
  const secrets = createSigningSecrets(world)
  const fewAtOnce = createFewAtOnce()
  return async (token) => {
    const read = readUnsubscribeToken(token)
    if (read === undefined) return undefined
    const { environmentId } = read.claimed
    const isSigned = (keys: SigningKeys): boolean => keys.tokenKeys('unsubscribe').some((key) => read.isSignedWith(key))
    return fewAtOnce(async () => {
      const environment = (await environments.of([environmentId])).get(environmentId)
      if (environment === undefined) return undefined
      // Another node may have signed it with a key that is new.
      if (!isSigned(await secrets.of(db, environment)) && !isSigned(await secrets.renewed(db, environment)))
        return undefined
      return { environment, unsubscription: read.claimed }
    })
  }
}

/** The fields of a form; the text of one in several parts, of which only one field is of interest. */
function formOf(body: unknown): URLSearchParams | string {
  if (typeof body !== 'string') return ''
  return body.trimStart().startsWith('--') ? body : new URLSearchParams(body)
}

/** The exact value: a form with anything else unsubscribes no one. */
function isOneClick(form: URLSearchParams | string): boolean {
  const said = typeof form === 'string' ? partOf(form, 'List-Unsubscribe') : form.get('List-Unsubscribe')
  return said?.toLowerCase() === 'one-click'
}

/** The one line of a part: after its headers and the empty line. */
function partOf(form: string, name: string): string | undefined {
  const lines = form.split(/\r?\n/)
  const head = lines.findIndex((line) => /^content-disposition:/i.test(line) && line.includes(`name="${name}"`))
  const gap = head === -1 ? -1 : lines.indexOf('', head)
  return gap === -1 ? undefined : lines[gap + 1]?.trim()
}

function pageOf(problem: Problem | undefined): string {
  if (problem === undefined || problem.status >= 500) return faultPage
  return unreadFormPage
}

function show(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).headers(pageHeaders).send(text)
}
