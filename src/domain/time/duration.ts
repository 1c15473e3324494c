// How long an amount of a unit is.
import type { TimeUnit } from '../workflows/workflow.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** A month is thirty days: what waits for a month waits as long in February. Calendar months are for timed digests. */
const unitMs: Readonly<Record<TimeUnit, number>> = {
  seconds: secondMs,
  minutes: minuteMs,
  hours: hourMs,
  days: dayMs,
  weeks: 7 * dayMs,
  months: 30 * dayMs,
}

/** A step that waits longer outlives its event's retention; a leap year still fits. */
export const durationMsMax = 366 * dayMs

export function durationMs(amount: number, unit: TimeUnit): number {
  return amount * unitMs[unit]
}
