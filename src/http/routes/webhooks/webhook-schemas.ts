// The schemas of webhook endpoints and of their deliveries.
import { Type } from 'typebox'
import { deliveryStatuses } from '../../../domain/webhooks/webhook-delivery.ts'
import { concurrencyDefault, concurrencyMax, disablers } from '../../../domain/webhooks/webhook-endpoint.ts'
import { webhookEventTypes } from '../../../domain/webhooks/webhook-event.ts'
import { freeObject, identifierText, literals, nullableString, timestamp, uuid } from '../../schemas.ts'

/** More than an environment has that matter to one service. */
const workflowsMax = 200
const descriptionLengthMax = 1_000
const urlLengthMax = 2_048
/** A week: whoever has not changed the secret by then will not. */
const overlapSecondsMax = 7 * 24 * 60 * 60
export const overlapSecondsDefault = 24 * 60 * 60

const meanings = {
  url: 'Where events are sent, as POST requests. Private addresses are not called unless `POSTHORN_OUTBOUND_ALLOW` lists them.',
  eventTypes: 'The types of events that are sent; empty for all of them.',
  workflows:
    'Only events of these workflows, by `_id` or identifier; empty for all. Events that concern no workflow are always sent.',
  concurrency: 'Requests at a time.',
}

export const endpointParams = Type.Object({ endpointId: uuid() })
export const deliveryParams = Type.Object({ endpointId: uuid(), deliveryId: uuid() })

const members = {
  _id: Type.String(),
  url: Type.String({ description: 'Only its origin for keys that are not `full`: the rest may hold a token.' }),
  description: Type.String(),
  eventTypes: Type.Array(Type.String(), { description: meanings.eventTypes }),
  workflows: Type.Array(Type.String(), { description: meanings.workflows }),
  concurrency: Type.Integer({ description: meanings.concurrency }),
  state: literals(['active', 'failing', 'disabled'], {
    description: '`failing`: the newest deliveries were not accepted. `disabled`: nothing is sent.',
  }),
  stateSince: timestamp(),
  disabledBy: Type.Unsafe<(typeof disablers)[number] | null>({
    type: ['string', 'null'],
    enum: [...disablers, null],
    description:
      '`caller`: through the API. `failures`: it accepted nothing for three days. `gone`: it answered 410. Null while it is enabled.',
  }),
  failures: Type.Integer({ description: 'Failed attempts since the last delivery that was accepted.' }),
  lastError: nullableString({ description: 'Why the last failed attempt failed.' }),
  lastDeliveredAt: nullableString({ format: 'date-time', description: 'Accurate to a minute.' }),
  previousSecretUntil: nullableString({
    format: 'date-time',
    description: 'Until when a replaced secret signs as well; null where none does.',
  }),
  createdAt: timestamp(),
  updatedAt: timestamp(),
}

export const endpoint = Type.Object(members, { title: 'WebhookEndpoint' })
export const newEndpoint = Type.Object(
  {
    ...members,
    secret: Type.String({
      description: 'What requests are signed with, as a key of Standard Webhooks. This is the only time it is shown.',
    }),
  },
  { title: 'NewWebhookEndpoint' },
)

const inputs = {
  url: Type.String({ maxLength: urlLengthMax, description: meanings.url }),
  description: Type.String({ maxLength: descriptionLengthMax }),
  eventTypes: Type.Array(literals(webhookEventTypes), { uniqueItems: true, description: meanings.eventTypes }),
  workflows: Type.Array(identifierText({ maxLength: 255 }), {
    maxItems: workflowsMax,
    uniqueItems: true,
    description: meanings.workflows,
  }),
  concurrency: Type.Integer({
    minimum: 1,
    maximum: concurrencyMax,
    default: concurrencyDefault,
    description: meanings.concurrency,
  }),
}

export const createEndpointBody = Type.Object(
  {
    url: inputs.url,
    description: Type.Optional(inputs.description),
    eventTypes: Type.Optional(inputs.eventTypes),
    workflows: Type.Optional(inputs.workflows),
    concurrency: Type.Optional(inputs.concurrency),
  },
  {
    title: 'CreateWebhookEndpoint',
    examples: [{ url: 'https://api.example.com/posthorn', eventTypes: ['message.failed', 'message.bounced'] }],
  },
)

export const updateEndpointBody = Type.Object(
  {
    url: Type.Optional(inputs.url),
    description: Type.Optional(inputs.description),
    eventTypes: Type.Optional(inputs.eventTypes),
    workflows: Type.Optional(inputs.workflows),
    concurrency: Type.Optional(inputs.concurrency),
    enabled: Type.Optional(
      Type.Boolean({ description: 'False stops all deliveries; true resumes those that still wait.' }),
    ),
  },
  { title: 'UpdateWebhookEndpoint', examples: [{ enabled: true }] },
)

export const rotateSecretBody = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: overlapSecondsMax,
        default: overlapSecondsDefault,
        description: 'How long the old secret signs beside the new one.',
      }),
    ),
  },
  { title: 'RotateWebhookSecret', examples: [{ overlapSeconds: 3600 }] },
)

export const redriveBody = Type.Object(
  {
    from: timestamp({ description: 'When the first of the events happened.' }),
    to: Type.Optional(timestamp({ description: 'When the last of them happened; now when left out.' })),
    statuses: Type.Optional(
      Type.Array(literals(deliveryStatuses), {
        minItems: 1,
        uniqueItems: true,
        default: ['failed'],
        description: 'Which deliveries are sent again. Only failed ones when left out.',
      }),
    ),
  },
  { title: 'RedriveWebhookDeliveries', examples: [{ from: '2026-01-01T00:00:00.000Z' }] },
)

export const redriveReply = Type.Object(
  {
    redriven: Type.Integer({ description: 'How many deliveries wait again.' }),
    isCapped: Type.Boolean({ description: 'Whether there may be more: repeat the call from `nextFrom`.' }),
    nextFrom: nullableString({
      format: 'date-time',
      description: 'The `from` of the next call; null when nothing is left.',
    }),
  },
  { title: 'RedrivenWebhookDeliveries' },
)

export const delivery = Type.Object(
  {
    _id: Type.String({ description: 'The `webhook-id` of every attempt, and the same for every endpoint.' }),
    type: Type.String(),
    status: literals(deliveryStatuses, { description: '`failed`: three days of attempts were in vain.' }),
    attempts: Type.Integer({ description: 'Since it was created, or sent again by a call.' }),
    nextAttemptAt: nullableString({ format: 'date-time' }),
    createdAt: timestamp({ description: 'When it happened.' }),
    settledAt: nullableString({ format: 'date-time', description: 'When it was accepted or given up.' }),
    body: freeObject({ description: 'What is sent.' }),
    answers: Type.Array(
      Type.Object(
        {
          at: timestamp(),
          durationMs: Type.Integer(),
          status: Type.Unsafe<number | null>({
            type: ['integer', 'null'],
            description: 'The HTTP status; null without an answer.',
          }),
          answer: nullableString({ description: 'The first kilobyte of the answer.' }),
          error: nullableString({ description: 'Why the attempt failed; null if it was accepted.' }),
        },
        { title: 'WebhookAttempt' },
      ),
      { description: 'The newest attempts, oldest first.' },
    ),
  },
  { title: 'WebhookDelivery' },
)
