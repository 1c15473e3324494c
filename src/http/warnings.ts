// Posthorn-Warnings: what a call contained that was not understood, or was understood in another way than written.
// A list as of RFC 9651: `unknown-member;path="overrides.emial";nearest="email", more;count=3`.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Warning } from '../domain/answer.ts'
import type { FieldErrors } from '../domain/problem.ts'
import { invalid } from '../domain/problem.ts'
import type { UnknownMember } from '../domain/unknown-members.ts'

export const warningsHeader = 'posthorn-warnings'

/** Proxies accept 4 KB and more for all headers together. */
const warningsMax = 10
const textLengthMax = 100

declare module 'fastify' {
  interface FastifyRequest {
    warnings: readonly Warning[] | undefined
    /** Of the body, as far as its route does not check its parts separately. */
    unknownMembers: readonly UnknownMember[] | undefined
  }
}

export function installWarnings(app: FastifyInstance): void {
  app.decorateRequest('warnings', undefined)
  app.decorateRequest('unknownMembers', undefined)
}

/** On whatever answer the call gets. */
export function warn(request: FastifyRequest, reply: FastifyReply, more: readonly Warning[]): void {
  if (more.length === 0) return
  request.warnings = [...(request.warnings ?? []), ...more]
  reply.header(warningsHeader, headerOf(request.warnings))
}

export function headerOf(warnings: readonly Warning[]): string {
  const shown = warnings.slice(0, warningsMax).map(({ code, ...about }) => {
    const parameters = Object.entries(about).map(([name, value]) => `;${name}=${quoted(value)}`)
    return `${code}${parameters.join('')}`
  })
  const unshown = warnings.length - shown.length
  return [...shown, ...(unshown > 0 ? [`more;count=${unshown}`] : [])].join(', ')
}

/** Printable ASCII as it is; everything else, and `%`, percent-encoded. */
function quoted(text: string): string {
  const short = text.length <= textLengthMax ? text : `${text.slice(0, textLengthMax)}...`
  const safe = short.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/gu, encodeURIComponent)
  return `"${safe.replace(/["\\]/g, '\\$&')}"`
}

export const unknownMemberWarning = (member: UnknownMember): Warning => ({ code: 'unknown-member', ...member })

/** As the activity shows it. */
export function unknownMemberWords({ path, nearest }: UnknownMember): string {
  const shown = path.length <= textLengthMax ? path : `${path.slice(0, textLengthMax)}…`
  const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`
  return `${shown.toWellFormed().replaceAll('\u0000', '\uFFFD')} is not a known member and was ignored${meant}`
}

/** Where unknown members are refused. */
export function refuseUnknown(members: readonly UnknownMember[]): void {
  if (members.length === 0) return
  // Without a prototype: a member may be called `constructor`.
  const errors: FieldErrors = Object.create(null)
  for (const member of members) errors[member.path] = { messages: [refusalOf(member)] }
  throw invalid(errors)
}

export function refusalOf({ path, nearest }: UnknownMember): string {
  return `${path} is not a known field${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
}
