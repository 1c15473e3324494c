// Whether subscribers are online: what connections of one process say, and what those of a lost process said.
import type { Db, Tx } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import type { PresenceChange } from '../store/people/presence.ts'
import {
  deleteDeadProcesses,
  findDeadPresence,
  findPresent,
  lockPresence,
  writePresence,
} from '../store/people/presence.ts'
import { setOnlineMany } from '../store/people/subscribers.ts'

/** A process shows every 30 s that it is alive: three of them missed. */
export const silentSecondsMax = 90
const deadRowsPerSweep = 1_000

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
export async function sweepPresence(db: Db, now: Date): Promise<number> {
  const rows = await findDeadPresence(db, silentSecondsMax, deadRowsPerSweep)
  for (const [key, some] of grouped(rows, (row) => `${row.environmentId} ${row.processId}`)) {
    const [id = '', processId = ''] = key.split(' ')
    const left = some.map((row) => row.subscriberId)
    await db.transaction((tx) => recordPresence(tx, { id }, { processId, arrived: [], left }, now))
  }
  await deleteDeadProcesses(db, silentSecondsMax)
  return rows.length
}
