// What a step's conditions and templates need beyond the usual: determined once per version, so that others cost
// nothing.
import { partsOf } from '../../domain/conditions/condition.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'

export interface StepNeeds {
  /** What became of the steps before it. */
  readonly previous: boolean
  /** The answers of the customer's own service. */
  readonly webhooks: boolean
}

const found = new WeakMap<NotificationStep, StepNeeds>()

/** `steps.` or `steps[`, in any template or rule of the step. Should it stand in plain text, a read is wasted. */
const namesSteps = /\bsteps\s*[.[]/

export function needsOf(step: NotificationStep): StepNeeds {
  const known = found.get(step)
  if (known !== undefined) return known
  const parts = [step, ...step.variants].flatMap(({ filters }) => filters.flatMap(partsOf))
  const needs = {
    previous: parts.some(({ on }) => on === 'previousStep') || namesSteps.test(JSON.stringify(step)),
    webhooks: parts.some(({ on }) => on === 'webhook'),
  }
  found.set(step, needs)
  return needs
}
