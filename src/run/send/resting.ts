// Integrations that pause, because their provider is down or asked for it: which sends in the meantime, and what is
// written.
import type { Limits, Rest } from '../../deliver/limits.ts'
import { heldMsMax } from '../../domain/delivery/after-outcome.ts'
import { until } from '../../domain/delivery/due.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import { isCapturing } from '../../domain/delivery/integration.ts'
import type { Job, JobState } from '../../domain/delivery/job.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import { providerOf } from '../../providers/registry.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import { failed } from '../decide/settle-decision.ts'
import type { Choose } from './outgoing.ts'

/** A shorter pause is waited for: another integration costs money, and may look different to the recipient. */
const pauseMsMax = 60_000
/** Those that wait for the same end come back spread over this share of the wait, and over this much at least. */
const spreadShare = 0.1
const spreadMsMin = 1_000

/** The selected integration, unless it pauses for long and another does not. What is captured calls no provider. */
export function rested(
  limits: Limits,
  choose: Choose,
  chosen: Integration | undefined,
  tried: readonly string[],
  now: Date,
): Integration | undefined {
  const rest = chosen && !isCapturing(chosen) ? limits.rest(chosen._id, now) : undefined
  if (chosen === undefined || rest === undefined || !isLong(rest, now)) return chosen
  const passed = [...tried, chosen._id]
  for (;;) {
    const other = choose(passed)
    if (other === undefined || passed.includes(other._id)) return chosen
    if (limits.rest(other._id, now) === undefined) return other
    passed.push(other._id)
  }
}

const isLong = ({ until, downSince }: Rest, now: Date): boolean =>
  downSince !== undefined || until.getTime() - now.getTime() > pauseMsMax

export interface HoldFacts {
  readonly integration: Integration
  readonly rest: Rest
  readonly now: Date
  /** From 0 up to 1. */
  readonly random: number
}

/** The job comes back when the pause is over; until then it holds no lease, and nothing is counted against it. */
export function held(job: Job, facts: HoldFacts): Settlement {
  const { rest, now } = facts
  const due = afterRest(rest, facts)
  const status = job.status === 'running' ? 'running' : 'queued'
  const { downSince } = rest
  if (downSince === undefined) return settles(job, status, { due: until(due) })
  const state: JobState = {
    ...job.state,
    downSince: downSince.toISOString(),
    heldSince: job.state?.heldSince ?? now.toISOString(),
  }
  // Recorded once for each time the provider goes down, however often it is checked in the meantime.
  const isSaid = job.state?.downSince === state.downSince
  return settles(job, status, { due: until(due), state, details: isSaid ? [] : [heldDetail(facts, due)] })
}

/** The error of a message that is given up. */
export const heldTooLong = 'The provider was down longer than a message may be held'

/** `before`: how long it had been held before it was last tried. */
export const isHeldTooLong = ({ state }: Job, now: Date, before = 0): boolean =>
  state?.heldSince !== undefined && now.getTime() - Date.parse(state.heldSince) + before >= heldMsMax

/** Held again, unless it was for too long: then the step has failed. For jobs of which no message is written. */
export function heldOrFailed(facts: JobFacts, hold: HoldFacts): Settlement {
  const { rest, now, integration } = hold
  if (rest.downSince === undefined || !isHeldTooLong(facts.job, now)) return held(facts.job, hold)
  const { providerId } = integration
  return failed(
    facts,
    { details: [detail(now, 'providerError', { providerId, raw: { message: heldTooLong } })], stops: false },
    now,
  )
}

/** A little later each, so that a provider that comes back is not met by all at once. */
export function afterRest({ until }: Rest, { now, random }: Pick<HoldFacts, 'now' | 'random'>): Date {
  const spreadMs = Math.max(spreadMsMin, (until.getTime() - now.getTime()) * spreadShare)
  return new Date(Math.ceil(until.getTime() + random * spreadMs))
}

export function heldDetail({ integration, rest: { downSince }, now }: HoldFacts, due: Date): StoredDetail {
  const { providerId } = integration
  const since = downSince?.toISOString() ?? now.toISOString()
  const name = providerOf(providerId)?.name ?? providerId
  return detail(now, 'providerDown', {
    words: `The message is held: ${name} has been down since ${since}; the next attempt is at ${due.toISOString()}`,
    providerId,
    raw: { integrationIdentifier: integration.identifier, downSince: since, nextAttemptAt: due.toISOString() },
  })
}

/** The job's state without the fact that it is held. */
export function released(state: JobState | null): JobState {
  if (state?.heldSince === undefined && state?.downSince === undefined) return state ?? {}
  const { heldSince: _held, downSince: _down, ...rest } = state
  return rest
}
