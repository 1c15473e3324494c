// How our requests are authenticated, and how incoming calls are verified.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

type HmacAlgorithm = 'md5' | 'sha1' | 'sha256' | 'sha512'

export function basicAuth(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`
}

/** Of the texts one after the other: joined, a long one would be copied. */
export function hmacSha256Hex(secret: string, ...texts: readonly (string | Buffer)[]): string {
  const made = createHmac('sha256', secret)
  for (const text of texts) made.update(text)
  return made.digest('hex')
}

export function hmac(algorithm: HmacAlgorithm, secret: string | Buffer, data: string | Buffer): Buffer {
  return createHmac(algorithm, secret).update(data).digest()
}

/** Whether two texts are the same, in constant time. */
export function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest()
  return timingSafeEqual(digest(given), digest(expected))
}

/** How old a signed request may be, or how far ahead its clock: an older one may be a replay. */
const replayWindowMs = 300_000

/** Whether a timestamp in seconds since 1970 is recent enough to trust what was signed with it. */
export function isRecent(seconds: string | number | undefined, now: Date): boolean {
  const given = typeof seconds === 'number' ? seconds : Number(/^\d{9,11}$/.test(seconds ?? '') ? seconds : Number.NaN)
  return Math.abs(now.getTime() - given * 1000) <= replayWindowMs
}
