// Authentication: `Authorization: ApiKey <key>` becomes a Caller.

import type { Sql } from '../db/sql.ts'
import { hashOfApiKey } from '../domain/api-key.ts'
import type { Caller } from '../domain/environment.ts'
import { Problem } from '../domain/problem.ts'
import { findCaller } from '../store/api-keys.ts'
import type { World } from '../world/world.ts'

/**
 * How long a key is trusted without asking the database again. A revoked key must stop within a second on every node;
 * one look-up a key and second costs less than a cache that has to be told, and it cannot miss the message.
 */
const trustedForMs = 900
/** Far more keys than an installation has in use; beyond it the oldest are looked up again. */
const cachedKeysMax = 10_000
/** No key is longer; a longer one is not even hashed. */
const keyLengthMax = 255

interface Trusted {
  readonly until: number
  readonly caller: Promise<Awaited<ReturnType<typeof findCaller>>>
}

export type Authenticate = (authorization: string | undefined) => Promise<Caller>

export function createAuthenticate(db: Sql, world: World): Authenticate {
  const trusted = new Map<string, Trusted>()

  function lookUp(hash: Buffer): Trusted['caller'] {
    const name = hash.toString('base64')
    const now = world.now().getTime()
    const known = trusted.get(name)
    if (known !== undefined && known.until > now) return known.caller
    const caller = findCaller(db, hash)
    trusted.delete(name)
    trusted.set(name, { until: now + trustedForMs, caller })
    const oldest = trusted.keys().next().value
    if (trusted.size > cachedKeysMax && oldest !== undefined) trusted.delete(oldest)
    // Neither a failed look-up nor an unknown key is worth remembering: the next call asks again.
    caller.then(
      (found) => found ?? trusted.delete(name),
      () => trusted.delete(name),
    )
    return caller
  }

  return async (authorization) => {
    const key = keyOf(authorization)
    const found = await lookUp(hashOfApiKey(key))
    if (found === undefined || (found.expiresAt !== null && found.expiresAt <= world.now())) {
      throw unauthorized('API Key not found')
    }
    return found
  }
}

function keyOf(authorization: string | undefined): string {
  if (authorization === undefined) throw unauthorized('Missing authorization header')
  const [scheme = '', ...rest] = authorization.split(' ')
  if (scheme !== 'ApiKey' && scheme !== 'Bearer') throw unauthorized(`Invalid authentication scheme: "${scheme}"`)
  const key = rest.join(' ').trim()
  if (scheme === 'Bearer' || key === '') throw unauthorized('Unauthorized')
  if (key.length > keyLengthMax) throw unauthorized('API Key not found')
  return key
}

function unauthorized(message: string): Problem {
  return new Problem(401, message, { headers: { 'www-authenticate': 'ApiKey' } })
}
