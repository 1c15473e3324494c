// Trying a workflow: /v1/workflows/{workflowId}/test, and what one of its steps would say.
import { Type } from 'typebox'
import type { GivenEvent } from '../../../accept/judge-events.ts'
import type { EventTest } from '../../../domain/delivery/event.ts'
import { invalidField } from '../../../domain/problem.ts'
import { previewStep } from '../../../manage/workflows/preview-step.ts'
import { planTest } from '../../../manage/workflows/workflow-test.ts'
import { readEvent } from '../../request/event-request.ts'
import { route } from '../../route.ts'
import { freeObject } from '../../schemas.ts'
import { eventMembers, throwIfRejected, triggerResult } from '../events/events.ts'
import { stepPreview } from './workflow-v2-schemas.ts'

const workflowId = Type.String({ minLength: 1, maxLength: 255, description: 'The `_id` or the trigger identifier.' })
const stepName = { minLength: 1, maxLength: 255, description: 'Its `_id`, `uuid` or `stepId`.' }
/** More than a workflow has. */
const stepsMax = 100

const { payload: _payload, to: _to, name: _name, ...eventParts } = eventMembers
const testBody = Type.Object(
  {
    ...eventParts,
    to: Type.Unsafe<unknown>({
      type: ['string', 'object'],
      description:
        'Whom it goes to: the subscriberId of somebody who is known, or a subscriber (written first, as by a trigger).',
    }),
    payload: Type.Optional(
      freeObject({ description: 'Data for conditions and templates. Left out, it is made up from the workflow.' }),
    ),
    steps: Type.Optional(
      Type.Array(Type.String(stepName), {
        minItems: 1,
        maxItems: stepsMax,
        description: 'Only these steps run; the others are skipped.',
      }),
    ),
    skipDelays: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Whether delays, digests and what the subscriber wants later are not waited for.',
      }),
    ),
  },
  {
    title: 'TestWorkflow',
    examples: [{ to: { subscriberId: 'me', email: 'me@example.com' }, payload: { orderId: '42' }, steps: ['mail'] }],
  },
)

const person = freeObject({ description: 'Members of a subscriber; what is left out is made up.' })
const previewBody = Type.Object(
  {
    payload: Type.Optional(freeObject({ description: 'What is left out of it is made up.' })),
    subscriberId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Somebody who is known: their data and language.' }),
    ),
    subscriber: Type.Optional(person),
  },
  { title: 'PreviewWorkflowStep', examples: [{ payload: { orderId: '42' }, subscriberId: 'user-1' }] },
)

const shared = { tag: 'Workflows', method: 'POST', errors: [404] } as const

export const workflowTestRoutes = [
  route({
    ...shared,
    path: '/v1/workflows/{workflowId}/test',
    operationId: 'testWorkflow',
    summary: 'Test a workflow on one person',
    description:
      'Runs it for one person as a trigger would, even where it is switched off; conditions, preferences and suppressions apply. Everything it makes is marked `isTest`; it joins no digest of real events and uses up no throttle.',
    category: 'trigger',
    // It passes by what is switched off, throttles and quiet hours, and says who is known: more than a key that only triggers may.
    scope: 'full',
    params: Type.Object({ workflowId }),
    body: testBody,
    replies: { 201: triggerResult },
    handle: async ({ db, triggers }, { caller, params, body, idempotency, traceparent }) => {
      const { steps, skipDelays, ...given } = body
      const plan = await planTest(db, caller.environment, { ...params, ...body })
      const event = asTest(readEvent({ ...given, name: plan.name, payload: plan.payload }), plan.test)
      return throwIfRejected(await triggers.single(caller.environment, { event, idempotency, traceparent }))
    },
  }),
  route({
    ...shared,
    path: '/v1/workflows/{workflowId}/steps/{stepId}/preview',
    operationId: 'previewWorkflowStep',
    summary: 'Preview a step for a subscriber',
    description:
      'Rendered as it would be sent; nothing is sent or stored. A call costs 20 tokens. What headers of custom steps come to, and the queries of addresses, are `[redacted]` for keys without the scope `full`.',
    category: 'configuration',
    scope: 'read',
    cost: 20,
    params: Type.Object({ workflowId, stepId: Type.String(stepName) }),
    body: previewBody,
    replies: { 201: stepPreview },
    handle: async ({ db, world }, { caller, params, body }) => {
      const { subscriberId, ...previewPayload } = body
      if (subscriberId !== undefined && body.subscriber !== undefined) {
        throw invalidField('subscriber', 'subscriber must be left out where subscriberId is given')
      }
      return previewStep(db, world, caller, { ...params, previewPayload, subscriberId, payloadPath: 'payload' })
    },
  }),
]

const asTest = (event: GivenEvent, test: EventTest): GivenEvent =>
  'request' in event ? { ...event, request: { ...event.request, test } } : event
