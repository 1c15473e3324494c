// Whether the subscriber wants to be notified later: outside their hours, during do not disturb, or as a digest.
import type { Decision } from '../../domain/delivery/decision.ts'
import type { HeldBy } from '../../domain/delivery/job.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { SubscriberPreferences } from '../../domain/preferences/preference.ts'
import { choiceFor, gatheredUntil } from '../../domain/preferences/preference.ts'
import type { OutsideWay } from '../../domain/preferences/schedule.ts'
import { nextOpening } from '../../domain/preferences/schedule.ts'
import type { StepType } from '../../domain/workflows/workflow.ts'
import type { JobFacts } from './job-facts.ts'

type HoldBackFacts = Pick<JobFacts, 'job' | 'step' | 'version' | 'subscriber' | 'digestStepId'>

/** What reaches a subscriber wherever they are. The feed is silent, and steps that only wait notify no one. */
const disturbing: ReadonlySet<StepType> = new Set<StepType>(['email', 'sms', 'push', 'chat', 'custom'])
/** What a person who wants a workflow gathered does not want to get one by one. */
const outOfApp: ReadonlySet<StepType> = new Set<StepType>(['email', 'sms', 'push', 'chat'])

/** Undefined if it is to be sent now. */
export function heldBack(facts: HoldBackFacts, now: Date): Decision | undefined {
  const { step, version, subscriber } = facts
  const { preferences, timezone } = subscriber
  if (preferences === null || version.definition.critical || !disturbing.has(step.template.type)) return undefined
  const frequency = isGathered(facts) ? undefined : choiceFor(preferences, version.workflowId)?.frequency
  const gathered = gatheredUntil(frequency, timezone, now)
  const until = undisturbedFrom(preferences, timezone, gathered ?? now)
  if (until === undefined) {
    return { kind: 'skip', details: [detail(now, 'outsideSchedule', { raw: { opensAt: null, timezone } })] }
  }
  if (until <= now) return undefined
  if (gathered !== undefined) {
    // An hour begins with the first event; a time of day is the same for all that wait for it.
    const key = frequency?.type === 'hourly' ? 'hourly' : until.toISOString()
    return gather(facts, 'frequency', key, until)
  }
  if (wantsQuiet(preferences, now)) return gather(facts, 'doNotDisturb', until.toISOString(), until)
  return outside(facts, preferences.schedule?.outside ?? 'skip', until, now)
}

function outside(facts: HoldBackFacts, asked: OutsideWay, until: Date, now: Date): Decision {
  const { job, subscriber } = facts
  // What was held before may stand for others, and is not dropped because its turn came late.
  const way = asked === 'skip' && job.state?.heldBy !== undefined ? 'bundle' : asked
  const untilDate = until.toISOString()
  switch (way) {
    case 'skip': {
      const raw = { opensAt: untilDate, timezone: subscriber.timezone }
      return { kind: 'skip', details: [detail(now, 'outsideSchedule', { raw })] }
    }
    case 'hold': {
      const raw = { by: 'schedule', delay: until.getTime() - now.getTime(), untilDate }
      const { windowId: _, ...state } = job.state ?? {}
      return {
        kind: 'wait',
        until,
        details: [detail(now, 'held', { raw })],
        state: { ...state, heldBy: 'schedule', until: untilDate },
      }
    }
    case 'bundle':
      return gather(facts, 'schedule', untilDate, until)
  }
}

function gather({ step }: HoldBackFacts, by: HeldBy, key: string, dueAt: Date): Decision {
  return { kind: 'joinDigest', stepId: step._id, dueAt, held: { by, key }, details: [] }
}

/**
 * Whether the run was already collected for this subscriber: by a digest that precedes a step which sends something.
 */
function isGathered({ step, version, digestStepId }: HoldBackFacts): boolean {
  if (!outOfApp.has(step.template.type)) return true
  const gatheredAt = version.definition.steps.find((one) => one._id === digestStepId)
  return gatheredAt !== undefined && outOfApp.has(gatheredAt.template.type)
}

function wantsQuiet({ doNotDisturbUntil }: SubscriberPreferences, now: Date): boolean {
  return doNotDisturbUntil !== undefined && Date.parse(doNotDisturbUntil) > now.getTime()
}

/** The first time at or after `at` at which the subscriber may be disturbed; undefined if there is none. */
function undisturbedFrom(preferences: SubscriberPreferences, zone: string | null, at: Date): Date | undefined {
  const { schedule, doNotDisturbUntil } = preferences
  const from = wantsQuiet(preferences, at) ? new Date(doNotDisturbUntil ?? '') : at
  return schedule === undefined ? from : nextOpening(schedule, zone, from)
}

/** A subscriber who keeps changing their hours is notified in the end. */
const extensionsMax = 3

/**
 * For a job whose wait has ended: what was held is released, and what would end outside the hours continues to wait.
 */
export function heldOn(facts: HoldBackFacts, now: Date): Decision | undefined {
  const { job } = facts
  if (job.state?.heldBy !== undefined) {
    const { windowId } = job.state
    // The number of collected events is recorded when the window closes.
    return windowId === undefined
      ? { kind: 'release', details: [detail(now, 'heldReleased')] }
      : { kind: 'release', windowId, details: [] }
  }
  const until = extendsTo(facts, now)
  const extensions = job.state?.scheduleExtensions ?? 0
  if (until === undefined || extensions >= extensionsMax) return undefined
  const untilDate = until.toISOString()
  const raw = { delay: until.getTime() - now.getTime(), untilDate, scheduleExtensionsCount: extensions + 1 }
  return {
    kind: 'wait',
    until,
    details: [detail(now, 'scheduleExtended', { raw })],
    state: { ...job.state, until: untilDate, scheduleExtensions: extensions + 1 },
  }
}

/** The detail of a wait that ends outside the hours after all. */
export function extensionDetails(facts: HoldBackFacts, now: Date): StoredDetail[] {
  const extensions = facts.job.state?.scheduleExtensions ?? 0
  if (extensions < extensionsMax || extendsTo(facts, now) === undefined) return []
  return [detail(now, 'scheduleExtensionsMax', { raw: { scheduleExtensionsCount: extensions } })]
}

/** Undefined when it ends now, as most do. */
function extendsTo({ step, version, subscriber }: HoldBackFacts, now: Date): Date | undefined {
  const { preferences, timezone } = subscriber
  const { metadata } = step
  const isAsked = metadata !== undefined && 'extendToSchedule' in metadata && metadata.extendToSchedule === true
  if (!isAsked || preferences === null || version.definition.critical) return undefined
  const until = undisturbedFrom(preferences, timezone, now)
  return until === undefined || until <= now ? undefined : until
}
