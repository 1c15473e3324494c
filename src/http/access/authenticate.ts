// Authentication: `Authorization: ApiKey <key>` becomes a Principal; so does `Bearer <key>`, which many tools can send and nothing else.

import type { BlockList } from 'node:net'
import type { Sql } from '../../db/sql.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Principal } from '../../domain/environment.ts'
import { hashOfApiKey } from '../../domain/operate/api-key.ts'
import { Problem } from '../../domain/problem.ts'
import { isWithin } from '../../domain/time/is-within.ts'
import type { KnownPrincipal } from '../../store/operate/api-keys.ts'
import type { World } from '../../world/world.ts'
import { allowListOf, throwIfElsewhere } from './allowed-addresses.ts'
import { createFailedAttempts } from './failed-attempts.ts'
import { createKeyLookups } from './key-lookups.ts'
import { createKeyUses } from './key-uses.ts'

/**
 * How long a key is trusted without querying the database again. A revoked key must stop within a second on every node;
 * one lookup per key and second costs less than a cache that has to be notified, and it cannot miss the notification.
 */
const trustedForMs = 900
/** Far more keys than an installation has in use; beyond it the oldest are looked up again. */
const cachedKeysMax = 10_000
/** No key is longer; a longer one is not even hashed. */
const keyLengthMax = 255

/** How long an unknown key is cached as such; one that is created in the meantime works half a second later. */
const unknownForMs = 500
/** Separate from the valid ones: a client that makes up keys must not evict those. */
const unknownKeysMax = 10_000

/** What was found of a key, made ready for every call until it is looked up again. */
interface Found {
  readonly principal: KnownPrincipal
  /** Undefined where it may be used from anywhere. */
  readonly allowed: BlockList | undefined
  /** Whether its next use should be written. */
  isUseDue: boolean
}

interface Trusted {
  readonly at: number
  readonly found: Promise<Found | undefined>
}

const unknownKeyFound: Trusted['found'] = Promise.resolve(undefined)

/** `address` is the client address of the request. */
export type Authenticate = (authorization: string | undefined, address: string) => Promise<Principal>

export function createAuthenticate(db: Sql, world: World): Authenticate {
  const trusted = new BoundedMap<string, Trusted>(cachedKeysMax)
  const unknownAt = new BoundedMap<string, number>(unknownKeysMax)
  const find = createKeyLookups(db)
  const failed = createFailedAttempts(world.now)
  const uses = createKeyUses(db, world)

  async function findReady(hash: Buffer): Promise<Found | undefined> {
    const principal = await find(hash)
    if (principal === undefined) return undefined
    return { principal, allowed: allowListOf(principal.allowedAddresses), isUseDue: uses.isDue(principal.lastUsedAt) }
  }

  function lookUp(hash: Buffer): Trusted['found'] {
    const name = hash.toString('base64')
    const now = world.now().getTime()
    const known = trusted.get(name)
    if (known !== undefined && isWithin(known.at, now, trustedForMs)) return known.found
    if (isWithin(unknownAt.get(name), now, unknownForMs)) return unknownKeyFound
    const found = findReady(hash)
    trusted.set(name, { at: now, found })
    found.then(
      (known) => {
        if (known !== undefined) return
        trusted.delete(name)
        unknownAt.set(name, world.now().getTime())
      },
      // A failed lookup is not cached: the next request tries again.
      () => trusted.delete(name),
    )
    return found
  }

  async function principalOf({ key, unknown }: PresentedKey, address: string): Promise<KnownPrincipal> {
    const hash = hashOfApiKey(key)
    const found = await lookUp(hash)
    if (found === undefined || (found.principal.expiresAt !== null && found.principal.expiresAt <= world.now())) {
      throw unauthorized(unknown)
    }
    if (found.allowed !== undefined) throwIfElsewhere(found.allowed, address)
    if (found.isUseDue) {
      found.isUseDue = false
      uses.note(hash)
    }
    return found.principal
  }

  return async (authorization, address) => {
    // Before anything is counted: a header without a key guesses nothing, and its 401 says what is missing. Clients repeat
    // a 429 for as long as they may.
    const presented = presentedKey(authorization)
    try {
      return await principalOf(presented, address)
    } catch (error) {
      if (error instanceof Problem && error.status === 401) failed.count(address)
      throw error
    }
  }
}

/** The response to an unknown key, by its scheme. */
const unknownKey: ReadonlyMap<string, string> = new Map([
  ['ApiKey', 'API Key not found'],
  ['Bearer', 'Unauthorized'],
])

interface PresentedKey {
  readonly key: string
  /** The message if no environment has it. */
  readonly unknown: string
}

/** No part of the header is repeated: a header without a scheme begins with the key. */
function presentedKey(authorization: string | undefined): PresentedKey {
  if (authorization === undefined) throw unauthorized('Missing authorization header')
  const [scheme = '', ...rest] = authorization.split(' ')
  const unknown = unknownKey.get(scheme)
  if (unknown === undefined) {
    throw unauthorized('Invalid authentication scheme: send the header "Authorization: ApiKey <key>"')
  }
  const key = rest.join(' ').trim()
  if (key === '') throw unauthorized('Unauthorized')
  if (key.length > keyLengthMax) throw unauthorized(unknown)
  return { key, unknown }
}

function unauthorized(message: string): Problem {
  return new Problem(401, message, { headers: { 'www-authenticate': 'ApiKey' } })
}
