// The token of an unsubscribe link: who, of which workflow, in which environment, signed with the environment's secret.
import { createHmac, timingSafeEqual } from 'node:crypto'

export interface Unsubscription {
  readonly environmentId: string
  /** The subscriber's internal id. */
  readonly subscriberId: string
  readonly workflowId: string
}

// Layout: 1 byte version, 16 bytes each of environment, subscriber and workflow, 16 bytes of the signature. It has no end:
// mail is read years later, and a link that has ended is how a subscriber becomes a complaint.
const version = 1
const idBytes = 16
const contentBytes = 1 + 3 * idBytes
/** Half of an HMAC-SHA256, as RFC 2104 allows: 2^128 to guess, and a link that fits on a line. */
const signatureBytes = 16
const tokenBytes = contentBytes + signatureBytes
/** The base64url length of this many bytes. */
const tokenPattern = /^[A-Za-z0-9_-]{87}$/
/** The secret once signed for other purposes too: so the signed text states its purpose. */
const purpose = 'posthorn unsubscribe\n'

export function writeUnsubscribeToken(unsubscription: Unsubscription, secret: Buffer): string {
  const token = unsignedBytes(unsubscription)
  signatureOf(token.subarray(0, contentBytes), secret).copy(token, contentBytes)
  return token.toString('base64url')
}

/** What stored mail holds in its place: as long as the token, and valid for nothing. */
export const unsignedToken = (unsubscription: Unsubscription): string =>
  unsignedBytes(unsubscription).toString('base64url')

const noSignature = '00'.repeat(signatureBytes)

/** Decoded at once: this is done twice for every e-mail. */
function unsignedBytes({ environmentId, subscriberId, workflowId }: Unsubscription): Buffer {
  const ids = `${environmentId}${subscriberId}${workflowId}`.replaceAll('-', '')
  return Buffer.from(`0${version}${ids}${noSignature}`, 'hex')
}

/** The content of a token, before its signature is verified: the environment determines the secret for that. */
export function readUnsubscribeToken(token: string): ReadToken | undefined {
  if (!tokenPattern.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  // Only the canonical encoding: a token that differs from ours in an insignificant bit was still altered.
  if (bytes.length !== tokenBytes || bytes[0] !== version || bytes.toString('base64url') !== token) return undefined
  const content = bytes.subarray(0, contentBytes)
  const idAt = (index: number): string => uuidOf(content.subarray(1 + index * idBytes, 1 + (index + 1) * idBytes))
  return {
    claimed: { environmentId: idAt(0), subscriberId: idAt(1), workflowId: idAt(2) },
    isSignedWith: (secret) => timingSafeEqual(bytes.subarray(contentBytes), signatureOf(content, secret)),
  }
}

export interface ReadToken {
  readonly claimed: Unsubscription
  isSignedWith(secret: Buffer): boolean
}

function signatureOf(content: Buffer, secret: Buffer): Buffer {
  return createHmac('sha256', secret).update(purpose).update(content).digest().subarray(0, signatureBytes)
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/**
 * The base URL of links, if the service is reachable under a URL that e-mails may link to: https, or this machine
 * during development. RFC 8058 requires https, and receivers ignore anything else.
 */
export function linkBaseOf(baseUrl: string | undefined): string | undefined {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return undefined
  const { protocol, hostname, search, hash } = new URL(baseUrl)
  if (search !== '' || hash !== '') return undefined
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname) || hostname.endsWith('.localhost')
  return protocol === 'https:' || (protocol === 'http:' && isLocal) ? baseUrl.replace(/\/+$/, '') : undefined
}

export const unsubscribePath = '/v1/unsubscribe'

export const unsubscribeUrlOf = (base: string, token: string): string => `${base}${unsubscribePath}/${token}`
