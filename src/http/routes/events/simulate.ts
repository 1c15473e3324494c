// What an event would do, without doing it: /v1/events/simulate.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { triggerStatuses } from '../../../domain/delivery/event.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import { mayUse } from '../../../domain/environment.ts'
import { simulatedOutcomes } from '../../../domain/insight/simulation.ts'
import { whyStatuses } from '../../../domain/insight/why.ts'
import { forbidden } from '../../../domain/problem.ts'
import { stepTypes } from '../../../domain/workflows/workflow.ts'
import { recipientsShownMax } from '../../../simulate/simulate.ts'
import { readEvent } from '../../request/event-request.ts'
import { route } from '../../route.ts'
import { freeObject, literals, nullableString, timestamp } from '../../schemas.ts'
import { createWorkflowBody } from '../workflows/workflow-schemas.ts'

const integration = Type.Object(
  { _id: Type.String(), identifier: Type.String(), providerId: Type.String(), channel: literals(channels) },
  { title: 'SimulatedIntegration' },
)
const message = Type.Object(
  {
    channel: literals(channels),
    integration: Type.Optional(integration),
    errorText: Type.Optional(Type.String({ description: 'Why nothing would be sent.' })),
    subject: Type.Optional(Type.String()),
    title: Type.Optional(Type.String()),
    content: Type.Optional(Type.Unsafe<unknown>({ description: 'A text, or the blocks of an e-mail.' })),
    email: Type.Optional(Type.String()),
    phone: Type.Optional(Type.String()),
    cta: Type.Optional(freeObject()),
    actor: Type.Optional(freeObject()),
    data: Type.Optional(freeObject()),
    envelope: Type.Optional(
      freeObject({ description: 'What the provider would be given: addresses, sender, headers, HTML and text.' }),
    ),
    contentOmitted: Type.Optional(
      Type.Boolean({ description: 'The answer is full: ask for fewer recipients to see what this one says.' }),
    ),
  },
  { title: 'SimulatedMessage' },
)
const reason = Type.Object(
  {
    code: Type.String({ description: 'What kind of thing would happen; new ones may be added.' }),
    at: timestamp(),
    sentence: Type.String(),
    data: freeObject({ description: 'The same as data.' }),
  },
  { title: 'SimulatedReason' },
)
const window = Type.Object(
  {
    opened: Type.Boolean({ description: 'Whether this event opens it; else it joins one that is open.' }),
    until: timestamp(),
    events: Type.Integer({ description: 'With this one.' }),
    openedAt: Type.Optional(timestamp()),
    notificationId: Type.Optional(Type.String({ description: 'The notification that goes on for all of them.' })),
    transactionIds: Type.Array(Type.String(), { description: 'The first ten events that are in it.' }),
  },
  { title: 'SimulatedWindow' },
)
const step = Type.Object(
  {
    stepId: Type.String(),
    name: Type.String(),
    type: literals(stepTypes),
    outcome: literals(simulatedOutcomes, {
      description:
        '`run`: it does what it is for. `wait`: it waits, and the run goes on. `merge`: another notification goes on for it. `cancel`: a step before it failed.',
    }),
    status: literals(whyStatuses, { description: 'As the activity would show it in the end.' }),
    sentence: Type.String({ description: 'What would happen and why, in plain words.' }),
    reasons: Type.Array(reason, { description: 'Oldest first.' }),
    beginsAt: Type.Optional(timestamp({ description: 'When its turn comes; absent where it never does.' })),
    endsAt: Type.Optional(timestamp({ description: 'When it is over.' })),
    waits: Type.Array(timestamp(), { description: 'Until when it waits, one after the other.' }),
    window: Type.Optional(window),
    throttle: Type.Optional(
      Type.Object(
        { count: Type.Integer(), threshold: Type.Integer(), until: timestamp() },
        { title: 'SimulatedThrottle', description: 'How many its window has let through, with this one.' },
      ),
    ),
    asks: Type.Array(Type.String(), { description: 'Services of yours that would be asked, without their queries.' }),
    messages: Type.Array(message),
  },
  { title: 'SimulatedStep' },
)
const recipient = Type.Object(
  {
    subscriberId: Type.String(),
    isNew: Type.Boolean({ description: 'Whether the trigger would make the subscriber.' }),
    topics: Type.Array(Type.String(), { description: 'The topics it was found by; empty where the event names it.' }),
    timezone: nullableString(),
    endsAt: timestamp({ description: 'When the last of its steps is over.' }),
    steps: Type.Array(step, { description: 'In the order of the workflow.' }),
  },
  { title: 'SimulatedRecipient' },
)
const simulation = Type.Object(
  {
    status: literals(triggerStatuses, { description: 'What the trigger would answer.' }),
    error: Type.Optional(Type.Array(Type.String(), { description: 'What to mend.' })),
    transactionId: Type.Optional(Type.String({ description: 'As given.' })),
    at: timestamp({ description: 'The moment at which it is taken to be triggered.' }),
    warnings: Type.Array(Type.String(), { description: 'Unknown topics, recipients that are left out, and the like.' }),
    workflow: Type.Optional(
      Type.Object(
        { identifier: Type.String(), name: Type.String(), isSaved: Type.Boolean() },
        { title: 'SimulatedWorkflow' },
      ),
    ),
    assumptions: Type.Array(Type.String(), { description: 'What is taken for granted.' }),
    recipientCount: Type.Integer({ description: 'Everybody who would be told, counted up to 50,000.' }),
    recipientCountCapped: Type.Boolean({ description: 'Whether there may be more.' }),
    recipients: Type.Array(recipient, {
      description: 'The first of them: those named in the order given, then members of topics by their internal ids.',
    }),
    dropped: Type.Array(
      Type.Object({ subscriberId: Type.String(), reason: literals(['excluded', 'actor']) }, { title: 'SimulatedDrop' }),
      { description: 'Members of the topics who would not be told, and why; up to 100.' },
    ),
  },
  { title: 'Simulation' },
)

