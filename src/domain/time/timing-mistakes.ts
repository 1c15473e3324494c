// What can never run in the settings of a delay or a digest, reported with what to fix.
import { isPath, pathLengthMax } from '../path.ts'
import type { DelayMetadata, DigestMetadata, TimeUnit } from '../workflows/workflow.ts'
import { ordinals, ordinalValues, timeUnits, weekDays } from '../workflows/workflow.ts'
import { comesEveryYear, cronOf } from './cron.ts'
import { hasCron, timeOf } from './digest-window.ts'
import { durationMs, durationMsMax } from './duration.ts'

/** The path below the step, such as `metadata.amount`. */
export interface TimingMistake {
  readonly path: string
  readonly message: string
}

export type Members = Readonly<Record<string, unknown>>

export interface Duration {
  readonly amount: number
  readonly unit: TimeUnit
}

/** A list longer than there are days says something twice. */
const listedMax = 31

export function digestMistakes(metadata: unknown, path = 'metadata'): TimingMistake[] {
  if (!isObject(metadata)) return [{ path, message: 'is required: an object with type, amount and unit' }]
  const type = oneOf(metadata['type'], ['regular', 'backoff', 'timed'], `${path}.type`)
  if (type.length > 0) return type
  return [
    ...(metadata['type'] === 'timed' ? timedWaitMistakes(metadata, path) : gatheringMistakes(metadata, path)),
    ...keyMistakes(metadata['digestKey'], `${path}.digestKey`),
    ...extensionMistakes(metadata, path),
  ]
}

export const isDigestMetadata = (metadata: unknown): metadata is DigestMetadata => digestMistakes(metadata).length === 0

export function delayMistakes(metadata: unknown, path = 'metadata'): TimingMistake[] {
  if (!isObject(metadata)) return [{ path, message: 'is required: an object with type, amount and unit' }]
  const type = oneOf(metadata['type'], ['regular', 'scheduled', 'timed', 'dynamic'], `${path}.type`)
  return type.length > 0 ? type : [...waitMistakes(metadata, path), ...extensionMistakes(metadata, path)]
}

function waitMistakes(metadata: Members, path: string): TimingMistake[] {
  switch (metadata['type']) {
    case 'regular':
      return durationMistakes(metadata, path)
    case 'timed':
      return timedWaitMistakes(metadata, path)
    case 'dynamic':
      return requiredPathMistakes(metadata['dynamicKey'], `${path}.dynamicKey`, 'the timestamp or the duration is')
    default:
      return requiredPathMistakes(metadata['delayPath'], `${path}.delayPath`, 'the timestamp is')
  }
}

export const isDelayMetadata = (metadata: unknown): metadata is DelayMetadata => delayMistakes(metadata).length === 0

/** `amount` and `unit` are the names of the two members that make the duration. */
export function durationMistakes(value: unknown, path: string, amount = 'amount', unit = 'unit'): TimingMistake[] {
  if (!isObject(value)) return [{ path, message: `must be an object with ${amount} and ${unit}` }]
  const given = value[amount]
  const mistakes = oneOf(value[unit], timeUnits, `${path}.${unit}`)
  const isCount = typeof given === 'number' && Number.isSafeInteger(given) && given >= 1
  if (!isCount) return [{ path: `${path}.${amount}`, message: 'must be a whole number, 1 or more' }, ...mistakes]
  if (mistakes.length === 0 && durationMs(given, value[unit] as TimeUnit) > durationMsMax)
    return [{ path: `${path}.${amount}`, message: `must not be longer than a year, as ${given} ${value[unit]} is` }]
  return mistakes
}

export const isDuration = (value: unknown): value is Duration => durationMistakes(value, '').length === 0

export function requiredPathMistakes(value: unknown, path: string, what: string): TimingMistake[] {
  return value === undefined
    ? [{ path, message: `is required: the path in the payload where ${what}` }]
    : pathMistakes(value, path)
}

/** Editors send an empty key for none. */
export const keyMistakes = (value: unknown, path: string): TimingMistake[] =>
  value === '' ? [] : pathMistakes(value, path)

function extensionMistakes({ extendToSchedule }: Members, path: string): TimingMistake[] {
  if (extendToSchedule === undefined || typeof extendToSchedule === 'boolean') return []
  return [{ path: `${path}.extendToSchedule`, message: 'must be true or false' }]
}

function pathMistakes(value: unknown, path: string): TimingMistake[] {
  if (value === undefined || isPath(value)) return []
  return [{ path, message: `must be a dotted path such as order.id, of at most ${pathLengthMax} characters` }]
}

/** A back-off without its own length has that of the digest, and the other way round. */
function gatheringMistakes(metadata: Members, path: string): TimingMistake[] {
  const mistakes = backoffMistakes(metadata, path)
  const { type, backoff, amount, backoffAmount } = metadata
  const looksBack = (type === 'backoff' || backoff === true) && backoffAmount !== undefined
  const hasLength = amount !== undefined && amount !== null && amount !== 0
  return looksBack && !hasLength ? mistakes : [...durationMistakes(metadata, path), ...mistakes]
}

