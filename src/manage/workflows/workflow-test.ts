// A test of a workflow: which parts run, and the defaults for what the caller omits.
import type { Sql } from '../../db/sql.ts'
import type { EventTest } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import { isTopicRecipient } from '../../domain/people/topic.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { invalid, invalidField, notFound } from '../../domain/problem.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import { findSubscriberIds } from '../../store/people/subscribers.ts'
import { samplePayloadOf } from './preview-sample.ts'
import { findByAnyName, stepCalled } from './preview-step.ts'
import { unknownWorkflow } from './workflow-rules.ts'

export interface WorkflowTest {
  /** The workflow's identifier. */
  readonly name: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly test: EventTest
}

export interface TestCall {
  readonly workflowId: string
  /** A subscriberId, or a subscriber. */
  readonly to: unknown
  readonly payload?: Readonly<Record<string, unknown>>
  readonly steps?: readonly string[]
  readonly skipDelays?: boolean
}

export async function planTest(db: Sql, environment: Environment, call: TestCall): Promise<WorkflowTest> {
  const row = await findByAnyName(db, environment, call.workflowId)
  if (row === undefined) throw unknownWorkflow(call.workflowId)
  await refuseOthers(db, environment, call.to)
  const { definition, identifier } = row
  const steps = call.steps && stepsCalled(definition.steps, call.steps)
  const payload = call.payload ?? samplePayloadOf(definition, steps ?? definition.steps)
  const chosen = steps === undefined ? {} : { steps: steps.map((step) => step._id) }
  return { name: identifier, payload, test: { ...chosen, skipDelays: call.skipDelays ?? true } }
}

/** One recipient, and not one that a typo would create: no one could say why nothing arrived. */
async function refuseOthers(db: Sql, environment: Environment, to: unknown): Promise<void> {
  if (typeof to === 'object' && to !== null && isTopicRecipient(to)) {
    throw invalidField('to', 'to must be a subscriberId or a subscriber: a test has one recipient')
  }
  if (typeof to !== 'string') return
  const known = await findSubscriberIds(db, environment, [to.trim()])
  if (known.size === 0) {
    throw notFound(`Subscriber ${to} was not found; give an object with subscriberId and address to create it`)
  }
}

function stepsCalled(steps: readonly NotificationStep[], names: readonly string[]): NotificationStep[] {
  const errors: FieldErrors = {}
  const found = names.flatMap((name, index) => {
    const step = stepCalled(steps, name)
    const wrong = step === undefined ? 'is not a step of this workflow' : step.active ? undefined : 'is switched off'
    if (wrong !== undefined) errors[`steps.${index}`] = { messages: [`steps.${index} ${wrong}`], value: name }
    return step ?? []
  })
  if (Object.keys(errors).length > 0) throw invalid(errors)
  return found
}
