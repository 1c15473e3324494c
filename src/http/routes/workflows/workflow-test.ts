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
import { eventMemberSchemas } from '../events/event-members.ts'
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
        'The recipient: the subscriberId of an existing subscriber, or a subscriber (created or updated first, as by a trigger).',
    }),
    payload: Type.Optional(
      freeObject({
        description: 'Data for conditions and templates. If omitted, sample data is generated from the workflow.',
      }),
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
        description: 'Whether to skip the waits of delays, digests and subscriber schedules.',
      }),
    ),
  },
  {
    title: 'TestWorkflow',
    examples: [{ to: { subscriberId: 'me', email: 'me@example.com' }, payload: { orderId: '42' }, steps: ['mail'] }],
  },
)

function testMembers() {
  const { name: _known, payload: _free, ...members } = eventMemberSchemas()
  return Type.Object({ ...testBody.properties, ...members })
}

const person = freeObject({ description: 'Fields of a subscriber; omitted fields get sample values.' })
const previewBody = Type.Object(
  {
    payload: Type.Optional(freeObject({ description: 'Omitted fields get sample values.' })),
    subscriberId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'An existing subscriber, whose data and language are used.',
      }),
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
    summary: 'Test a workflow with one recipient',
    description:
      'Runs the workflow for one recipient as a trigger would, even if it is inactive; conditions, preferences and suppressions apply. Everything it creates is marked `isTest`; it does not join digests of real events or count against throttles.',
    category: 'trigger',
    // It bypasses inactive workflows, throttles and quiet hours, and reveals which subscribers exist: more than a
    // trigger-only key may do.
    scope: 'full',
    params: Type.Object({ workflowId }),
    body: testBody,
    memberSchema: testMembers,
    replies: { 201: triggerResult },
    handle: async ({ db, triggers }, { principal, params, body, idempotency, traceparent }) => {
      const { steps, skipDelays, ...given } = body
      const plan = await planTest(db, principal.environment, { ...params, ...body })
      const event = asTest(readEvent({ ...given, name: plan.name, payload: plan.payload }), plan.test)
      return throwIfRejected(await triggers.single(principal.environment, { event, idempotency, traceparent }))
    },
  }),
  route({
    ...shared,
    path: '/v1/workflows/{workflowId}/steps/{stepId}/preview',
    operationId: 'previewWorkflowStep',
    summary: 'Preview a step for a subscriber',
    description:
      'Renders the step as it would be sent; nothing is sent or stored. A request costs 20 tokens. Header values of custom steps and query strings of URLs are `[redacted]` for keys without the scope `full`.',
    category: 'configuration',
    scope: 'read',
    cost: 20,
    params: Type.Object({ workflowId, stepId: Type.String(stepName) }),
    body: previewBody,
    replies: { 201: stepPreview },
    handle: async ({ db, world }, { principal, params, body }) => {
      const { subscriberId, ...previewPayload } = body
      if (subscriberId !== undefined && body.subscriber !== undefined) {
        throw invalidField('subscriber', 'subscriber must be omitted if subscriberId is given')
      }
      return previewStep(db, world, principal, { ...params, previewPayload, subscriberId, payloadPath: 'payload' })
    },
  }),
]

const asTest = (event: GivenEvent, test: EventTest): GivenEvent =>
  'request' in event ? { ...event, request: { ...event.request, test } } : event
