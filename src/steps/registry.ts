// Every step type that can run, by name.
import type { RunnableStepType, StepType } from '../domain/workflow.ts'
import { delay } from './delay.ts'
import { digest } from './digest.ts'
import { email } from './email.ts'
import { inApp } from './in-app.ts'
import type { Step } from './step.ts'

const steps: Readonly<Record<RunnableStepType, Step>> = { in_app: inApp, email, delay, digest }

/** Workflows that name another type are refused when they are saved. */
export function stepOf(type: StepType): Step {
  const step = (steps as Readonly<Record<string, Step | undefined>>)[type]
  if (step === undefined) throw new Error(`Steps of the type ${type} cannot run`)
  return step
}
