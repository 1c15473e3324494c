// Who can read the secrets of integrations: no one, if the operator says so; otherwise each key's first read in an hour
// is audited.

import type { Db } from '../../db/sql.ts'
import type { Answer } from '../../domain/answer.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Caller } from '../../domain/environment.ts'
import { mayUse } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { auditSecretReads } from '../../manage/operate/secret-reads.ts'
import { holdsSecrets, withHiddenSecrets } from '../../read/operate/integrations.ts'
import type { World } from '../../world/world.ts'

export interface SecretReaders {
  /** What the caller is shown of integrations. */
  read(caller: Caller, author: Author, integrations: readonly Integration[]): Promise<Integration[]>
  /** What the caller sees of an integration that it created: nothing that it did not send. */
  made(answer: Answer<Integration>): Answer<Integration>
  /** The response to a change shows more than the caller sent. */
  answer<Body extends Integration | Integration[]>(
    caller: Caller,
    author: Author,
    answer: Answer<Body>,
  ): Promise<Answer<Body>>
}

const hourMs = 60 * 60_000
/** Keys times integrations; beyond it some entries are made twice in an hour, which does no harm. */
const looksMax = 50_000

export function createSecretReaders(db: Db, world: World, reveal: 'on' | 'off'): SecretReaders {
  const looks = new Map<string, number>()

  const read: SecretReaders['read'] = async (caller, author, integrations) => {
    if (!mayUse(caller, 'full')) return [...integrations]
    if (reveal === 'off') return integrations.map(withHiddenSecrets)
    const hour = Math.floor(world.now().getTime() / hourMs)
    const nameOf = ({ _id }: Integration): string => `${caller.keyId} ${_id}`
    const unseen = integrations.filter((one) => looks.get(nameOf(one)) !== hour && holdsSecrets(one))
    if (unseen.length === 0) return [...integrations]
    await auditSecretReads(db, world, caller.environment, author, unseen)
    // Only once it is written: a read that could not be recorded does not happen.
    if (looks.size + unseen.length > looksMax) looks.clear()
    for (const one of unseen) looks.set(nameOf(one), hour)
    return [...integrations]
  }

  return {
    read,
    made: (given) => (reveal === 'on' ? given : { ...given, body: withHiddenSecrets(given.body) }),
    async answer(caller, author, given) {
      const { body } = given
      const shown = await read(caller, author, Array.isArray(body) ? body : [body])
      return { ...given, body: (Array.isArray(body) ? shown : shown[0]) as typeof body }
    },
  }
}
