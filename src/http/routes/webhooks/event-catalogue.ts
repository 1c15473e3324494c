// The catalogue of events that are sent to webhook endpoints: what each means, its JSON schema and an example.
import type { TSchema } from 'typebox'
import { Type } from 'typebox'
import { channels } from '../../../domain/delivery/integration.ts'
import type { WebhookEventType } from '../../../domain/webhooks/webhook-event.ts'
import { testEventType, webhookEventTypes } from '../../../domain/webhooks/webhook-event.ts'
import { freeObject, literals, nullableFreeObject, nullableString, timestamp } from '../../schemas.ts'

const subscriber = Type.Object({
  _id: Type.String(),
  subscriberId: Type.String({ description: 'Your own id of the subscriber.' }),
})
const workflow = Type.Object({
  _id: Type.String(),
  identifier: Type.String(),
  name: Type.Optional(Type.String()),
})
const workflowOrNull = Type.Union([workflow, Type.Null()])

const messageData = Type.Object({
  message: Type.Object({
    _id: Type.String(),
    channel: literals(channels),
    status: literals(['sent', 'warning', 'error'], {
      description: '`warning`: it could not be sent to this subscriber, or was perhaps sent; `error` says which.',
    }),
    error: Type.Union([Type.Object({ code: Type.String(), text: Type.String() }), Type.Null()]),
    providerId: nullableString(),
    providerMessageId: nullableString({ description: 'The id that the provider gave the message.' }),
  }),
  notificationId: Type.String(),
  transactionId: nullableString({ description: 'Of the trigger.' }),
  workflow,
  test: Type.Boolean({ description: 'Whether it was a test, or captured instead of sent.' }),
  subscriber,
})

interface Described {
  readonly meaning: string
  readonly data: TSchema
  readonly example: Readonly<Record<string, unknown>>
}

const ids = {
  message: '019b7ca9-9316-7165-a18a-a62bf6d63d58',
  notification: '019b7ca9-9316-7165-8eff-b3fe562c5055',
  workflow: '019b7ca9-8f2e-70df-8841-dcc93f08a181',
  other: '019b7ca9-8f2e-757d-ad65-a2d8f4e13205',
}
const ada = { _id: ids.other, subscriberId: 'user-1' }
const shipped = { _id: ids.workflow, identifier: 'order-shipped', name: 'Order shipped' }

function message(meaning: string, change: Readonly<Record<string, unknown>> = {}): Described {
  const sent = { _id: ids.message, channel: 'email', status: 'sent', error: null }
  const example = {
    message: { ...sent, providerId: 'sendgrid', providerMessageId: 'xv7Q2s', ...change },
    ...{ notificationId: ids.notification, transactionId: 'order-7-shipped', workflow: shipped, test: false },
    subscriber: ada,
  }
  return { meaning, data: messageData, example }
}

const inApp = { channel: 'in_app', providerId: 'platform', providerMessageId: null }

const described: Readonly<Record<WebhookEventType, Described>> = {
  'message.sent': message('A provider accepted the message, or it is in the subscriber’s feed.'),
  'message.delivered': message('The provider reported that the message arrived.'),
  'message.failed': message('The message was not sent, or the provider reported that it failed.', {
    status: 'error',
    error: { code: 'mail_unexpected_error', text: 'SendGrid answered 400: The from address is not verified' },
  }),
  'message.bounced': message('The provider reported that the address does not accept mail.', {
    status: 'error',
    error: { code: 'mail_unexpected_error', text: '550 5.1.1 No such mailbox' },
  }),
  'message.seen': message('The subscriber saw the in-app message for the first time.', inApp),
  'message.read': message('The subscriber read the in-app message, which was unread before.', inApp),
  'subscriber.unsubscribed': {
    meaning: 'The subscriber used an unsubscribe link, or their provider reported that they opted out.',
    data: Type.Object({
      subscriber,
      workflow: workflowOrNull,
      channel: literals(channels),
      source: literals(['link', 'provider']),
    }),
    example: { subscriber: ada, workflow: shipped, channel: 'email', source: 'link' },
  },
  'preference.updated': {
    meaning: 'What a subscriber wants to be notified of has changed, through the API, an inbox or a link.',
    data: Type.Object({
      subscriber,
      level: literals(['global', 'workflow', 'subscription'], {
        description: '`subscription`: for one subscription to a topic, which `subscription` names.',
      }),
      workflow: workflowOrNull,
      preferences: nullableFreeObject({ description: 'The choices at this level after the change.' }),
      subscription: Type.Optional(
        Type.Object({
          _id: Type.String(),
          identifier: Type.String(),
          topic: Type.Object({ _id: Type.String(), key: Type.String() }),
        }),
      ),
    }),
    example: { subscriber: ada, level: 'workflow', workflow: shipped, preferences: { channels: { email: false } } },
  },
  'workflow.updated': {
    meaning: 'A workflow was created, changed or deleted.',
    data: Type.Object({ workflow, change: literals(['created', 'updated', 'deleted']) }),
    example: { workflow: { _id: ids.workflow, identifier: 'order-shipped' }, change: 'updated' },
  },
  'integration.failing': {
    meaning: 'An integration refuses everything, or its provider is down; at most once an hour for each integration.',
    data: Type.Object({
      integration: Type.Object({
        _id: Type.String(),
        identifier: Type.String(),
        name: Type.String(),
        providerId: Type.String(),
        channel: literals(channels),
      }),
      reason: literals(['down', 'misconfigured']),
      since: timestamp(),
    }),
    example: {
      integration: {
        ...{ _id: ids.other, identifier: 'sendgrid-main', name: 'SendGrid', providerId: 'sendgrid', channel: 'email' },
      },
      ...{ reason: 'down', since: '2026-01-02T03:04:05.678Z' },
    },
  },
}

const test: Described = {
  meaning: 'Sent by `POST /v1/webhook-endpoints/{endpointId}/test` to that endpoint, whatever it asks for.',
  data: Type.Object({ message: Type.String(), endpointId: Type.String() }),
  example: { message: 'This is a test of a webhook endpoint', endpointId: ids.other },
}

export interface CatalogueEntry {
  readonly type: string
  readonly description: string
  /** JSON Schema of the whole body. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly example: Readonly<Record<string, unknown>>
}

function entryOf(type: string, { meaning, data, example }: Described): CatalogueEntry {
  const body = Type.Object({ type: Type.Literal(type), timestamp: timestamp(), data })
  return {
    type,
    description: meaning,
    schema: JSON.parse(JSON.stringify(body)) as Record<string, unknown>,
    example: { type, timestamp: '2026-01-02T03:04:05.678Z', data: example },
  }
}

export const eventCatalogue: readonly CatalogueEntry[] = [
  ...webhookEventTypes.map((type) => entryOf(type, described[type])),
  entryOf(testEventType, test),
]

export const catalogueReply = Type.Array(
  Type.Object(
    {
      type: Type.String(),
      description: Type.String(),
      schema: freeObject({ description: 'JSON Schema of the body that is sent.' }),
      example: freeObject(),
    },
    { title: 'WebhookEventType', examples: [eventCatalogue[0]] },
  ),
)
