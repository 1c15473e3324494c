// Who reads the secrets of integrations: nobody, where the operator says so; else each key's first look in an hour is audited.

import type { Db } from '../db/sql.ts'
import type { Answer } from '../domain/answer.ts'
import type { Author } from '../domain/audit.ts'
import type { Caller } from '../domain/environment.ts'
import { mayUse } from '../domain/environment.ts'
import type { Integration } from '../domain/integration.ts'
import { auditSecretReads } from '../manage/secret-reads.ts'
import { holdsSecrets, withHiddenSecrets } from '../read/integrations.ts'
import type { World } from '../world/world.ts'

export interface SecretReaders {
  /** What the caller is shown of integrations that it asked for. */
  read(caller: Caller, author: Author, integrations: readonly Integration[]): Promise<Integration[]>
  /** What the caller is shown of integrations that it changed: it knows what it sent. */
  answer<Body extends Integration | Integration[]>(answer: Answer<Body>): Answer<Body>
}

const hourMs = 60 * 60_000
/** Keys times integrations; beyond it some entries are made twice in an hour, which does no harm. */
const looksMax = 50_000

export function createSecretReaders(db: Db, world: World, reveal: 'on' | 'off'): SecretReaders {
  const looks = new Map<string, number>()

  /** Whether nobody with this key has looked at it in this hour, by this node. */
  function isFirst(caller: Caller, { _id }: Integration): boolean {
    const hour = Math.floor(world.now().getTime() / hourMs)
    const name = `${caller.keyId} ${_id}`
    if (looks.get(name) === hour) return false
    if (looks.size >= looksMax) looks.clear()
    looks.set(name, hour)
    return true
  }

  return {
    async read(caller, author, integrations) {
      if (!mayUse(caller, 'full')) return [...integrations]
      if (reveal === 'off') return integrations.map(withHiddenSecrets)
      const seen = integrations.filter((one) => holdsSecrets(one) && isFirst(caller, one))
      if (seen.length > 0) await auditSecretReads(db, world, caller.environment, author, seen)
      return [...integrations]
    },
    answer(given) {
      if (reveal === 'on') return given
      const { body } = given
      const hidden = Array.isArray(body) ? body.map(withHiddenSecrets) : withHiddenSecrets(body)
      return { ...given, body: hidden as typeof body }
    },
  }
}
