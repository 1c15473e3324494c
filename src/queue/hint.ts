// A hint to other nodes that something is due. Only ever a hint: whoever misses it finds out by polling.
import type { Sql } from '../db/sql.ts'
import { sql } from '../db/sql.ts'

export const hintChannel = 'posthorn_due'

/** A notification in every commit would halve their rate; as hints after it, twenty a second are as good. */
const hintEveryMs = 50

/** Sends at once or a little later, never more often than every 50 ms. */
export function createHint(db: Sql, isWanted: () => boolean): () => void {
  let timer: NodeJS.Timeout | undefined
  let hintedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (timer !== undefined || !isWanted()) return
    timer = setTimeout(
      () => {
        timer = undefined
        hintedAt = performance.now()
        db.run(sql`select pg_notify(${hintChannel}, '')`).catch(() => {})
      },
      Math.max(0, hintedAt + hintEveryMs - performance.now()),
    )
  }
}
