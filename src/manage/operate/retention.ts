// Retention: expired months are dropped as a whole, by one node at a time, and references to them are swept.
import type { Db, Tx } from '../../db/sql.ts'
import { DatabaseUnavailable } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { KeptBy, RetentionDays, RowCounts } from '../../domain/operate/retention.ts'
import { addedRows, cutoffOf, noRows } from '../../domain/operate/retention.ts'
import { listEnvironments } from '../../store/operate/installation.ts'
import type { Month } from '../../store/operate/retention.ts'
import {
  deleteStrays,
  detachMonth,
  dropDetached,
  holdRetention,
  keptByQueue,
  lockMonths,
  noteDropped,
  releaseRetention,
  strayBound,
  tryRetentionLock,
} from '../../store/operate/retention.ts'
import type { World } from '../../world/world.ts'
import type { OldMonth } from './retention-plan.ts'
import { judge, keptWords, monthFactsFrom, oldLeftovers, oldMonths, unhurried } from './retention-plan.ts'
import { sweepReferences } from './sweep-references.ts'

export interface RetentionResult {
  /** True when another node, or a command, is at it: then nothing was done here. */
  readonly isElsewhere: boolean
  readonly dropped: readonly OldMonth[]
  readonly kept: readonly OldMonth[]
  /** Those that could not be taken out now, since their tables were in use for too long: the next run tries again. */
  readonly busy: readonly OldMonth[]
  readonly leftovers: readonly string[]
  readonly strays: RowCounts
  /** Rows that referred to something that is gone. */
  readonly references: number
}

export interface RetentionRun {
  readonly signal?: AbortSignal
  /** One line for each thing that was done, or could not be. */
  progress(line: string): void
}

const nothing: RetentionResult = {
  isElsewhere: false,
  dropped: [],
  kept: [],
  busy: [],
  leftovers: [],
  strays: noRows,
  references: 0,
}

/**
 * Longer than the longest statement: a running node renews it before each step, and a dead one is replaced soon enough.
 */
const heldForMs = 15 * 60_000

/** One run: alone, until another takes over. */
interface Turn {
  readonly db: Db
  readonly world: World
  readonly environments: readonly Environment[]
  readonly cutoff: Date
  readonly signal: AbortSignal | undefined
  progress(line: string): void
  /** Throws when this run is no longer the one. */
  keep(): Promise<void>
}

/** Another run has taken over: this one was away for too long. */
class TakenOver extends Error {}

/** Every step is a separate transaction: a run that ends in the middle is continued by the next. */
export async function applyRetention(
  db: Db,
  world: World,
  days: RetentionDays,
  { signal, progress }: RetentionRun,
): Promise<RetentionResult> {
  const cutoff = cutoffOf(days, world.now())
  if (cutoff === undefined) return nothing
  const runId = world.newId(world.now())
  const hold = () => holdRetention(db, runId, heldForMs)
  if (!(await hold())) return { ...nothing, isElsewhere: true }
  const keep = async (): Promise<void> => {
    if (!(await hold())) throw new TakenOver('Another node has taken over')
  }
  try {
    const environments = await listEnvironments(db)
    return await applyAlone({ db, world, environments, cutoff, signal, progress, keep }, days)
  } finally {
    await releaseRetention(db, runId).catch(() => {})
  }
}

async function applyAlone(turn: Turn, days: RetentionDays): Promise<RetentionResult> {
  const { db, world, environments, cutoff, signal, progress } = turn
  const [dropped, kept, busy]: [OldMonth[], OldMonth[], OldMonth[]] = [[], [], []]
  for (const month of await oldMonths(db, cutoff)) {
    const end = await endOf(turn, month)
    if (end === 'stopped' || end === 'gone') continue
    const keptBy = end === 'out' || end === 'busy' ? null : end
    const old = { ...monthFactsFrom(month), rows: null, keptBy }
    if (end === 'out') dropped.push(old)
    else if (end === 'busy') busy.push(old)
    else kept.push(old)
    progress(lineOf(old, end))
  }
  const leftovers = await dropLeftovers(turn)
  const strays = await sweepStrays(turn)
  const references = await sweepReferences(db, world, environments, { days, signal, keep: turn.keep })
  if (references > 0) progress(`${references} rows that referred to old data were deleted`)
  return { isElsewhere: false, dropped, kept, busy, leftovers, strays, references }
}

