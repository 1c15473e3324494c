// Which months have expired, what keeps one of them, and what a run would drop.
import type { Db, Sql, TransactionLimits } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { KeptBy, RetentionDays, RowCounts } from '../../domain/operate/retention.ts'
import { addedRows, cutoffOf, daysBetween, monthEndsAt, monthName, noRows } from '../../domain/operate/retention.ts'
import { listEnvironments } from '../../store/operate/installation.ts'
import type { Month } from '../../store/operate/retention.ts'
import {
  countSpan,
  countStrays,
  isGathered,
  keptByQueue,
  listDetached,
  listMonths,
  lookForUnsent,
  strayBound,
} from '../../store/operate/retention.ts'
import type { World } from '../../world/world.ts'

/** A month that is old enough to go. */
export interface OldMonth {
  /** `2026-01`. */
  readonly month: string
  /** Null if they were not counted: a month that is kept need not be, and a run counts nothing. */
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

/** For statements that no request waits for and that may look at much: every open step, or all that belongs to no month. */
export const unhurried: TransactionLimits = { statementTimeoutMs: 10 * 60_000, lockTimeoutMs: 5_000 }

/** Small enough to take milliseconds, so that a stop does not wait for it. */
const messagesPerPage = 10_000
/** Pages between two lines of progress. */
const pagesPerLine = 100

/** Months that are old enough to go, whether something keeps them or not. */
export async function listOldMonths(db: Sql, world: World, days: RetentionDays): Promise<string[]> {
  const cutoff = cutoffOf(days, world.now())
  return cutoff === undefined ? [] : (await oldMonths(db, cutoff)).map((month) => monthName(month.from))
}

/** What would go now. It counts every row of the months that would, a day a statement: for a dry run only. */
export async function planRetention(db: Db, world: World, days: RetentionDays): Promise<RetentionPlan> {
  const cutoff = cutoffOf(days, world.now())
  if (cutoff === undefined) return { days, cutoffAt: null, months: [], leftovers: [], strays: noRows }
  const leftovers = await oldLeftovers(db, cutoff)
  const environments = await listEnvironments(db)
  const months: OldMonth[] = []
  for (const month of await oldMonths(db, cutoff)) {
    const keptBy = (await judge(db, environments, month)) ?? null
    const rows = keptBy === null ? await countMonth(db, environments, month) : null
    months.push({ ...monthFactsFrom(month), rows, keptBy })
  }
  let strays = noRows
  for (const environment of environments) {
    const found = await db.transaction(async (tx) => {
      const bound = await strayBound(tx, environment, cutoff)
      return countStrays(tx, environment, bound)
    }, unhurried)
    strays = addedRows(strays, found)
  }
  return { days, cutoffAt: cutoff.toISOString(), months, leftovers, strays }
}

async function countMonth(db: Db, environments: readonly Environment[], month: Month): Promise<RowCounts> {
  let rows = noRows
  for (const day of daysBetween(month.from, month.to)) {
    const counted = await db.transaction((tx) => countSpan(tx, environments, day), unhurried)
    rows = addedRows(rows, counted)
  }
  return rows
}

export async function oldMonths(db: Sql, cutoff: Date): Promise<Month[]> {
  return (await listMonths(db)).filter((month) => month.to <= cutoff)
}

export const monthFactsFrom = (month: Month): Pick<OldMonth, 'month' | 'bytes' | 'partitions'> => ({
  month: monthName(month.from),
  bytes: month.partitions.reduce((sum, partition) => sum + partition.bytes, 0),
  partitions: month.partitions.map((partition) => partition.name),
})

/** Younger ones, and all if everything is kept, were detached by an operator, who wants them. */
export async function oldLeftovers(db: Sql, cutoff: Date): Promise<string[]> {
  return (await listDetached(db)).map((one) => one.name).filter((name) => monthEndsAt(name) <= cutoff)
}

export interface Judging {
  readonly signal?: AbortSignal | undefined
  /** Before each page: a run that was cut off goes no further. */
  onPage?(): Promise<void>
  progress?(line: string): void
}

/** What keeps a month; undefined if nothing does, or if it had to stop before everything was checked. */
export async function judge(
  db: Db,
  environments: readonly Environment[],
  month: Month,
  judging: Judging = {},
): Promise<KeptBy | undefined> {
  const busy = await keptByQueue(db, environments, month)
  if (busy !== undefined) return busy
  if (await db.transaction((tx) => isGathered(tx, environments, month), unhurried)) return 'open_digests'
  return (await hasUnsent(db, environments, month, judging)) ? 'unsent_messages' : undefined
}

/** By pages: there is no index by state, which would be written with every message to be read once a month. */
async function hasUnsent(
  db: Db,
  environments: readonly Environment[],
  month: Month,
  { signal, onPage, progress }: Judging,
): Promise<boolean> {
  let pages = 0
  for (const environment of environments) {
    let after: string | undefined
    do {
      if (signal?.aborted === true) return false
      await onPage?.()
      const page = await lookForUnsent(db, environment, { ...month, after, limit: messagesPerPage })
      if (page.isUnsent) return true
      after = page.next
      pages += 1
      if (pages % pagesPerLine === 0) {
        progress?.(`${monthName(month.from)}: ${pages * messagesPerPage} messages examined`)
      }
    } while (after !== undefined)
  }
  return false
}

const reasons: Readonly<Record<KeptBy, string>> = {
  open_jobs: 'one of its steps still has to run',
  open_tasks: 'one of its messages is snoozed, or the recipients of one of its events are not resolved yet',
  open_digests: 'a digest has collected some of its events and is not sent yet',
  unsent_messages: 'one of its messages is not sent yet',
}

export const keptWords = (by: KeptBy): string => reasons[by]
