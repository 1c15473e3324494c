// Retention: which months are old enough to go and what keeps one, then their going, and what referred to them swept.
import type { Db, Sql, Tx } from '../db/sql.ts'
import { DatabaseUnavailable } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { KeptBy, RetentionDays, RowCounts } from '../domain/retention.ts'
import { addedRows, cutoffOf, daysBetween, monthEndsAt, monthName, noRows } from '../domain/retention.ts'
import { listEnvironments } from '../store/installation.ts'
import type { Month } from '../store/retention.ts'
import {
  countSpan,
  countStrays,
  deleteStrays,
  detachMonth,
  dropDetached,
  isGathered,
  keptByQueue,
  listDetached,
  listMonths,
  lockMonths,
  noteDropped,
  strayBound,
  tryRetentionLock,
} from '../store/retention.ts'
import type { World } from '../world/world.ts'
import { sweepReferences } from './sweep-references.ts'

/** A month that is old enough to go. */
export interface OldMonth {
  /** `2026-01`. */
  readonly month: string
  /** Null where it stays, and need not be counted for that. */
  readonly rows: RowCounts | null
  readonly bytes: number
  readonly partitions: readonly string[]
  /** Why it stays nevertheless; null when it goes. */
  readonly keptBy: KeptBy | null
}

export interface RetentionPlan {
  readonly days: RetentionDays
  /** What is older may go; null when everything stays. */
  readonly cutoffAt: string | null
  readonly months: readonly OldMonth[]
  /** Partitions that an earlier run took out of their tables and could not drop. */
  readonly leftovers: readonly string[]
  /** Old rows that belong to no month. */
  readonly strays: RowCounts
}

/** Months that are old enough to go, whether something keeps them or not. */
export async function listOldMonths(db: Sql, world: World, days: RetentionDays): Promise<string[]> {
  const cutoff = cutoffOf(days, world.now())
  return cutoff === undefined ? [] : (await oldMonths(db, cutoff)).map((month) => monthName(month.from))
}

/** What would go now. It reads every row of the months that would: a day a statement. */
export async function planRetention(
  db: Db,
  world: World,
  days: RetentionDays,
  signal?: AbortSignal,
): Promise<RetentionPlan> {
  const cutoff = cutoffOf(days, world.now())
  if (cutoff === undefined) return { days, cutoffAt: null, months: [], leftovers: [], strays: noRows }
  const leftovers = await oldLeftovers(db, cutoff)
  const environments = await listEnvironments(db)
  const months: OldMonth[] = []
  for (const month of await oldMonths(db, cutoff)) {
    const judged = signal?.aborted === true ? undefined : await judge(db, environments, month, signal)
    if (judged !== undefined) months.push(judged)
  }
  let strays = noRows
  for (const environment of environments) {
    const bound = await strayBound(db, environment, cutoff)
    strays = addedRows(strays, await countStrays(db, environment, bound))
  }
  return { days, cutoffAt: cutoff.toISOString(), months, leftovers, strays }
}

async function oldMonths(db: Sql, cutoff: Date): Promise<Month[]> {
  return (await listMonths(db)).filter((month) => month.to <= cutoff)
}

/** Younger ones, and all where everything is kept, are somebody else's: who took them out by hand wants them. */
async function oldLeftovers(db: Sql, cutoff: Date): Promise<string[]> {
  return (await listDetached(db)).map((one) => one.name).filter((name) => monthEndsAt(name) <= cutoff)
}

/** Undefined when it was to stop before all was counted. */
async function judge(
  db: Sql,
  environments: readonly Environment[],
  month: Month,
  signal: AbortSignal | undefined,
): Promise<OldMonth | undefined> {
  const facts = {
    month: monthName(month.from),
    bytes: month.partitions.reduce((sum, partition) => sum + partition.bytes, 0),
    partitions: month.partitions.map((partition) => partition.name),
  }
  const busy = await keptByQueue(db, environments, month)
  const keptBy = busy ?? ((await isGathered(db, environments, month)) ? 'open_digests' : undefined)
  if (keptBy !== undefined) return { ...facts, rows: null, keptBy }
  let rows = noRows
  let unsent = 0
  for (const day of daysBetween(month.from, month.to)) {
    if (signal?.aborted === true) return undefined
    const count = await countSpan(db, environments, day)
    rows = addedRows(rows, count)
    unsent += count.unsent
  }
  return { ...facts, rows, keptBy: unsent > 0 ? 'unsent_messages' : null }
}