/** `gone`: another node was faster. `stopped`: it was to stop before all was seen. */
type Ending = KeptBy | 'out' | 'busy' | 'gone' | 'stopped'

async function endOf(turn: Turn, month: Month): Promise<Ending> {
  const { db, environments, signal, progress, keep } = turn
  const isStopping = (): boolean => signal?.aborted === true
  if (isStopping()) return 'stopped'
  await keep()
  const keptBy = await judge(db, environments, month, { signal, progress, onPage: keep })
  if (keptBy !== undefined) return keptBy
  return isStopping() ? 'stopped' : takeOut(turn, month)
}

function lineOf({ month, partitions, bytes }: OldMonth, end: KeptBy | 'out' | 'busy'): string {
  if (end === 'busy') return `${month} is kept for now because its tables are in use; will retry later`
  if (end !== 'out') return `${month} stays: ${keptWords(end)}`
  return `${month} was dropped: ${partitions.length} partitions, ${bytes} bytes`
}

/**
 * Detaching a month needs the four tables exclusively, for a few milliseconds. `detach … concurrently` would not, but
 * is not possible with a default partition. So it waits only briefly, less than it takes to detect a deadlock, and
 * tries again; the last attempt waits longer than an autovacuum holds its lock.
 */
const lockWaitsMs = [100, 200, 500, 1_500]
const betweenTriesMs = 1_000

async function takeOut({ db, world, environments }: Turn, month: Month): Promise<Ending> {
  for (const [index, waitMs] of lockWaitsMs.entries()) {
    if (index > 0) await world.sleep(betweenTriesMs)
    try {
      return await db.transaction((tx) => takeOutOnce(tx, world, environments, month, waitMs))
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable && error.busy)) throw error
    }
  }
  return 'busy'
}

async function takeOutOnce(
  tx: Tx,
  world: World,
  environments: readonly Environment[],
  month: Month,
  waitMs: number,
): Promise<Ending> {
  if (!(await tryRetentionLock(tx))) return 'busy'
  await lockMonths(tx, waitMs)
  // Again, now that none can be opened: a step of long ago may have been redriven in the meantime.
  const keptBy = await keptByQueue(tx, environments, month)
  if (keptBy !== undefined) return keptBy
  if ((await detachMonth(tx, month)) === 0) return 'gone'
  await noteDropped(tx, world.now())
  return 'out'
}

/** Separate from detaching: removing large files takes time, and nothing waits for these any more. */
async function dropLeftovers({ db, cutoff, signal, keep }: Turn): Promise<string[]> {
  const dropped: string[] = []
  for (const name of await oldLeftovers(db, cutoff)) {
    if (signal?.aborted === true) break
    await keep()
    const isOurs = await db.transaction(async (tx) => (await tryRetentionLock(tx)) && dropDetached(tx, name), unhurried)
    if (isOurs) dropped.push(name)
  }
  return dropped
}

const straysPerBatch = 2_000

async function sweepStrays({ db, environments, cutoff, signal, progress, keep }: Turn): Promise<RowCounts> {
  let total = noRows
  for (const environment of environments) {
    let count: RowCounts
    do {
      await keep()
      count = await db.transaction(async (tx) => {
        const before = await strayBound(tx, environment, cutoff)
        return deleteStrays(tx, environment, { before, limit: straysPerBatch })
      }, unhurried)
      total = addedRows(total, count)
    } while (signal?.aborted !== true && Object.values(count).some((one) => one >= straysPerBatch))
  }
  const rows = Object.values(total).reduce((sum, one) => sum + one, 0)
  if (rows > 0) progress(`${rows} rows that belong to no month were deleted`)
  return total
}
