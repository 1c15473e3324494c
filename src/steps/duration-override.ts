// The duration a trigger asks for instead of a step's own: `overrides.delay`.
import type { Duration, TimingMistake } from '../domain/time/timing-mistakes.ts'
import { durationMistakes, isDuration } from '../domain/time/timing-mistakes.ts'

export type DurationOverride = { readonly duration?: Duration } | { readonly mistakes: readonly TimingMistake[] }

export function durationOverrideOf(overrides: Readonly<Record<string, unknown>>): DurationOverride {
  const given = Object.hasOwn(overrides, 'delay') ? overrides['delay'] : undefined
  if (given === undefined || given === null) return {}
  return isDuration(given) ? { duration: given } : { mistakes: durationMistakes(given, 'overrides.delay') }
}

/** `overrides.delay.amount must be a whole number, 1 or more; …` */
export function describeErrors(mistakes: readonly TimingMistake[]): string {
  return mistakes.map(({ path, message }) => `${path} ${message}`).join('; ')
}