function backoffMistakes(metadata: Members, path: string): TimingMistake[] {
  const { backoff, backoffAmount, backoffUnit } = metadata
  const mistakes: TimingMistake[] = []
  if (backoff !== undefined && typeof backoff !== 'boolean')
    mistakes.push({ path: `${path}.backoff`, message: 'must be true or false' })
  if (backoffAmount !== undefined || backoffUnit !== undefined)
    mistakes.push(...durationMistakes(metadata, path, 'backoffAmount', 'backoffUnit'))
  return mistakes
}

function timedWaitMistakes(metadata: Members, path: string): TimingMistake[] {
  if (hasCron(metadata)) return cronMistakes(metadata['cron'], `${path}.cron`)
  return [...durationMistakes(metadata, path), ...timedMistakes(metadata, path)]
}

function cronMistakes(cron: unknown, path: string): TimingMistake[] {
  const read = cronOf(cron)
  if ('mistake' in read) return [{ path, message: read.mistake }]
  if (comesEveryYear(read.cron)) return []
  return [{ path, message: 'may never occur, or not for years: use a day that exists in every year' }]
}

function timedMistakes(metadata: Members, path: string): TimingMistake[] {
  const { unit } = metadata
  if (unit !== 'days' && unit !== 'weeks' && unit !== 'months') return []
  const timed = metadata['timed'] ?? {}
  const at = `${path}.timed`
  if (!isObject(timed)) return [{ path: at, message: 'must be an object with atTime' }]
  const { atTime } = timed
  const isTime = typeof atTime === 'string' && timeOf(atTime) !== undefined
  const mistakes = isTime
    ? []
    : [{ path: `${at}.atTime`, message: `must be a time such as 09:00, 09:00:30 or 9am, for the unit ${unit}` }]
  if (unit === 'months') return [...mistakes, ...monthlyMistakes(timed, at, metadata['amount'])]
  return [...mistakes, ...weekDayMistakes(timed['weekDays'], at, metadata)]
}

function weekDayMistakes(wanted: unknown, path: string, metadata: Members): TimingMistake[] {
  const at = `${path}.weekDays`
  const { unit, amount } = metadata
  if (unit === 'days' && (wanted === undefined || isEmptyList(wanted))) return []
  if (!Array.isArray(wanted) || wanted.length === 0 || wanted.length > listedMax)
    return [{ path: at, message: `must be a list of days from ${weekDays.join(', ')}` }]
  const mistakes = wanted.flatMap((name: unknown, index) => oneOf(name, weekDays, `${at}.${index}`))
  if (mistakes.length > 0 || unit === 'weeks') return mistakes
  const isFixedDay = typeof amount === 'number' && amount % 7 === 0
  if (!isFixedDay || weekDays.every((name) => wanted.includes(name))) return []
  return [{ path: at, message: `may never occur every ${amount} days: use weeks instead` }]
}

/** Twelve months later is the same month: what it lacks once it lacks for years. */
const sameMonth = 12

function monthlyMistakes(timed: Members, path: string, amount: unknown): TimingMistake[] {
  const { monthlyType = 'each', ordinal, ordinalValue } = timed
  const type = oneOf(monthlyType, ['each', 'on'], `${path}.monthlyType`)
  if (type.length > 0) return type
  if (monthlyType === 'each') return monthDayMistakes(timed['monthDays'], `${path}.monthDays`, amount)
  const mistakes = [
    ...oneOf(ordinal, ordinals, `${path}.ordinal`),
    ...oneOf(ordinalValue, ordinalValues, `${path}.ordinalValue`),
  ]
  const isRare = ordinal === '5' && weekDays.some((name) => name === ordinalValue)
  if (mistakes.length > 0 || !isRare || amount !== sameMonth) return mistakes
  return [{ path: `${path}.ordinal`, message: 'may not occur for years every 12 months: use last instead of 5' }]
}

function monthDayMistakes(wanted: unknown, path: string, amount: unknown): TimingMistake[] {
  if (!Array.isArray(wanted) || wanted.length === 0 || wanted.length > listedMax)
    return [{ path, message: 'must be a list of days of the month, 1 to 31' }]
  const mistakes = wanted.flatMap((day: unknown, index) =>
    isMonthDay(day) ? [] : [{ path: `${path}.${index}`, message: 'must be a day of the month, 1 to 31' }],
  )
  if (mistakes.length > 0 || amount !== sameMonth || wanted.some((day) => Number(day) <= 28)) return mistakes
  return [{ path, message: 'may not occur for years every 12 months: add a day up to 28' }]
}

/** Text in workflows, a number in the activity: both are understood. */
function isMonthDay(day: unknown): boolean {
  if (typeof day === 'string' ? !/^\d{1,2}$/.test(day) : typeof day !== 'number') return false
  return Number.isInteger(Number(day)) && Number(day) >= 1 && Number(day) <= 31
}

export function oneOf(value: unknown, allowed: readonly string[], path: string): TimingMistake[] {
  return typeof value === 'string' && allowed.includes(value)
    ? []
    : [{ path, message: `must be one of ${allowed.join(', ')}` }]
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

export const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
