// How long data is kept: whole months are dropped once they are older than this many days, except for those with open
// work.

/** Days, or everything for ever. */
export type RetentionDays = number | 'off'

export interface RowCounts {
  readonly events: number
  readonly notifications: number
  readonly jobs: number
  readonly messages: number
}

export const noRows: RowCounts = { events: 0, notifications: 0, jobs: 0, messages: 0 }

export const addedRows = (one: RowCounts, other: RowCounts): RowCounts => ({
  events: one.events + other.events,
  notifications: one.notifications + other.notifications,
  jobs: one.jobs + other.jobs,
  messages: one.messages + other.messages,
})

/**
 * Why an expired month is kept. `open_jobs`: one of its steps still has to run; `open_tasks`: one of its messages is
 * snoozed, or one of its events is still being expanded; `open_digests`: a step that still has to run includes one of
 * its events, which a digest has collected; `unsent_messages`: one of its messages is not sent yet.
 */
export type KeptBy = 'open_jobs' | 'open_tasks' | 'open_digests' | 'unsent_messages'

const dayMs = 24 * 60 * 60_000

/** What is older may go. Undefined when everything stays. */
export function cutoffOf(days: RetentionDays, now: Date): Date | undefined {
  return days === 'off' ? undefined : new Date(now.getTime() - days * dayMs)
}

/** When a month may be dropped: its end is then older than this many days. */
export function droppableAt(days: number, monthEnds: Date): Date {
  return new Date(monthEnds.getTime() + days * dayMs)
}

/** `2026-01`. */
export const monthName = (from: Date): string => from.toISOString().slice(0, 7)

/** When the month of a partition is over: `jobs_2026_01` at the beginning of February. */
export function monthEndsAt(partition: string): Date {
  const [year, month] = partition.split('_').slice(-2).map(Number)
  return new Date(Date.UTC(year ?? Number.NaN, month ?? Number.NaN))
}

/** The days between two timestamps; the last one may be incomplete. */
export function daysBetween(from: Date, to: Date): { from: Date; to: Date }[] {
  const days: { from: Date; to: Date }[] = []
  for (let at = from.getTime(); at < to.getTime(); at += dayMs) {
    days.push({ from: new Date(at), to: new Date(Math.min(at + dayMs, to.getTime())) })
  }
  return days
}
