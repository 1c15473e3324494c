// Who can read secrets: those of integrations no one, if the operator says so; otherwise each key's first read in an hour
// is audited.

import type { Db } from '../../db/sql.ts'
import type { Answer } from '../../domain/answer.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Principal } from '../../domain/environment.ts'
import { mayUse } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import type { SecretHolder } from '../../manage/operate/secret-reads.ts'
import { auditSecretReads } from '../../manage/operate/secret-reads.ts'
import { asSeenBy, holdsSecrets, withHiddenSecrets } from '../../read/operate/integrations.ts'
import type { World } from '../../world/world.ts'

export interface SecretReaders {
  /** What the principal is shown of integrations. */
  read(principal: Principal, author: Author, integrations: readonly Integration[]): Promise<Integration[]>
  /** What the principal is shown of an integration that it made: nothing that it did not send. */
  made(principal: Principal, answer: Answer<Integration>): Answer<Integration>
  /** Secrets of something else are about to be shown to a full key. */
  note(principal: Principal, author: Author, holders: readonly SecretHolder[]): Promise<void>
  /** What a change is answered with shows more than the caller sent. */
  answer<Body extends Integration | Integration[]>(
    principal: Principal,
    author: Author,
    answer: Answer<Body>,
  ): Promise<Answer<Body>>
}

const hourMs = 60 * 60_000
/** Keys times integrations; beyond it some entries are made twice in an hour, which does no harm. */
const looksMax = 50_000

export function createSecretReaders(db: Db, world: World, reveal: 'on' | 'off'): SecretReaders {
  const looks = new BoundedMap<string, number>(looksMax)

  const read: SecretReaders['read'] = async (principal, author, integrations) => {
    if (!mayUse(principal, 'full')) return integrations.map((one) => asSeenBy(principal, one))
    if (reveal === 'off') return integrations.map(withHiddenSecrets)
    const holders = integrations.map((one) => ({ kind: 'integration' as const, id: one._id, name: one.name, one }))
    const unseen = unseenBy(principal, holders).filter(({ one }) => holdsSecrets(one))
    await write(
      principal,
      author,
      unseen.map(({ kind, id, name }) => ({ kind, id, name })),
    )
    return [...integrations]
  }

  const hourNow = (): number => Math.floor(world.now().getTime() / hourMs)
  const lookOf = (principal: Principal, { id }: { id: string }): string => `${principal.keyId} ${id}`
  function unseenBy<Holder extends SecretHolder>(principal: Principal, holders: readonly Holder[]): Holder[] {
    const hour = hourNow()
    return holders.filter((holder) => looks.get(lookOf(principal, holder)) !== hour)
  }

  async function write(principal: Principal, author: Author, unseen: readonly SecretHolder[]): Promise<void> {
    if (unseen.length === 0) return
    await auditSecretReads(db, world, principal.environment, author, unseen)
    // Only once it is written: a read that could not be recorded does not happen.
    for (const one of unseen) looks.set(lookOf(principal, one), hourNow())
  }

  return {
    read,
    note: async (principal, author, holders) => write(principal, author, unseenBy(principal, holders)),
    made: (principal, given) => {
      const body = asSeenBy(principal, given.body)
      return { ...given, body: reveal === 'on' ? body : withHiddenSecrets(body) }
    },
    async answer(principal, author, given) {
      const { body } = given
      const shown = await read(principal, author, Array.isArray(body) ? body : [body])
      return { ...given, body: (Array.isArray(body) ? shown : shown[0]) as typeof body }
    },
  }
}
