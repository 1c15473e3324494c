// The inbox of one subscriber: who reads it, and the rules of a session.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Credentials } from '../delivery/integration.ts'
import type { Environment } from '../environment.ts'

/** One subscriber's inbox, or the part of it that belongs to some contexts. */
export interface Inbox {
  readonly environment: Environment
  /** The subscriber's internal id. */
  readonly id: string
  /** `type:id`, sorted: only messages with exactly these. Undefined: whatever their contexts. */
  readonly contextKeys: readonly string[] | undefined
}

/** The subscriber whom a session lets in, and the contexts it was opened for. */
export interface Reader extends Inbox {
  readonly subscriberId: string
  /** `type:id`, sorted. Only messages with exactly these are seen. */
  readonly contextKeys: readonly string[]
}

/** The largest number that a count says. */
export const inboxCountMax = 100

/** A count accepts at most this many filters. */
export const filtersPerCountMax = 30

/**
 * Whether a session needs a `subscriberHash`. In Production anyone could otherwise open anyone's inbox: there it takes
 * an explicit `hmac: false` on every in-app integration; in Development, an explicit `hmac: true` on one.
 */
export function needsSubscriberHash(environment: Environment, inApp: readonly { credentials: Credentials }[]): boolean {
  const said = inApp.map(({ credentials }) => credentials['hmac'])
  return isDevelopment(environment) ? said.includes(true) : !said.every((word) => word === false)
}

/** Whose inbox a session without identifiers opens; public clients know it by this name. */
export const demoSubscriberId = 'keyless-subscriber-id'
/** Public clients keep an identifier that begins so for their next visit. */
export const demoIdentifierPrefix = 'pk_keyless_'

export const isDevelopment = (environment: Environment): boolean => environment.name === 'Development'

/** Whether the hash is the lower-case hex HMAC-SHA256 of the text under one of the keys. */
export function isSignedByOne(keys: readonly string[], text: string, hash: string): boolean {
  const given = Buffer.from(hash)
  return keys.some((key) => {
    const expected = Buffer.from(createHmac('sha256', key).update(text).digest('hex'))
    return expected.length === given.length && timingSafeEqual(expected, given)
  })
}

/**
 * The text that a context's hash covers: keys sorted, no spaces, and in strings only quotes and backslashes escaped
 * (https://wiki.laptop.org/go/Canonical_JSON). Undefined for what has no such text: fractions, and what is not JSON.
 */
export function signedText(value: unknown): string | undefined {
  if (typeof value === 'string') return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  if (typeof value === 'boolean' || value === null || Number.isInteger(value)) return JSON.stringify(value)
  if (typeof value !== 'object') return undefined
  if (Array.isArray(value)) return bracketed('[', value.map(signedText), ']')
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => {
      const text = signedText(member)
      return text && `${signedText(name)}:${text}`
    })
  return bracketed('{', members, '}')
}

function bracketed(open: string, parts: readonly (string | undefined)[], close: string): string | undefined {
  return parts.includes(undefined) ? undefined : `${open}${parts.join(',')}${close}`
}
