// API keys: make one, change its limits, replace it by another, revoke it.

import { BlockList, isIP } from 'node:net'
import { audit, auditAll } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, noContent, ok } from '../../domain/answer.ts'
import type { Environment, Scope } from '../../domain/environment.ts'
import type { ApiKey } from '../../domain/operate/api-key.ts'
import { hashOfApiKey, hintOfApiKey, newApiKey } from '../../domain/operate/api-key.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfApiKey } from '../../domain/operate/audit-records.ts'
import { conflict, invalidField, notFound } from '../../domain/problem.ts'
import { parameterTime } from '../../domain/time/timestamp-parameter.ts'
import type { NewApiKey } from '../../store/operate/api-keys.ts'
import {
  endApiKey,
  findReplacement,
  hasOtherFullKey,
  insertApiKey,
  lockApiKey,
  revokeApiKey,
  sealApiKey,
  updateApiKey,
} from '../../store/operate/api-keys.ts'
import { deleteBucketOfKey } from '../../store/operate/rate-limits.ts'
import { addNetwork } from '../../world/outbound/address.ts'
import type { World } from '../../world/world.ts'

export interface NewKey {
  readonly name?: string
  readonly scopes?: readonly Scope[]
  readonly expiresAt?: string
  /** Stores a sealed copy, so that signatures made with the key can be verified. */
  readonly signing?: boolean
  readonly allowedAddresses?: readonly string[]
  readonly ratePerSecond?: number
}

interface Call {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

/** The key is shown only in this response. */
export async function createApiKey(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { key: NewKey },
): Promise<Answer<ApiKey & { key: string }>> {
  const { name = 'API key', scopes = ['full'], signing = false, allowedAddresses, ratePerSecond } = call.key
  throwIfNotAddresses(allowedAddresses ?? [])
  return once(db, world, environment, call.idempotency, async (tx) => {
    const { stored, key } = await addKey(tx, world, environment, {
      name,
      scopes,
      signing,
      limits: { allowedAddresses: allowedAddresses ?? null, ratePerSecond: ratePerSecond ?? null },
      expiresAt: futureOf(call.key.expiresAt, world.now()),
    })
    await audit(tx, world, environment, call.author, {
      ...named(stored),
      action: 'create',
      after: recordOfApiKey(stored),
    })
    return created({ ...stored, key })
  })
}

async function addKey(
  tx: Tx,
  world: World,
  environment: Environment,
  { signing, ...made }: Pick<NewApiKey, 'name' | 'scopes' | 'limits' | 'expiresAt' | 'replaces'> & { signing: boolean },
): Promise<{ stored: ApiKey; key: string }> {
  const now = world.now()
  const key = newApiKey()
  const hash = hashOfApiKey(key)
  const stored = await insertApiKey(tx, environment, {
    ...made,
    id: world.newId(now),
    hash,
    sealedKey: signing ? sealApiKey(world.sealer, environment, { key, hash }) : null,
    hint: hintOfApiKey(key),
    configured: false,
    now,
  })
  if (stored === undefined) throw new Error('A new API key has the hash of an existing one')
  return { stored, key }
}

function futureOf(text: string | undefined, now: Date): Date | null {
  if (text === undefined) return null
  // A leap second fits the format of the schema and is no date to JavaScript.
  const expiresAt = parameterTime(text)
  if (expiresAt === undefined || expiresAt <= now) {
    throw invalidField('expiresAt', 'expiresAt must be in the future', text)
  }
  return expiresAt
}

function throwIfNotAddresses(entries: readonly string[]): void {
  for (const [place, entry] of entries.entries()) {
    if (addNetwork(new BlockList(), entry)) continue
    const field = `allowedAddresses.${place}`
    throw invalidField(field, `${field} must be an address or a network such as 10.1.0.0/16`, entry)
  }
}

export interface KeyChange {
  readonly name?: string
  /** Null for any. */
  readonly allowedAddresses?: readonly string[] | null
  /** Null for none of its own. */
  readonly ratePerSecond?: number | null
}

/** What is not given stays as it is. */
export async function changeApiKey(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { id: string; change: KeyChange },
): Promise<Answer<ApiKey>> {
  const { id, change, author } = call
  throwIfNotAddresses(change.allowedAddresses ?? [])
  if (author.keyId === id && change.allowedAddresses) throwIfLockedOut(change.allowedAddresses, author.address)
  return once(db, world, environment, call.idempotency, async (tx) => {
    const before = await lockApiKey(tx, environment, id)
    if (before === undefined) throw unknownKey(id)
    const after = await updateApiKey(tx, environment, {
      id,
      name: change.name ?? before.name,
      allowedAddresses:
        change.allowedAddresses === undefined ? (before.allowedAddresses ?? null) : change.allowedAddresses,
      ratePerSecond: change.ratePerSecond === undefined ? (before.ratePerSecond ?? null) : change.ratePerSecond,
    })
    if (after === undefined) throw new Error(`The API key ${id} was lost while it was locked`)
    await audit(tx, world, environment, author, {
      ...named(after),
      action: 'change',
      before: recordOfApiKey(before),
      after: recordOfApiKey(after),
    })
    return ok(after)
  })
}

/** Whoever closes a key to themselves by mistake could not open it again. */
function throwIfLockedOut(allowed: readonly string[], address: string): void {
  const list = new BlockList()
  for (const entry of allowed) addNetwork(list, entry)
  const family = isIP(address)
  if (family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')) return
  throw conflict(`This key could not be used from ${address} any more, where this call comes from`)
}

/** How long the old key goes on, unless the call says otherwise. */
const overlapSecondsUsual = 24 * 60 * 60

/** Another key for the same things, at once; the old one goes on for a while, so that its users can be given the new one. */
export async function rotateApiKey(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { id: string; overlapSeconds: number | undefined; expiresAt: string | undefined },
): Promise<Answer<ApiKey & { key: string }>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    const old = await lockApiKey(tx, environment, call.id)
    if (old === undefined) throw unknownKey(call.id)
    await throwIfNotToBeRotated(tx, environment, old, now)
    const { stored, key } = await addKey(tx, world, environment, {
      name: old.name,
      scopes: old.scopes,
      signing: old.signing,
      limits: { allowedAddresses: old.allowedAddresses ?? null, ratePerSecond: old.ratePerSecond ?? null },
      expiresAt: call.expiresAt === undefined ? lifeAgain(old, now) : futureOf(call.expiresAt, now),
      replaces: old._id,
    })
    const endsAt = new Date(now.getTime() + (call.overlapSeconds ?? overlapSecondsUsual) * 1000)
    const ended =
      endsAt > now
        ? await endApiKey(tx, environment, old._id, endsAt)
        : await revokeApiKey(tx, environment, old._id, now)
    if (ended === undefined) throw new Error(`The API key ${old._id} was lost while it was locked`)
    await auditAll(tx, world, environment, call.author, [
      { ...named(stored), action: 'rotate', after: recordOfApiKey(stored) },
      {
        ...named(ended),
        action: 'rotate',
        // That its sealed copy is gone follows from its being revoked.
        before: recordOfApiKey({ ...old, signing: ended.signing }),
        after: recordOfApiKey(ended),
      },
    ])
    return created({ ...stored, key })
  })
}

