// References to dropped data: callers' transaction ids, closed digests, back-offs, buried tasks.
import type { Db, Tx } from '../../db/sql.ts'
import { firstIdAt } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { RetentionDays } from '../../domain/operate/retention.ts'
import { cutoffOf } from '../../domain/operate/retention.ts'
import { durationMsMax } from '../../domain/time/duration.ts'
import { sweepBackoffs, sweepWindows } from '../../store/events/digests.ts'
import { sweepTransactions } from '../../store/events/events.ts'
import { sweepBuriedTasks } from '../../store/jobs/tasks.ts'
import { findRetentionProgress, listMonths, noteSwept, oldestStrayAt } from '../../store/operate/retention.ts'
import type { World } from '../../world/world.ts'

/** Small enough that no one waits for a batch's locks. */
const rowsPerBatch = 2_000

interface Bounds {
  /** Nothing older is there. */
  readonly before: Date
  readonly now: Date
}

/** One batch; where to continue, or undefined at the end. */
type Sweep = (
  tx: Tx,
  environment: Environment,
  bounds: Bounds,
  after: string | undefined,
) => Promise<{ deleted: number; next: string | undefined }>

const short = (deleted: number) => ({ deleted, next: deleted < rowsPerBatch ? undefined : 'more' })

const sweeps: readonly Sweep[] = [
  // Walked by key, not found by an index of its own: that would be written with every event, to be read once a month.
  (tx, environment, { before }, after) =>
    sweepTransactions(tx, environment, { before: firstIdAt(before), after, limit: rowsPerBatch }),
  async (tx, environment, { before }) =>
    short(await sweepWindows(tx, environment, { closedBefore: before, limit: rowsPerBatch })),
  // No step can have a longer back-off, so earlier events do not matter.
  async (tx, environment, { now }) =>
    short(await sweepBackoffs(tx, environment, { now, silentMs: durationMsMax, limit: rowsPerBatch })),
  async (tx, environment, { before }) =>
    short(await sweepBuriedTasks(tx, environment, { before, limit: rowsPerBatch })),
]

/** How many rows went. Done once for each time that older data went; a run that ends in the middle is done again. */
export async function sweepReferences(
  db: Db,
  world: World,
  environments: readonly Environment[],
  { days, signal, keep }: { days: RetentionDays; signal: AbortSignal | undefined; keep(): Promise<void> },
): Promise<number> {
  const cutoff = cutoffOf(days, world.now())
  if (cutoff === undefined) return 0
  const before = await goneBefore(db, environments, cutoff)
  const { sweptBefore } = await findRetentionProgress(db)
  if (sweptBefore !== null && sweptBefore >= before) return 0
  let total = 0
  for (const environment of environments) {
    for (const sweep of sweeps) {
      let after: string | undefined
      do {
        const from = after
        await keep()
        const batch = await db.transaction((tx) => sweep(tx, environment, { before, now: world.now() }, from))
        total += batch.deleted
        after = batch.next
      } while (after !== undefined && signal?.aborted !== true)
    }
  }
  if (signal?.aborted !== true) await db.transaction((tx) => noteSwept(tx, before))
  return total
}

/** The start of the oldest existing month, or of what lies before it outside any month; never later than the cutoff. */
async function goneBefore(db: Db, environments: readonly Environment[], cutoff: Date): Promise<Date> {
  const [oldest] = await listMonths(db)
  const stray = await oldestStrayAt(db, environments)
  const timestamps = [cutoff, oldest?.from ?? cutoff, stray ?? cutoff].map((timestamp) => timestamp.getTime())
  return new Date(Math.min(...timestamps))
}
