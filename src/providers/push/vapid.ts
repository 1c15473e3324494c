// VAPID: how a push service identifies the sender, by a token that is signed for its origin.
// https://www.rfc-editor.org/rfc/rfc8292
import type { KeyObject } from 'node:crypto'
import { createECDH, createPrivateKey } from 'node:crypto'
import type { World } from '../../world/world.ts'
import { es256Token } from './ec-key.ts'
import { heldByWorld } from './held-by-world.ts'

/** Push services refuse a token that lasts longer than a day; half of it leaves room for clocks that differ. */
const lifetimeMs = 12 * 3_600_000
/** A token is used while this much of it is left. */
const renewBeforeMs = 3_600_000
const privateKeyBytes = 32

export interface VapidKeys {
  /** The point of the public key in base64url, as browsers are given it. */
  readonly apiKey: string
  /** The number of the private key in base64url. */
  readonly secretKey: string
  /** An address by which whoever runs the push service reaches the sender. */
  readonly from: string
}

interface Key {
  readonly privateKey: KeyObject
  readonly publicKey: string
}

/** The pair of a private key, or nothing if it is invalid. */
export function vapidKeyOf(secretKey: string): Key | undefined {
  const number = Buffer.from(secretKey, 'base64url')
  if (!/^[\w+/=-]+$/.test(secretKey) || number.length !== privateKeyBytes) return undefined
  try {
    const pair = createECDH('prime256v1')
    pair.setPrivateKey(number)
    const point = pair.getPublicKey()
    const [x, y] = [point.subarray(1, 33), point.subarray(33)]
    const d = number.toString('base64url')
    const jwk = { kty: 'EC', crv: 'P-256', d, x: x.toString('base64url'), y: y.toString('base64url') }
    return { privateKey: createPrivateKey({ key: jwk, format: 'jwk' }), publicKey: point.toString('base64url') }
  } catch {
    return undefined
  }
}

/** What is wrong with the pair, in words. */
export function mistakeOfPair({ apiKey, secretKey }: VapidKeys): string | undefined {
  const key = vapidKeyOf(secretKey)
  if (key === undefined) return 'credentials.secretKey is not a VAPID private key'
  const isPair = Buffer.from(apiKey, 'base64url').toString('base64url') === key.publicKey
  return isPair ? undefined : 'credentials.apiKey is not the public key of credentials.secretKey'
}

const held = heldByWorld<{ header: string; endsAtMs: number }>()

/** The Authorization header for one push service, made once and used while it lasts. */
export function vapidHeader(world: World, keys: VapidKeys, endpoint: URL): string | { readonly mistake: string } {
  const nowMs = world.now().getTime()
  const name = JSON.stringify([endpoint.origin, keys.apiKey, keys.secretKey, keys.from])
  const holder = held<{ readonly mistake: string }>(world, name, () => made(keys, endpoint.origin, nowMs))
  if ('mistake' in holder) return holder
  if (holder.endsAtMs - nowMs < renewBeforeMs) {
    const fresh = made(keys, endpoint.origin, nowMs)
    if (!('mistake' in fresh)) Object.assign(holder, fresh)
  }
  return holder.header
}

function made(
  keys: VapidKeys,
  origin: string,
  nowMs: number,
): { header: string; endsAtMs: number } | { readonly mistake: string } {
  const mistake = mistakeOfPair(keys)
  const key = vapidKeyOf(keys.secretKey)
  if (mistake !== undefined || key === undefined) return { mistake: mistake ?? '' }
  const endsAtMs = nowMs + lifetimeMs
  const claims = { aud: origin, exp: Math.floor(endsAtMs / 1000), sub: subjectOf(keys.from) }
  const token = es256Token(key.privateKey, { typ: 'JWT', alg: 'ES256' }, claims)
  return { header: `vapid t=${token}, k=${key.publicKey}`, endsAtMs }
}

/** `https://…` and `mailto:…` as they are; anything else is an e-mail address. */
function subjectOf(contact: string): string {
  return /^(https|mailto):/.test(contact) ? contact : `mailto:${contact}`
}
