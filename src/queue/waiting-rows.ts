// Rows that wait for a batch: which may run together, and which have waited too long.
import { groupMaxFor } from './suspicion.ts'

export interface Held<Row> {
  readonly row: Row
  /** When it became ours, by the process's own steady clock. */
  readonly sinceMs: number
}

/** A row is begun under its lease for this long, half of what a lease lasts. */
const leaseUsedMsMax = 30_000

export const isFresh = ({ sinceMs }: Pick<Held<unknown>, 'sinceMs'>, nowMs: number): boolean =>
  nowMs - sinceMs < leaseUsedMsMax

/** Takes those out that are ours for too long already, but for those that must run under their lease. */
export function takeStale<Row>(waiting: Held<Row>[], nowMs: number, mustRun: (row: Row) => boolean): Row[] {
  const isStale = (held: Held<Row>): boolean => !isFresh(held, nowMs) && !mustRun(held.row)
  if (!waiting.some(isStale)) return []
  const all = waiting.splice(0)
  // Not spliced in as arguments: there may be more than a call can take.
  for (const held of all) if (!isStale(held)) waiting.push(held)
  return all.filter(isStale).map(({ row }) => row)
}

/** Takes the next rows that may run together from the front: fewer if one of them is possibly poisonous, or if they are heavy. */
export function nextGroup<Row extends { readonly interruptions: number }>(
  waiting: Held<Row>[],
  { batchMax, shareOf }: { readonly batchMax: number; shareOf?(row: Row): number },
): Held<Row>[] {
  let size = 0
  let filled = 0
  let limit = batchMax
  for (const { row } of waiting) {
    limit = Math.min(limit, groupMaxFor(row.interruptions))
    filled += shareOf?.(row) ?? 0
    if (size >= limit || filled > 1) break
    size += 1
  }
  return waiting.splice(0, Math.max(1, size))
}
