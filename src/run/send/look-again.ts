// Integrations that must rest: when to look at them again, and who sends meanwhile.
import type { Slots } from '../../deliver/slots.ts'
import type { Integration } from '../../domain/integration.ts'
import { isCapturing } from '../../domain/integration.ts'
import type { Choose } from './outgoing.ts'

/** A job that found neither a slot nor room to wait for one comes back after this. */
export const lookAgainMs = 500
/** Nor does one wait longer than this for a provider that asked for patience: another may have taken its place. */
const patienceMsMax = 60_000

export function lookAgainAt(slots: Slots, integrationId: string, now: Date): Date {
  const paused = slots.pausedUntil(integrationId, now)?.getTime() ?? now.getTime() + lookAgainMs
  return new Date(Math.min(paused, now.getTime() + patienceMsMax))
}

/** The integration that was chosen, unless it must rest for long and another need not. What it is to keep nobody else sends. */
export function unpaused(
  slots: Slots,
  choose: Choose,
  chosen: Integration | undefined,
  tried: readonly string[],
  now: Date,
): Integration | undefined {
  const until = chosen && !isCapturing(chosen) ? slots.pausedUntil(chosen._id, now) : undefined
  if (chosen === undefined || until === undefined || until.getTime() - now.getTime() <= patienceMsMax) return chosen
  const other = choose([...tried, chosen._id])
  return other !== undefined && !slots.isPaused(other._id, now) ? other : chosen
}
