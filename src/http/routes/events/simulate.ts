// What an event would do, without doing it: /v1/events/simulate.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { triggerStatuses } from '../../../domain/delivery/event.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import type { Principal } from '../../../domain/environment.ts'
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
import { eventMemberSchemas } from './event-members.ts'

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
    content: Type.Optional(Type.Unsafe<unknown>({ description: 'A string, or the blocks of an e-mail.' })),
    email: Type.Optional(Type.String()),
    phone: Type.Optional(Type.String()),
    cta: Type.Optional(freeObject()),
    actor: Type.Optional(freeObject()),
    data: Type.Optional(freeObject()),
    envelope: Type.Optional(
      freeObject({ description: 'What the provider would receive: addresses, sender, headers, HTML and text.' }),
    ),
    contentOmitted: Type.Optional(
      Type.Boolean({
        description: 'The response reached its size limit; request fewer recipients to see this content.',
      }),
    ),
  },
  { title: 'SimulatedMessage' },
)
const reason = Type.Object(
  {
    code: Type.String({ description: 'A code for what would happen; new codes may be added.' }),
    at: timestamp(),
    sentence: Type.String(),
    data: freeObject({ description: 'The same as data.' }),
  },
  { title: 'SimulatedReason' },
)
const window = Type.Object(
  {
    opened: Type.Boolean({ description: 'Whether this event opens the window, rather than joining an open one.' }),
    until: timestamp(),
    events: Type.Integer({ description: 'Including this one.' }),
    openedAt: Type.Optional(timestamp()),
    notificationId: Type.Optional(Type.String({ description: 'The notification that continues for all of them.' })),
    transactionIds: Type.Array(Type.String(), { description: 'The first ten events in it.' }),
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
        '`run`: the step runs. `wait`: it waits, then the workflow continues. `merge`: another notification continues in its place. `cancel`: an earlier step failed.',
    }),
    status: literals(whyStatuses, { description: 'The final status that the activity would show.' }),
    sentence: Type.String({ description: 'What would happen and why, as a sentence.' }),
    reasons: Type.Array(reason, { description: 'Oldest first.' }),
    beginsAt: Type.Optional(timestamp({ description: 'When it starts; absent if it never does.' })),
    endsAt: Type.Optional(timestamp({ description: 'When it finishes.' })),
    waits: Type.Array(timestamp(), { description: 'The ends of its waits, in order.' }),
    window: Type.Optional(window),
    throttle: Type.Optional(
      Type.Object(
        { count: Type.Integer(), threshold: Type.Integer(), until: timestamp() },
        { title: 'SimulatedThrottle', description: 'How many runs its window has allowed, including this one.' },
      ),
    ),
    asks: Type.Array(Type.String(), { description: 'Your services that would be called, without query strings.' }),
    messages: Type.Array(message),
  },
  { title: 'SimulatedStep' },
)
const recipient = Type.Object(
  {
    subscriberId: Type.String(),
    isNew: Type.Boolean({ description: 'Whether the trigger would create the subscriber.' }),
    topics: Type.Array(Type.String(), {
      description: 'The topics through which it was found; empty if the event names the subscriber.',
    }),
    timezone: nullableString(),
    endsAt: timestamp({ description: 'When its last step finishes.' }),
    steps: Type.Array(step, { description: 'In the order of the workflow.' }),
  },
  { title: 'SimulatedRecipient' },
)
const simulation = Type.Object(
  {
    status: literals(triggerStatuses, { description: 'What the trigger would return.' }),
    error: Type.Optional(Type.Array(Type.String(), { description: 'What is wrong.' })),
    transactionId: Type.Optional(Type.String({ description: 'As given.' })),
    at: timestamp({ description: 'The time at which the event is assumed to be triggered.' }),
    warnings: Type.Array(Type.String(), { description: 'Unknown topics, ignored recipients, and similar.' }),
    workflow: Type.Optional(
      Type.Object(
        { identifier: Type.String(), name: Type.String(), isSaved: Type.Boolean() },
        { title: 'SimulatedWorkflow' },
      ),
    ),
    assumptions: Type.Array(Type.String(), { description: 'What the simulation assumes.' }),
    recipientCount: Type.Integer({
      description: 'The number of recipients who would be notified, counted up to 50,000.',
    }),
    recipientCountCapped: Type.Boolean({ description: 'Whether there may be more.' }),
    recipients: Type.Array(recipient, {
      description: 'The first recipients: named ones in the order given, then topic subscribers by internal id.',
    }),
    dropped: Type.Array(
      Type.Object(
        { subscriberId: Type.String(), reason: literals(['excluded', 'actor', 'subscription']) },
        { title: 'SimulatedDrop' },
      ),
      { description: 'Topic subscribers who would not be notified, and why; at most 100.' },
    ),
  },
  { title: 'Simulation' },
)

