// MessageBird's signature of a call: a JWT that holds the hash of the address and of the body.
// https://developers.messagebird.com/api/#verifying-http-requests
import { createHash, createHmac } from 'node:crypto'
import type { InboundCall } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { readingOfJson } from '../reading.ts'
import { isSame } from '../signing/signing.ts'

/** The header names one; any other, above all `none`, is rejected. */
const digests: ReadonlyMap<string, string> = new Map([
  ['HS256', 'sha256'],
  ['HS384', 'sha384'],
  ['HS512', 'sha512'],
])
/** How far MessageBird's clock and ours may be apart. */
const toleranceSeconds = 5

export function isSignedByMessagebird(call: InboundCall, key: string, now: Date): boolean {
  const [header = '', payload = '', signature = '', ...more] = (call.headers['messagebird-signature-jwt'] ?? '').split(
    '.',
  )
  const digest = digests.get(decoded(header).string('alg') ?? '')
  if (key === '' || digest === undefined || more.length > 0) return false
  const expected = createHmac(digest, key).update(`${header}.${payload}`).digest('base64url')
  return isSame(signature, expected) && isOfCall(decoded(payload), call, now)
}

function isOfCall(claims: Reading, { url, body }: InboundCall, now: Date): boolean {
  const seconds = now.getTime() / 1000
  const begins = claims.number('nbf') ?? 0
  const ends = claims.number('exp') ?? 0
  const isCurrent = seconds >= begins - toleranceSeconds && seconds <= ends + toleranceSeconds
  const hash = claims.string('payload_hash')
  const isOfBody = body.length === 0 ? hash === undefined : hash !== undefined && isSame(hash, sha256(body))
  const isOfAddress = isSame(claims.string('url_hash') ?? '', sha256(url))
  return isCurrent && claims.string('iss') === 'MessageBird' && isOfAddress && isOfBody
}

const decoded = (part: string): Reading => readingOfJson(Buffer.from(part, 'base64url').toString('utf8'))

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
