// How a test of a workflow differs from a real run: it may skip steps, it need not wait, and what it collects or lets
// through does not affect real runs.
import type { Decision } from '../../domain/delivery/decision.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { JobFacts } from './job-facts.ts'

type TestFacts = Pick<JobFacts, 'event' | 'step'>

/** Undefined if the step should run. */
export function leftOutOfTest({ event, step }: TestFacts, now: Date): Decision | undefined {
  const steps = event.test?.steps
  if (steps === undefined || steps.includes(step._id)) return undefined
  return { kind: 'skip', details: [detail(now, 'testLeftOut')] }
}

/**
 * Whether a test continues where a real run would be held back. What must not be sent at all is not sent in a test
 * either.
 */
export function goesOnInTest({ event }: TestFacts, held: Decision): boolean {
  return event.test?.skipDelays === true && (held.kind === 'wait' || held.kind === 'joinDigest')
}

/** Until when a real run would have waited. */
export function notWaited(held: Decision, now: Date): StoredDetail[] {
  const until = held.kind === 'wait' ? held.until : held.kind === 'joinDigest' ? held.dueAt : undefined
  return until === undefined ? [] : [detail(now, 'testNotWaited', { raw: { untilDate: until.toISOString() } })]
}

/** What a step wants, without what a test must not do. */
export function inTest({ event }: TestFacts, decision: Decision, now: Date): Decision {
  const { test } = event
  if (test == null) return decision
  switch (decision.kind) {
    case 'wait':
      if (!test.skipDelays) return decision
      return { kind: 'complete', details: [...decision.details.filter(isNotWait), ...notWaited(decision, now)] }
    case 'joinDigest': {
      // A window of its own; and no silence ends by it.
      const { backoffMs: _, ...join } = decision
      if (!test.skipDelays) return { ...join, apart: event.id }
      return { ...join, apart: event.id, dueAt: now, details: [...join.details, ...notWaited(decision, now)] }
    }
    case 'takeThrottle':
      return { kind: 'complete', details: [...decision.details, detail(now, 'testNotThrottled')] }
    default:
      return decision
  }
}

const isNotWait = ({ code }: StoredDetail): boolean => code !== 'delayed'
