// Whether subscribers are online: what connections of one process say, and what those of a lost process said.
import type { Db, Tx } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import type { PresenceChange } from '../store/people/presence.ts'
import {
  deleteDeadProcesses,
  findDeadPresence,
  findPresent,
  isProcessLost,
  lockPresence,
  writePresence,
} from '../store/people/presence.ts'
import { setOnlineMany } from '../store/people/subscribers.ts'

/** A process shows every 30 s that it is alive: three of them missed. */
export const silentSecondsMax = 90
/** Of one statement. */
const deadRowsMax = 1_000

/** One transaction. A subscriber is offline once no process has a connection of theirs. */
export async function recordPresence(
  tx: Tx,
  environment: Pick<Environment, 'id'>,
  change: PresenceChange,
  now: Date,
): Promise<void> {
  const known = await lockPresence(tx, environment, [...change.arrived, ...change.left])
  const arrived = change.arrived.filter((id) => known.has(id))
  await writePresence(tx, environment, { ...change, arrived })
  const present = await findPresent(tx, environment, change.left)
  await setOnlineMany(tx, environment, { ids: arrived, isOnline: true, now })
  const gone = change.left.filter((id) => !present.has(id))
  await setOnlineMany(tx, environment, { ids: gone, isOnline: false, now })
}

/** Returns how many rows of lost processes were found. */
export async function sweepPresence(db: Db, now: Date, signal?: AbortSignal): Promise<number> {
  let total = 0
  for (let count = deadRowsMax; count === deadRowsMax && signal?.aborted !== true; ) {
    const rows = await findDeadPresence(db, silentSecondsMax, deadRowsMax)
    for (const [key, some] of grouped(rows, (row) => `${row.environmentId} ${row.processId}`)) {
      const [id = '', processId = ''] = key.split(' ')
      const left = some.map((row) => row.subscriberId)
      await db.transaction((tx) => forgetLost(tx, { id }, { processId, arrived: [], left }, now))
    }
    count = rows.length
    total += count
  }
  await deleteDeadProcesses(db, silentSecondsMax)
  return total
}

/**
 * Unless the process came back: it writes its subscribers again, and waits for the locks that this holds. Whoever is asked first
 * decides: one that shows itself after this look finds that it was silent, and writes everything.
 */
async function forgetLost(
  tx: Tx,
  environment: Pick<Environment, 'id'>,
  change: PresenceChange,
  now: Date,
): Promise<void> {
  await lockPresence(tx, environment, change.left)
  if (await isProcessLost(tx, change.processId, silentSecondsMax)) await recordPresence(tx, environment, change, now)
}
