// The conditions of API v2: JSON logic that says when a step is skipped.
import { evaluateLogic } from '../../domain/conditions/json-logic.ts'
import type { Decision } from '../../domain/delivery/decision.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { JobFacts } from './job-facts.ts'
import { brokenCondition } from './step-conditions.ts'

/** Undefined if nothing says that it should be skipped. */
export function skipRefusal({ step, scope }: JobFacts, now: Date): Decision | undefined {
  if (step.skip === undefined) return undefined
  try {
    const { holds, conditions } = evaluateLogic(step.skip, scope, now)
    if (!holds) return undefined
    return { kind: 'skip', details: [detail(now, 'conditionsFailed', { raw: { skip: { passed: true, conditions } } })] }
  } catch (error) {
    const raw = brokenCondition(error)
    if (raw === undefined) throw error
    return { kind: 'fail', stops: false, details: [detail(now, 'conditionsBroken', { raw })] }
  }
}
