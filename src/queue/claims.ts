// Claims of one queue: both lanes with their own share, the environments in turn; possibly poisonous rows one at a
// time.
import type { Clock } from '../db/clock.ts'
import type { Sql } from '../db/sql.ts'
import { nilId } from '../domain/nil-id.ts'
import type { QueueTable } from './leases.ts'
import { claimDue } from './leases.ts'
import { leaseMs } from './queue.ts'
import { poisonLanes } from './suspicion.ts'
import type { Leased } from './worker.ts'

/** One in this many claimed rows is reserved for fan-out, so that it never stalls. */
const fanOutShare = 4

type ClaimRows<Row> = (limit: number, lease: string) => Promise<Row[]>

export interface ClaimParts {
  readonly db: Sql
  readonly queue: QueueTable
  readonly clock: Clock
  /** Nothing is claimed in these. */
  heldEnvironments?(): ReadonlySet<string>
  /** Called with how many of the claimed had leases that ended. */
  onExpired?(count: number): void
}

/** What anyone may run. */
export function createClaims<Row extends Leased>(parts: ClaimParts): ClaimRows<Row> {
  const claimLane = createLaneClaims<Row>(parts)
  return async (limit, lease) => {
    const directMax = Math.max(1, limit - Math.floor(limit / fanOutShare))
    const direct = await claimLane(0, directMax, lease)
    const fanOut = await claimLane(1, limit - direct.length, lease)
    // What fan-out did not want is for more of the others.
    const capacity = limit - direct.length - fanOut.length
    const more = direct.length === directMax ? await claimLane(0, capacity, lease) : []
    return [...direct, ...more, ...fanOut]
  }
}

/** Rows that run alone: the claim itself commits that they do. The lanes take turns. */
export function createSoloClaims<Row extends Leased>(parts: ClaimParts): ClaimRows<Row> {
  const claimLane = createLaneClaims<Row>(parts)
  let turn = 0
  return async (_limit, lease) => {
    turn += 1
    const lanes = turn % 2 === 0 ? poisonLanes : [...poisonLanes].reverse()
    for (const lane of lanes) {
      const claimed = await claimLane(lane, 1, lease)
      if (claimed.length > 0) return claimed
    }
    return []
  }
}

const noneHeld: ReadonlySet<string> = new Set()

/** Remembers which environment had its turn last, in each lane. */
function createLaneClaims<Row extends Leased>({ db, queue, clock, onExpired, heldEnvironments }: ClaimParts) {
  const after = new Map<number, string>()

  return async (lane: number, limit: number, lease: string): Promise<Row[]> => {
    if (limit < 1) return []
    const claim = { lane, limit, lease, leaseMs, held: heldEnvironments?.() ?? noneHeld }
    const from = after.get(lane) ?? nilId
    const claimed = await claimDue<Row>(db, queue, clock, { ...claim, afterEnvironment: from })
    const left = limit - claimed.length
    // From the beginning again: those before the cursor have waited as well.
    if (left > 0 && from !== nilId) {
      claimed.push(...(await claimDue<Row>(db, queue, clock, { ...claim, limit: left, afterEnvironment: nilId })))
    }
    const expired = claimed.filter(({ wasLeased }) => wasLeased).length
    if (expired > 0) onExpired?.(expired)
    const rows = claimed.map(({ wasLeased: _, ...row }) => row as unknown as Row)
    const environments = rows.map((row) => row.environmentId).sort()
    after.set(lane, left > 0 ? nilId : (environments.at(-1) ?? nilId))
    return rows
  }
}