/** Longer than any ISO 8601 timestamp. */
const timestampLengthMax = 64

const body = Type.Object(
  {
    name: Type.Optional(
      Type.Unsafe<unknown>({ description: 'The identifier of the workflow. Not needed if `workflow` is given.' }),
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
        maxLength: timestampLengthMax,
        description:
          'When the event is assumed to be triggered: an ISO 8601 date or date-time; UTC if it has no zone. Default: now.',
      }),
    ),
    workflow: Type.Optional(createWorkflowBody),
    assume: Type.Optional(
      Type.Object(
        {
          webhookConditions: Type.Optional(
            Type.Boolean({
              default: true,
              description: 'Whether comparisons with webhook responses are assumed to pass.',
            }),
          ),
          customResult: Type.Optional(freeObject({ description: 'The response assumed for custom steps.' })),
        },
        { additionalProperties: false, description: 'Assumptions about services that are not called.' },
      ),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: recipientsShownMax,
        default: recipientsShownMax,
        description: 'How many recipients to show; fewer if the workflow has more than 20 steps.',
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

/**
 * Who may only read has no say in what the service renders. A person who may save workflows could save this one and simulate
 * that: the preview beside an editor is for them.
 */
const mayTry = (principal: Principal): boolean =>
  mayUse(principal, 'full') || (principal.user !== undefined && mayUse(principal, 'workflows:write'))

export const simulateRoutes = [
  route({
    method: 'POST',
    path: '/v1/events/simulate',
    operationId: 'simulateEvent',
    tag: 'Events',
    summary: 'Simulate an event',
    description:
      'Takes the same body as a trigger and changes nothing. Returns who would be notified and, for each recipient, what every step would do, when, through which integration, and with which content. An unsaved `workflow` can be given in place of a saved one, with a key of the scope `full`, or by an editor who is signed in; it counts as active unless it says otherwise.',
    // Contents show what is known of people, which a key that only triggers may not read.
    scope: 'read',
    category: 'global',
    cost: 20,
    body,
    memberSchema: () => Type.Object({ ...body.properties, ...eventMemberSchemas() }),
    replies: { 200: simulation },
    // By its schema it takes twice as long.
    writtenBy: JSON.stringify,
    handle: async ({ simulator }, { principal, body: given }) => {
      const { at, workflow, assume, limit, name = workflow?.name, to, payload, overrides } = given
      const { transactionId, actor, tenant, context } = given
      if (workflow !== undefined && !mayTry(principal)) {
        throw forbidden('Simulating an unsaved workflow needs an API key with the scope "full", or the role editor')
      }
      // Not all of the rest: a body may be full of unknown members, which take their time to copy.
      const event = { name, to, payload, overrides, transactionId, actor, tenant, context }
      const showsSecrets = mayUse(principal, 'full')
      const call = { event: readEvent(event), at, workflow, assume, limit, showsSecrets }
      return ok(await simulator.simulate(principal.environment, call))
    },
  }),
]
