// The conditions of a step and of its variants, evaluated with the facts of a job; and what must be called first.
import type { StepFilter } from '../../domain/conditions/condition.ts'
import type { Evaluation } from '../../domain/conditions/condition-evaluation.ts'
import { evaluateFilters } from '../../domain/conditions/condition-evaluation.ts'
import { ConditionsTooLarge } from '../../domain/conditions/condition-work.ts'
import { evaluateLogic } from '../../domain/conditions/json-logic.ts'
import { LogicTooLarge } from '../../domain/conditions/json-logic-operators.ts'
import type { Renderer } from '../../domain/workflows/rendering.ts'
import { RenderError } from '../../domain/workflows/rendering.ts'
import type { StepVariant } from '../../domain/workflows/workflow.ts'
import type { JobFacts } from './job-facts.ts'
import { messagesOfStep } from './previous-steps.ts'
import { needsOf } from './step-needs.ts'

export function evaluateConditions(
  filters: readonly StepFilter[],
  { scope, version, previous, webhookAnswers, webhooksHold }: JobFacts,
  renderer: Renderer,
  now: Date,
): Evaluation {
  return evaluateFilters(filters, scope, renderer.values(scope), {
    now,
    messagesOf: (name) => messagesOfStep(version.definition.steps, previous, name),
    answerOf: (address) => {
      const answer = webhookAnswers?.get(address)
      return answer?.kind === 'answered' ? answer.body : undefined
    },
    assumes: webhooksHold,
  })
}

/** The variants that may be chosen: one without conditions never is. */
export const choosableVariants = ({ step, scope }: JobFacts, now: Date): StepVariant[] =>
  step.variants.filter(
    ({ active, filters, skip }) =>
      active && filters.length > 0 && (skip === undefined || !evaluateLogic(skip, scope, now).holds),
  )

/** The detail for a condition that could not be evaluated; undefined if that is not its own fault. */
export function brokenCondition(error: unknown): { field: string; message: string } | undefined {
  if (error instanceof RenderError) return { field: error.field, message: error.message }
  if (error instanceof ConditionsTooLarge) return { field: 'filters', message: error.message }
  return error instanceof LogicTooLarge ? { field: 'skip', message: error.message } : undefined
}

/** A message that was held back, or a wait that is over, passed its conditions before. */
const asksConditions = ({ job }: JobFacts): boolean => job.status !== 'delayed' && job.state?.heldBy === undefined

/** The URLs whose responses are still missing to decide: none if the other conditions decide. */
export function openQuestions(facts: JobFacts, renderer: Renderer, now: Date): readonly string[] {
  if (facts.job.status === 'delayed' || !needsOf(facts.step).webhooks) return []
  try {
    if (asksConditions(facts)) {
      const own = evaluateConditions(facts.step.filters, facts, renderer, now)
      if (!own.passed) return own.asks
    }
    for (const variant of choosableVariants(facts, now)) {
      const { passed, asks } = evaluateConditions(variant.filters, facts, renderer, now)
      if (passed || asks.length > 0) return asks
    }
    return []
  } catch (error) {
    // The code that decides will record it.
    if (brokenCondition(error) === undefined) throw error
    return []
  }
}
