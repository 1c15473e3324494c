// Apple's provider tokens: one per key, shared by all sends with it, since Apple rejects senders that create too many.
// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
import type { World } from '../../world/world.ts'
import { es256Token, p256KeyOf } from './ec-key.ts'
import { heldByWorld } from './held-by-world.ts'

/** Apple refuses one that is older than an hour. */
const lifetimeMs = 50 * 60_000
/** Apple rejects senders that create another sooner. */
export const renewalMsMin = 20 * 60_000

export interface ApnsKey {
  readonly secretKey: string
  readonly apiKey: string
  readonly projectName: string
}

interface ProviderToken {
  readonly value: string
  readonly madeAtMs: number
}

const held = heldByWorld<{ token: ProviderToken }>()

/**
 * Undefined if the key is invalid. Signing takes no time, so no one waits for another's token; `expired` is one that
 * Apple no longer accepts, unless another replaced it in the meantime or it is too young to be renewed.
 */
export function apnsTokenOf(world: World, key: ApnsKey, expired?: string): string | undefined {
  const { secretKey, apiKey, projectName } = key
  const nowMs = world.now().getTime()
  const holder = held<{ readonly mistake: string }>(world, JSON.stringify([secretKey, apiKey, projectName]), () => {
    const token = made(key, nowMs)
    return token === undefined ? { mistake: 'no key' } : { token }
  })
  if ('mistake' in holder) return undefined
  const { token } = holder
  const ageMs = nowMs - token.madeAtMs
  if (ageMs >= lifetimeMs || (expired === token.value && ageMs >= renewalMsMin)) {
    holder.token = made(key, nowMs) ?? token
  }
  return holder.token.value
}

function made({ secretKey, apiKey, projectName }: ApnsKey, nowMs: number): ProviderToken | undefined {
  const key = p256KeyOf(secretKey)
  if (key === undefined) return undefined
  const claims = { iss: projectName, iat: Math.floor(nowMs / 1000) }
  return { value: es256Token(key, { alg: 'ES256', kid: apiKey }, claims), madeAtMs: nowMs }
}
