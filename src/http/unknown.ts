// Looks for what a call contains and its route does not know: members of its body, parameters of its query.
import type { preValidationHookHandler } from 'fastify'
import type { Warning } from '../domain/answer.ts'
import { nearMiss } from '../domain/nearest.ts'
import { unknownMembersOf } from '../domain/unknown-members.ts'
import type { Documented } from './route.ts'
import { refuseUnknown, unknownMemberWarning, warn } from './warnings.ts'

/** Before anything is validated: a name that is missing may be one that was misspelt. */
export function lookForUnknown(route: Documented, then: 'warn' | 'refuse'): preValidationHookHandler {
  const parametersOf = unknownParametersOf(route)
  const { body } = route
  if (body === undefined) {
    return (request, reply, done) => {
      warn(request, reply, parametersOf(request.query))
      done()
    }
  }
  const passes = route.method === 'POST' ? isOfClients : isOfAnswers
  const membersOf = unknownMembersOf(() => route.memberSchema?.() ?? route.shownBody ?? body, passes)
  return (request, reply, done) => {
    warn(request, reply, parametersOf(request.query))
    const members = membersOf(request.body)
    if (members.length > 0) {
      if (then === 'refuse') refuseUnknown(members)
      request.unknownMembers = members
      warn(request, reply, members.map(unknownMemberWarning))
    }
    done()
  }
}

/** Public clients say in this where a resource was made; nothing is expected to come of it. */
const isOfClients = (name: string): boolean => name === '__source'

const bookkeeping = new Set(['createdAt', 'updatedAt', 'deleted', 'deletedAt', 'deletedBy'])

/** Who changes a resource may send it as it was read: ids and times of our own are not for the caller to set. */
const isOfAnswers = (name: string): boolean => name.startsWith('_') || bookkeeping.has(name)

const none: readonly Warning[] = []

/**
 * Parameters are never refused: proxies and browsers add their own. But none of them reaches what reads the query, where
 * one may mean something: `orderBy` for a list that has a single order.
 */
function unknownParametersOf({ query }: Documented): (given: unknown) => readonly Warning[] {
  const names = Object.keys((query as { properties?: object } | undefined)?.properties ?? {})
  const known = new Set(names)
  // Those that refuse what they do not know have to see it.
  const isStrict = (query as { additionalProperties?: unknown } | undefined)?.additionalProperties === false
  return (given) => {
    let found: Warning[] | undefined
    for (const name in given as object) {
      if (known.has(name)) continue
      const nearest = nearMiss(name, names)
      found ??= []
      found.push({ code: 'unknown-parameter', name, ...(nearest === undefined ? {} : { nearest }) })
      if (!isStrict) delete (given as Record<string, unknown>)[name]
    }
    return found ?? none
  }
}
