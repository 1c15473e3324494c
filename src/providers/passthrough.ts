// A passthrough: what a caller adds to the request of one provider, merged into it after the provider made it.
import type { Outcome } from '../domain/delivery/outcome.ts'
import { refused } from '../domain/delivery/outcome.ts'
import type { Fields } from '../domain/merged.ts'
import { isFields, merged } from '../domain/merged.ts'
import type { Passthrough } from '../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../world/world.ts'
import type { FormPart } from './multipart.ts'
import { multipart } from './multipart.ts'

/** A vendor's request is a few kilobytes; additional settings have no reason to be larger. */
const passthroughBytesMax = 64 * 1024
/** Deeper than any vendor's settings, and shallow enough to be walked by recursion. */
const depthMax = 20
/** Many servers accept no more than a hundred headers, and 8 KiB per line. */
const entriesMax = 50
const entryLengthMax = 4_096
/** What the connection, the account or the signature decides. */
const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'authorization',
  'proxy-authorization',
  'idempotency-key',
  'x-posthorn-signature',
])
/**
 * The headers of a provider's request that do not identify us. The content type is not one of them: a body parsed
 * differently than it was written may name other recipients.
 */
const replaceable: ReadonlySet<string> = new Set(['accept', 'user-agent'])

/**
 * The request with what the caller adds, or a rejection that says what is wrong with it; values are never shown.
 * `recipientMembers`: paths in the body that determine the recipient, to which a caller may not add.
 */
export function withPassthrough(
  request: OutboundRequest,
  given: Passthrough | undefined,
  recipientMembers: readonly string[],
): OutboundRequest | Outcome {
  if (given === undefined) return request
  const mistake = mistakeOf(request.headers, given, recipientMembers)
  if (mistake !== undefined) return refused('bad-content', mistake)
  const body = mergedBody(request, given.body ?? {})
  if ('mistake' in body) return refused('bad-content', body.mistake)
  return { ...withHeadersAndQuery(request, given), ...body }
}

/** The same for a form with files, which is written now. */
export function withFormPassthrough(
  { parts, ...request }: Omit<OutboundRequest, 'body'> & { readonly parts: readonly FormPart[] },
  given: Passthrough | undefined,
  recipientMembers: readonly string[],
  messageId: string,
): OutboundRequest | Outcome {
  const mistake = given && mistakeOf(request.headers, given, recipientMembers)
  if (mistake !== undefined) return refused('bad-content', mistake)
  const added = Object.entries(given?.body ?? {})
  const strange = added.find(([, value]) => !listedScalars(value))
  if (strange !== undefined) return refused('bad-content', mistakeOfMember(strange[0]))
  const kept = parts.filter(({ name }) => !added.some(([other]) => other === name))
  const further = added.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): FormPart => ({ name, value: String(one) })),
  )
  const { body, contentType } = multipart([...kept, ...further], `posthorn-${messageId}`)
  const made = given === undefined ? request : withHeadersAndQuery(request, given)
  return { ...made, headers: { ...made.headers, 'content-type': contentType }, body }
}

function mistakeOf(
  headers: OutboundRequest['headers'],
  given: Passthrough,
  recipientMembers: readonly string[],
): string | undefined {
  return (
    mistakeOfShape(given) ??
    mistakeOfHeaders(headers, given.headers ?? {}) ??
    mistakeOfRecipients(given, recipientMembers)
  )
}

function withHeadersAndQuery(request: OutboundRequest, { headers = {}, query = {} }: Passthrough): OutboundRequest {
  return {
    ...request,
    url: withQuery(request.url, query),
    headers: { ...lowerCased(request.headers), ...lowerCased(headers) },
  }
}

function mistakeOfShape(given: unknown): string | undefined {
  if (!isFields(given)) return 'A passthrough must be an object with body, headers or query'
  for (const member of ['body', 'headers', 'query']) {
    const value = given[member]
    if (value !== undefined && !isFields(value)) return `The ${member} of a passthrough must be an object`
  }
  if (isDeeperThan(given, depthMax)) return `A passthrough must not be nested more than ${depthMax} levels deep`
  if (Buffer.byteLength(JSON.stringify(given)) > passthroughBytesMax) {
    return `A passthrough must not be larger than ${passthroughBytesMax} bytes`
  }
  return mistakeInEntries('header', given['headers']) ?? mistakeInEntries('query parameter', given['query'])
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((member) => isDeeperThan(member, depth - 1))
}