export interface RetentionResult {
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

/** Every step is a transaction of its own: a run that ends in the middle is taken up by the next. */
export async function applyRetention(
  db: Db,
  world: World,
  days: RetentionDays,
  { signal, progress }: RetentionRun,
): Promise<RetentionResult> {
  const plan = await planRetention(db, world, days, signal)
  const environments = await listEnvironments(db)
  const [dropped, kept, busy]: [OldMonth[], OldMonth[], OldMonth[]] = [[], [], []]
  const byName = new Map((await listMonths(db)).map((month) => [monthName(month.from), month]))
  for (const old of plan.months) {
    const month = byName.get(old.month)
    if (signal?.aborted === true || month === undefined) continue
    const end = old.keptBy ?? (await takeOut(db, world, environments, month))
    if (end === 'gone') continue
    if (end === 'busy') busy.push(old)
    else if (end !== 'out') kept.push({ ...old, keptBy: end })
    else dropped.push(old)
    progress(told(old, end))
  }
  const leftovers = await dropLeftovers(db, world, { days, signal })
  const strays = await sweepStrays(db, world, environments, { days, signal })
  const references = await sweepReferences(db, world, environments, { days, signal })
  if (references > 0) progress(`${references} rows that referred to old data were deleted`)
  return { dropped, kept, busy, leftovers, strays, references }
}

const reasons: Readonly<Record<KeptBy, string>> = {
  open_jobs: 'a step of it is still to run',
  open_tasks: 'a message of it that was put off is still to come back, or an event of it still to be expanded',
  open_digests: 'a digest has gathered events of it, and is still to be told',
  unsent_messages: 'a message of it is still to be sent',
}

export const keptWords = (by: KeptBy): string => reasons[by]

function told({ month, rows, bytes }: OldMonth, end: KeptBy | 'out' | 'busy'): string {
  if (end === 'busy') return `${month} stays for now: its tables were in use all the time; it is tried again later`
  if (end !== 'out') return `${month} stays: ${reasons[end]}`
  const { notifications, messages } = rows ?? noRows
  return `${month} was dropped: ${notifications} notifications, ${messages} messages, ${bytes} bytes`
}

/**
 * Taking a month out needs the four tables for itself, for a few milliseconds. `detach … concurrently` would not, but is
 * refused where there is a default partition. So it waits for little, less than a deadlock takes to be found, and tries
 * again; the last try waits for longer than a vacuum of its own accord stands in the way.
 */
const lockWaitsMs = [100, 200, 500, 1_500]
const betweenTriesMs = 1_000

/** `gone`: another node was faster. */
type Ending = KeptBy | 'out' | 'busy' | 'gone'

async function takeOut(db: Db, world: World, environments: readonly Environment[], month: Month): Promise<Ending> {
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
  // Again, now that nobody can open one: a step of long ago may have been called back to life meanwhile.
  const keptBy = await keptByQueue(tx, environments, month)
  if (keptBy !== undefined) return keptBy
  if ((await detachMonth(tx, month)) === 0) return 'gone'
  await noteDropped(tx, world.now())
  return 'out'
}

/** Apart from taking them out: removing large files takes its time, and nobody waits for these any more. */
async function dropLeftovers(
  db: Db,
  world: World,
  { days, signal }: { days: RetentionDays; signal: AbortSignal | undefined },
): Promise<string[]> {
  const cutoff = cutoffOf(days, world.now())
  const dropped: string[] = []
  for (const name of cutoff === undefined ? [] : await oldLeftovers(db, cutoff)) {
    if (signal?.aborted === true) break
    const isOurs = await db.transaction(async (tx) => (await tryRetentionLock(tx)) && dropDetached(tx, name))
    if (isOurs) dropped.push(name)
  }
  return dropped
}

const straysPerBatch = 2_000

async function sweepStrays(
  db: Db,
  world: World,
  environments: readonly Environment[],
  { days, signal }: { days: RetentionDays; signal: AbortSignal | undefined },
): Promise<RowCounts> {
  const cutoff = cutoffOf(days, world.now())
  let total = noRows
  if (cutoff === undefined) return total
  for (const environment of environments) {
    let count: RowCounts
    do {
      count = await db.transaction(async (tx) => {
        const before = await strayBound(tx, environment, cutoff)
        return deleteStrays(tx, environment, { before, limit: straysPerBatch })
      })
      total = addedRows(total, count)
    } while (signal?.aborted !== true && Object.values(count).some((one) => one >= straysPerBatch))
  }
  return total
}
