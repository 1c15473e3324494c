// Looks up keys, many in one statement: however many are asked for at once, they hold one connection of the pool.
import type { Sql } from '../../db/sql.ts'
import type { KnownPrincipal } from '../../store/operate/api-keys.ts'
import { findPrincipals } from '../../store/operate/api-keys.ts'

/** Hashes in one statement. */
const hashesMax = 500

interface Asked {
  readonly hash: Buffer
  resolve(principal: KnownPrincipal | undefined): void
  reject(error: unknown): void
}

/** The principal of a key, by its hash. */
export function createKeyLookups(db: Sql): (hash: Buffer) => Promise<KnownPrincipal | undefined> {
  const waiting: Asked[] = []
  let isAsking = false

  async function askAll(): Promise<void> {
    isAsking = true
    while (waiting.length > 0) {
      const asked = waiting.splice(0, hashesMax)
      try {
        const found = await findPrincipals(
          db,
          asked.map(({ hash }) => hash),
        )
        for (const { hash, resolve } of asked) resolve(found.get(hash.toString('base64')))
      } catch (error) {
        for (const { reject } of asked) reject(error)
      }
    }
    isAsking = false
  }

  return (hash) =>
    new Promise((resolve, reject) => {
      waiting.push({ hash, resolve, reject })
      if (!isAsking) void askAll()
    })
}