async function throwIfNotToBeRotated(
  tx: Tx,
  environment: Environment,
  old: ApiKey & { configured: boolean },
  now: Date,
): Promise<void> {
  if (old.configured) {
    throw conflict(
      'This key is set by POSTHORN_API_KEY or POSTHORN_API_KEY_2: give the variable both keys, separated by a blank, and start again',
    )
  }
  if (old.expiresAt !== undefined && new Date(old.expiresAt) <= now) {
    throw conflict('This key has expired; make a new one')
  }
  const replacement = await findReplacement(tx, environment, old._id)
  if (replacement !== undefined) throw conflict(`This key was replaced already, by ${replacement}`)
}

/** A key that was made for a time is replaced by one for as long a time. */
function lifeAgain({ createdAt, expiresAt }: ApiKey, now: Date): Date | null {
  return expiresAt === undefined ? null : new Date(now.getTime() + Date.parse(expiresAt) - Date.parse(createdAt))
}

const unknownKey = (id: string) => notFound(`API key ${id} not found`)

export async function removeApiKey(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { id: string },
): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const revoked = await revokeApiKey(tx, environment, call.id, world.now())
    if (revoked === undefined) throw unknownKey(call.id)
    if (revoked.scopes.includes('full') && !(await hasOtherFullKey(tx, environment, call.id, world.now()))) {
      throw conflict('This is the last key with the scope full in its environment; create another one first')
    }
    await deleteBucketOfKey(tx, environment, call.id)
    const { revokedAt: _now, ...before } = revoked
    await audit(tx, world, environment, call.author, {
      ...named(revoked),
      action: 'revoke',
      before: recordOfApiKey(before),
      after: recordOfApiKey(revoked),
    })
    return noContent
  })
}

const named = ({ _id, name }: ApiKey) => ({ kind: 'api-key', id: _id, name }) as const
