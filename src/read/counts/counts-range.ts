// The range of a counts query: widened to whole steps, divided into them, and mapped to the grain that is cheapest to
// add up.
import type { CountGrain } from '../../domain/insight/counts.ts'
import { countGrains, dayMs, hourMs, keptMs, minuteMs } from '../../domain/insight/counts.ts'
import { invalidField } from '../../domain/problem.ts'
import { timestampParameter } from '../../domain/time/timestamp-parameter.ts'
import { firstTimestampAt, usableZone, wallTimeAt } from '../../domain/time/zone.ts'

export interface AskedTime {
  /** ISO 8601. */
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export interface AskedSteps extends AskedTime {
  readonly step?: CountGrain | undefined
  /** Whose days; UTC unless given. */
  readonly zone?: string | undefined
}

/** Counts of one grain, from one time up to another. */
export interface CountPiece {
  readonly grain: CountGrain
  readonly from: Date
  readonly to: Date
}

export interface CountTime {
  readonly from: Date
  readonly to: Date
  /** The finest grain of the pieces: what is not folded yet counts as if it were. */
  readonly grain: CountGrain
  readonly pieces: readonly CountPiece[]
  /** When each step starts; one where the time is not cut. */
  readonly starts: readonly Date[]
}

export interface SteppedTime extends CountTime {
  readonly step: CountGrain
  readonly zone: string
}

/** As many as a chart can show: a day of minutes, two months of hours, all days that are kept. */
const countStepsMax = 1_500
const defaultMs = dayMs
/** Up to these a finer step is still readable. */
const minutesUpToMs = 6 * hourMs
const hoursUpToMs = 14 * dayMs

const grainMs: Readonly<Record<CountGrain, number>> = { minute: minuteMs, hour: hourMs, day: dayMs }

/** The time in steps of a minute, an hour or a day. */
export function steppedTime(asked: AskedSteps, now: Date): SteppedTime {
  const { fromMs, toMs } = askedTime(asked, now)
  const step = asked.step ?? stepFor(fromMs, toMs, now)
  const zone = askedZone(asked.zone)
  if (step === 'minute') refuseGone(fromMs, now, step)
  if ((toMs - fromMs) / grainMs[step] > countStepsMax) {
    const longer = countGrains[countGrains.indexOf(step) + 1]
    throw invalidField(
      'step',
      `step must result in at most ${countStepsMax} steps: use ${longer}, or a shorter range`,
      asked.step,
    )
  }
  const bounds = step === 'day' ? dayBounds(fromMs, toMs, zone) : evenBounds(fromMs, toMs, grainMs[step])
  const [from, to] = [bounds[0] as Date, bounds.at(-1) as Date]
  // Days of another zone are made of hours.
  const grain = step === 'day' && zone !== 'UTC' ? 'hour' : step
  return { from, to, step, zone, grain, pieces: [{ grain, from, to }], starts: bounds.slice(0, -1) }
}

/** The range as a whole, to the minute if it is short and to the hour if it is long. */
export function wholeTime(asked: AskedTime, now: Date): CountTime {
  const { fromMs, toMs } = askedTime(asked, now)
  const grain = stepFor(fromMs, toMs, now) === 'minute' ? 'minute' : 'hour'
  const [fromAt, toAt] = [floorTo(fromMs, grainMs[grain]), ceilTo(toMs, grainMs[grain])]
  const [from, to] = [new Date(fromAt), new Date(toAt)]
  return { from, to, grain, pieces: grain === 'minute' ? [{ grain, from, to }] : byDays(fromAt, toAt), starts: [from] }
}

/** Whole days, and the hours before and after them. */
function byDays(fromMs: number, toMs: number): CountPiece[] {
  const [firstDayMs, lastDayMs] = [ceilTo(fromMs, dayMs), floorTo(toMs, dayMs)]
  const piece = (grain: CountGrain, startMs: number, endMs: number): CountPiece[] =>
    startMs < endMs ? [{ grain, from: new Date(startMs), to: new Date(endMs) }] : []
  if (firstDayMs >= lastDayMs) return piece('hour', fromMs, toMs)
  return [
    ...piece('hour', fromMs, firstDayMs),
    ...piece('day', firstDayMs, lastDayMs),
    ...piece('hour', lastDayMs, toMs),
  ]
}

function askedTime(asked: AskedTime, now: Date): { fromMs: number; toMs: number } {
  // What happens right now is counted too.
  const toMs = asked.to === undefined ? now.getTime() + 1 : timestampOf('to', asked.to)
  const fromMs = asked.from === undefined ? toMs - defaultMs : timestampOf('from', asked.from)
  if (fromMs >= toMs) throw invalidField('from', 'from must be before to', asked.from)
  refuseGone(fromMs, now, 'hour')
  if (toMs - fromMs > keptMs.hour) {
    throw invalidField('to', `to must be at most ${keptMs.hour / dayMs} days after from`, asked.to)
  }
  return { fromMs, toMs }
}

const timestampOf = (field: string, text: string): number => timestampParameter(field, text).getTime()

/** What is no longer kept must not look as if nothing had happened. */
function refuseGone(fromMs: number, now: Date, grain: CountGrain): void {
  if (fromMs >= now.getTime() - keptMs[grain]) return
  const days = keptMs[grain] / dayMs
  const what = grain === 'minute' ? 'minutes are' : 'counts are'
  throw invalidField('from', `from must be within the last ${days} days: ${what} not kept longer`)
}

function stepFor(fromMs: number, toMs: number, now: Date): CountGrain {
  const isKept = fromMs >= now.getTime() - keptMs.minute
  if (toMs - fromMs <= minutesUpToMs && isKept) return 'minute'
  return toMs - fromMs <= hoursUpToMs ? 'hour' : 'day'
}

function askedZone(zone: string | undefined): string {
  if (zone === undefined || zone === 'UTC') return 'UTC'
  if (usableZone(zone) !== zone) {
    throw invalidField('zone', 'zone must be a time zone such as Europe/Berlin', zone)
  }
  return zone
}

const floorTo = (ms: number, stepMs: number): number => Math.floor(ms / stepMs) * stepMs
const ceilTo = (ms: number, stepMs: number): number => Math.ceil(ms / stepMs) * stepMs

function evenBounds(fromMs: number, toMs: number, stepMs: number): Date[] {
  const firstMs = floorTo(fromMs, stepMs)
  const count = (ceilTo(toMs, stepMs) - firstMs) / stepMs
  return Array.from({ length: count + 1 }, (_, place) => new Date(firstMs + place * stepMs))
}

/** Days are as long as the clocks of the zone make them. */
function dayBounds(fromMs: number, toMs: number, zone: string): Date[] {
  const { year, month, day } = wallTimeAt(new Date(fromMs), zone)
  const bounds: Date[] = []
  for (let place = 0; (bounds.at(-1)?.getTime() ?? 0) < toMs; place += 1) {
    const date = new Date(Date.UTC(year, month - 1, day + place))
    const wall = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
    bounds.push(firstTimestampAt({ ...wall, hour: 0, minute: 0, second: 0 }, zone))
  }
  return bounds
}
