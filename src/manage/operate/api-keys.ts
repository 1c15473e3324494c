// API keys: make one, revoke one.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, noContent } from '../../domain/answer.ts'
import type { Environment, Scope } from '../../domain/environment.ts'
import type { ApiKey } from '../../domain/operate/api-key.ts'
import { hashOfApiKey, hintOfApiKey, newApiKey } from '../../domain/operate/api-key.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfApiKey } from '../../domain/operate/audit-records.ts'
import { conflict, invalidField, notFound } from '../../domain/problem.ts'
import { hasOtherFullKey, insertApiKey, revokeApiKey, sealApiKey } from '../../store/operate/api-keys.ts'
import type { World } from '../../world/world.ts'

export interface NewKey {
  readonly name?: string
  readonly scopes?: readonly Scope[]
  readonly expiresAt?: string
  /** Stores a sealed copy, so that signatures made with the key can be verified. */
  readonly signing?: boolean
}

/** The key is shown only in this response. */
export async function createApiKey(
  db: Db,
  world: World,
  environment: Environment,
  call: { key: NewKey; author: Author; idempotency: Idempotency | undefined },
): Promise<Answer<ApiKey & { key: string }>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    const expiresAt = call.key.expiresAt === undefined ? null : new Date(call.key.expiresAt)
    // Turned round, because a leap second fits the format and is yet no date to JavaScript.
    if (expiresAt !== null && !(expiresAt > now)) {
      throw invalidField('expiresAt', 'expiresAt must be in the future', call.key.expiresAt)
    }
    const key = newApiKey()
    const hash = hashOfApiKey(key)
    const stored = await insertApiKey(tx, environment, {
      id: world.newId(now),
      hash,
      sealedKey: call.key.signing === true ? sealApiKey(world.sealer, environment, { key, hash }) : null,
      name: call.key.name ?? 'API key',
      hint: hintOfApiKey(key),
      scopes: call.key.scopes ?? ['full'],
      configured: false,
      expiresAt,
      now,
    })
    if (stored === undefined) throw new Error('A new API key has the hash of an existing one')
    await audit(tx, world, environment, call.author, {
      ...named(stored),
      action: 'create',
      after: recordOfApiKey(stored),
    })
    return created({ ...stored, key })
  })
}

export async function removeApiKey(
  db: Db,
  world: World,
  environment: Environment,
  call: { id: string; author: Author; idempotency: Idempotency | undefined },
): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const revoked = await revokeApiKey(tx, environment, call.id, world.now())
    if (revoked === undefined) throw notFound(`API key ${call.id} not found`)
    if (revoked.scopes.includes('full') && !(await hasOtherFullKey(tx, environment, call.id, world.now()))) {
      throw conflict('This is the last key with the scope full in its environment; create another one first')
    }
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
