// Claims of one queue: both lanes with a share of their own, the environments in turn.
import type { Clock } from '../db/clock.ts'
import type { Sql } from '../db/sql.ts'
import type { QueueTable } from './leases.ts'
import { claimDue } from './leases.ts'
import { leaseMs } from './queue.ts'
import type { Leased } from './worker.ts'

const firstEnvironment = '00000000-0000-0000-0000-000000000000'
/** One in so many of what is claimed is kept for fan-out, so that it never stands still. */
const fanOutShare = 4

/** Remembers which environment had its turn last, in each lane; tells how many of the claimed had leases that ended. */
export function createClaims<Row extends Leased>(
  db: Sql,
  queue: QueueTable,
  clock: Clock,
  onExpired: (count: number) => void = () => {},
): (limit: number, lease: string) => Promise<Row[]> {
  const after = [firstEnvironment, firstEnvironment]

  async function claimLane(lane: 0 | 1, limit: number, lease: string): Promise<Row[]> {
    if (limit < 1) return []
    const claim = { lane, limit, lease, leaseMs }
    const from = after[lane] ?? firstEnvironment
    const claimed = await claimDue<Row>(db, queue, clock, { ...claim, afterEnvironment: from })
    const left = limit - claimed.length
    // From the beginning again: those before the cursor have waited as well.
    if (left > 0 && from !== firstEnvironment) {
      claimed.push(
        ...(await claimDue<Row>(db, queue, clock, { ...claim, limit: left, afterEnvironment: firstEnvironment })),
      )
    }
    const expired = claimed.filter(({ wasLeased }) => wasLeased).length
    if (expired > 0) onExpired(expired)
    const rows = claimed.map(({ wasLeased: _, ...row }) => row as unknown as Row)
    const environments = rows.map((row) => row.environmentId).sort()
    after[lane] = left > 0 ? firstEnvironment : (environments.at(-1) ?? firstEnvironment)
    return rows
  }

  return async (limit, lease) => {
    const directMax = Math.max(1, limit - Math.floor(limit / fanOutShare))
    const direct = await claimLane(0, directMax, lease)
    const fanOut = await claimLane(1, limit - direct.length, lease)
    // What fan-out did not want is for more of the others.
    const room = limit - direct.length - fanOut.length
    const more = direct.length === directMax ? await claimLane(0, room, lease) : []
    return [...direct, ...more, ...fanOut]
  }
}
