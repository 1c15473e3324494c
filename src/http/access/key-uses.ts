// When keys were used last: written seldom, many in one statement, and beside the calls, which never wait for it.
import type { Sql } from '../../db/sql.ts'
import { touchApiKeys } from '../../store/operate/api-keys.ts'
import type { World } from '../../world/world.ts'

/** What is written is at most so old. Any node's write spares the others theirs. */
const writtenEveryMs = 5 * 60_000
/** After a write that failed: a database that cannot be written to has other troubles. */
const pauseMs = 60_000

export interface KeyUses {
  /** Whether a use of a key should be written, by the last one that was. */
  isDue(lastUsedAt: Date | null): boolean
  note(hash: Buffer): void
}

export function createKeyUses(db: Sql, world: World): KeyUses {
  let waiting: Buffer[] = []
  let isWriting = false
  let pausedUntil = 0

  async function writeAll(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) {
      const hashes = waiting
      waiting = []
      try {
        await touchApiKeys(db, hashes, world.now())
      } catch (error) {
        pausedUntil = world.now().getTime() + pauseMs
        world.log.debug({ error: (error as Error).message }, 'When keys were used last could not be written')
      }
    }
    isWriting = false
  }

  return {
    isDue: (lastUsedAt) => {
      const now = world.now().getTime()
      return now >= pausedUntil && (lastUsedAt === null || now - lastUsedAt.getTime() >= writtenEveryMs)
    },
    note(hash) {
      waiting.push(hash)
      if (!isWriting) void writeAll()
    },
  }
}
