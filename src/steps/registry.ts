// Every step type that can run, by name.
import type { RunnableStepType, StepType } from '../domain/workflows/workflow.ts'
import { chat } from './chat.ts'
import { custom } from './custom.ts'
import { delay } from './delay.ts'
import { digest } from './digest.ts'
import { email } from './email.ts'
import { inApp } from './in-app.ts'
import { push } from './push.ts'
import { sms } from './sms.ts'
import type { Step } from './step.ts'
import { throttle } from './throttle.ts'

const steps: Readonly<Record<RunnableStepType, Step>> = {
  in_app: inApp,
  email,
  sms,
  chat,
  push,
  delay,
  digest,
  throttle,
  custom,
}

/** Workflows that name another type are refused when they are saved. */
export function stepOf(type: StepType): Step {
  const step = (steps as Readonly<Record<string, Step | undefined>>)[type]
  if (step === undefined) throw new Error(`Steps of the type ${type} cannot run`)
  return step
}
