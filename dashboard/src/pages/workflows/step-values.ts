// Values of a step by their paths, as its forms read and write them.
import type { DraftStep, Json } from './draft-step.ts'
import type { Schema } from './schema.ts'
import { membersOf } from './schema.ts'

type Path = readonly string[]

/** The members that a draft has in their own places; the others are in its rest. */
const ownMembers = new Set(['name', 'active', 'template', 'metadata', 'filters'])
const wholeOf = (step: DraftStep): Json => ({ ...step.rest, ...step })

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Json)[name] : undefined

export const valueAt = (step: DraftStep, path: Path): unknown => path.reduce<unknown>(memberOf, wholeOf(step))

/** With another value there; nothing is the same as left out. */
export function withValue(step: DraftStep, path: Path, value: unknown): DraftStep {
  const [name = '', ...rest] = path
  const next = changed(wholeOf(step)[name], rest, value === '' ? undefined : value)
  if (name === 'name') return { ...step, name: String(next ?? '') }
  if (ownMembers.has(name)) return { ...step, [name]: next ?? {} }
  const { [name]: _before, ...others } = step.rest
  return { ...step, rest: next === undefined ? others : { ...step.rest, [name]: next } }
}

function changed(before: unknown, path: Path, value: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value
  if (Array.isArray(before)) return before.with(Number(name), changed(before[Number(name)], rest, value) ?? {})
  const members = (typeof before === 'object' && before !== null ? before : {}) as Json
  const next = changed(members[name], rest, value)
  if (next !== undefined) return { ...members, [name]: next }
  const { [name]: _gone, ...others } = members
  // An object without members says nothing.
  return Object.keys(others).length === 0 ? undefined : others
}

/** A duration where there is none, and a time of day that comes every so many days, weeks or months. */
const firstDuration: Json = { amount: 1, unit: 'hours' }

/** The settings of another kind: what it does not have would be refused, and not be seen. */
export function settingsForKind(settings: Schema, stepType: string, kind: string, before: Json): Json {
  const own = new Set(membersOf(settings, stepType, kind))
  const kept = Object.fromEntries(Object.entries(before).filter(([name]) => own.has(name)))
  const isLong = ['days', 'weeks', 'months'].includes(String(before['unit']))
  const duration =
    own.has('timed') && !isLong ? { amount: 1, unit: 'days' } : kept['amount'] === undefined ? firstDuration : {}
  return {
    ...kept,
    ...(own.has('amount') ? duration : {}),
    ...(own.has('timed') && kept['timed'] === undefined ? { timed: { atTime: '09:00' } } : {}),
    type: kind,
  }
}

/** What says on which days belongs to its unit; with another one it would be sent, and not be seen. */
const membersOfUnits: Readonly<Record<string, readonly string[]>> = {
  weeks: ['weekDays'],
  months: ['monthDays', 'monthlyType', 'ordinal', 'ordinalValue'],
}

export function settingsForUnit(settings: Json, unit: string): Json {
  const { timed } = settings as { timed?: Json }
  if (timed === undefined) return { ...settings, unit }
  const foreign = new Set(Object.values(membersOfUnits).flat())
  for (const name of membersOfUnits[unit] ?? []) foreign.delete(name)
  return { ...settings, unit, timed: Object.fromEntries(Object.entries(timed).filter(([name]) => !foreign.has(name))) }
}