function mistakeInEntries(what: string, given: unknown): string | undefined {
  const entries = isFields(given) ? Object.entries(given) : []
  if (entries.length > entriesMax) return `A passthrough must not have more than ${entriesMax} ${what}s`
  for (const [name, value] of entries) {
    if (name === '' || name.length > entryLengthMax)
      return `The name of a passthrough ${what} must not be empty or too long`
    if (!isScalar(value) || String(value).length > entryLengthMax) {
      return `The passthrough ${what} ${shown(name)} must be a string of at most ${entryLengthMax} characters`
    }
  }
  return undefined
}

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

const shown = (name: string): string => JSON.stringify(name.slice(0, 100))

function mistakeOfHeaders(own: OutboundRequest['headers'], given: Fields): string | undefined {
  const ours = lowerCased(own)
  for (const [name, value] of Object.entries(given)) {
    const lowerName = name.toLowerCase()
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/.test(lowerName) || !/^[\t\x20-\x7e]*$/.test(String(value))) {
      return `The passthrough header ${shown(name)} must be a header name with an ASCII value`
    }
    if (ownHeaders.has(lowerName) || (Object.hasOwn(ours, lowerName) && !replaceable.has(lowerName))) {
      return `The passthrough header ${shown(name)} cannot be set: it is determined by the integration`
    }
  }
  return undefined
}

function mistakeOfRecipients({ body = {}, query = {} }: Passthrough, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const inBody = givenAt(body, path.split('.'))
    if (inBody !== undefined) return `The passthrough field ${shown(inBody)} ${decidedByMessage}`
    // Many vendors read a parameter wherever it appears.
    const inQuery = Object.keys(query).find((name) => comparedName(name) === path.toLowerCase())
    if (inQuery !== undefined) return `The passthrough query parameter ${shown(inQuery)} ${decidedByMessage}`
  }
  return undefined
}

const decidedByMessage = 'cannot be set: the message determines its recipient'

/** `to`, `TO` and `To[]` are the same field to some vendors. */
const comparedName = (name: string): string => name.replace(/\[.*$/s, '').trim().toLowerCase()

/** The path as given, if it exists; what replaces a field above it replaces it too. */
function givenAt(given: Fields, [first = '', ...rest]: readonly string[]): string | undefined {
  for (const [name, value] of Object.entries(given)) {
    if (comparedName(name) !== first.toLowerCase()) continue
    if (rest.length === 0 || !isFields(value)) return name
    const deeper = givenAt(value, rest)
    if (deeper !== undefined) return `${name}.${deeper}`
  }
  return undefined
}

function lowerCased(headers: Fields): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
}

function withQuery(url: string, given: Fields): string {
  const added = new URLSearchParams(
    Object.entries(given).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  if (added === '') return url
  const address = new URL(url)
  // Written out: what is already there keeps its encoding.
  address.search = address.search === '' ? added : `${address.search}&${added}`
  return address.href
}

type MergedBody = { readonly body?: string | Buffer } | { readonly mistake: string }

function mergedBody({ headers, body }: OutboundRequest, given: Fields): MergedBody {
  if (Object.keys(given).length === 0) return {}
  const type = lowerCased(headers)['content-type'] ?? ''
  if (typeof body === 'string' && type.startsWith('application/json')) {
    const own: unknown = JSON.parse(body)
    if (isFields(own)) return { body: JSON.stringify(merged(own, given)) }
    // A list of one, as vendors that take many at once want it.
    const [only, ...others] = Array.isArray(own) ? own : []
    if (isFields(only) && others.length === 0) return { body: JSON.stringify([merged(only, given)]) }
  }
  if (typeof body === 'string' && type.startsWith('application/x-www-form-urlencoded')) return mergedForm(body, given)
  return { mistake: 'The request of this provider has no body to which a passthrough can be added' }
}

function mergedForm(body: string, given: Fields): MergedBody {
  const form = new URLSearchParams(body)
  for (const [name, value] of Object.entries(given)) {
    const values = Array.isArray(value) ? value : [value]
    if (!listedScalars(value)) return { mistake: mistakeOfMember(name) }
    form.delete(name)
    for (const one of values) form.append(name, String(one))
  }
  return { body: form.toString() }
}

const listedScalars = (value: unknown): boolean => (Array.isArray(value) ? value : [value]).every(isScalar)

const mistakeOfMember = (name: string): string =>
  `The passthrough field ${shown(name)} must be a string, or a list of strings`