/** As long as an ISO 8601 moment can be, and some more. */
const momentLengthMax = 64

const body = Type.Object(
  {
    name: Type.Optional(
      Type.Unsafe<unknown>({ description: 'The identifier of the workflow. Not needed where `workflow` is given.' }),
    ),
    to: Type.Optional(Type.Unsafe<unknown>({ description: 'As for triggering an event.' })),
    payload: Type.Optional(Type.Unsafe<unknown>({ description: 'As for triggering an event.' })),
    overrides: Type.Optional(Type.Unsafe<unknown>({ description: 'As for triggering an event.' })),
    transactionId: Type.Optional(Type.Unsafe<unknown>({ description: 'As for triggering an event.' })),
    actor: Type.Optional(Type.Unsafe<unknown>({ description: 'As for triggering an event.' })),
    tenant: Type.Optional(Type.Unsafe<unknown>({ description: 'As for triggering an event.' })),
    context: Type.Optional(Type.Unsafe<unknown>({ description: 'As for triggering an event.' })),
    at: Type.Optional(
      Type.String({
        maxLength: momentLengthMax,
        description:
          'When it is taken to be triggered: an ISO 8601 date or date-time, without a zone in UTC. Now unless given.',
      }),
    ),
    workflow: Type.Optional(createWorkflowBody),
    assume: Type.Optional(
      Type.Object(
        {
          webhookConditions: Type.Optional(
            Type.Boolean({ default: true, description: 'Whether comparisons with answers of webhooks hold.' }),
          ),
          customResult: Type.Optional(freeObject({ description: 'What services of custom steps answer.' })),
        },
        { additionalProperties: false, description: 'What is taken for granted of services that are not asked.' },
      ),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: recipientsShownMax,
        default: recipientsShownMax,
        description: 'How many recipients are shown; fewer where the workflow has more than 20 steps.',
      }),
    ),
  },
  {
    title: 'SimulateEvent',
    examples: [
      {
        name: 'order-shipped',
        to: [{ subscriberId: 'user-1', email: 'ada@example.com' }],
        payload: { order: { id: 7 } },
        at: '2026-01-02T03:04:05Z',
      },
    ],
  },
)

export const simulateRoutes = [
  route({
    method: 'POST',
    path: '/v1/events/simulate',
    operationId: 'simulateEvent',
    tag: 'Events',
    summary: 'Simulate an event',
    description:
      'Takes what a trigger takes, and does nothing: tells who would be told, and for each of them what every step would do, when, by which integration, and what it would say. A `workflow` that is not saved can be tried in place of one that is, with a key of the scope `full`; it counts as active unless it says otherwise.',
    // Contents show what is known of people, which a key that only triggers may not read.
    scope: 'read',
    category: 'global',
    cost: 20,
    body,
    replies: { 200: simulation },
    // By its schema it takes twice as long.
    writtenBy: JSON.stringify,
    handle: async ({ simulator }, { caller, body: given }) => {
      const { at, workflow, assume, limit, ...event } = given
      // Who may only read has no say in what the service renders.
      if (workflow !== undefined && !mayUse(caller, 'full')) {
        throw forbidden('A workflow that is not saved needs an API key with the scope "full"')
      }
      const named = workflow === undefined ? event : { name: workflow.name, ...event }
      const showsSecrets = mayUse(caller, 'full')
      const call = { event: readEvent(named), at, workflow, assume, limit, showsSecrets }
      return ok(await simulator.simulate(caller.environment, call))
    },
  }),
]
