// The schemas of integrations: credentials, conditions, configurations, the resource itself.
import type { TSchema } from 'typebox'
import { Type } from 'typebox'
import { hostNamePattern } from '../../../domain/delivery/host-names.ts'
import type { Credentials } from '../../../domain/delivery/integration.ts'
import { channels, credentialFlags, credentialObjects, credentialTexts } from '../../../domain/delivery/integration.ts'
import { freeObject, identifierText, literals, timestamp, uuid } from '../../schemas.ts'
import { integrationFilters } from '../workflows/filter-schemas.ts'

/** A chain of certificates in PEM fits. */
const credentialLengthMax = 16 * 1024

const optionalMembers = (keys: readonly string[], schema: TSchema) =>
  Object.fromEntries(keys.map((key) => [key, Type.Optional(schema)]))

const credentialsObject = Type.Object(
  {
    ...optionalMembers(credentialTexts, Type.String({ maxLength: credentialLengthMax })),
    ...optionalMembers(credentialFlags, Type.Boolean()),
    ...optionalMembers(credentialObjects, freeObject()),
  },
  {
    title: 'Credentials',
    description:
      '`GET /v1/providers` lists the fields of each provider; unknown ones are ignored. Secrets are shown to full keys only.',
    examples: [{ apiKey: 'SG.xxxx', from: 'hello@example.com', senderName: 'Example' }],
  },
)
// The members are computed, so their types are named here.
export const credentials = Type.Unsafe<Credentials>(credentialsObject)

export const conditions = integrationFilters

export const configurations = Type.Object(
  {
    inboundWebhookEnabled: Type.Optional(Type.Boolean({ description: 'Whether delivery receipts are accepted.' })),
    inboundWebhookSigningKey: Type.Optional(
      Type.String({
        maxLength: 4096,
        description: 'Proves that a receipt comes from the provider. Shown to full keys only.',
      }),
    ),
    inboundParseDomain: Type.Optional(
      Type.String({
        maxLength: 253,
        pattern: '^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z0-9-]{2,63}$',
        description:
          'A domain whose incoming mail the provider forwards to the webhook of this integration. E-mails of steps with an active `replyCallback` use it in their reply-to address.',
      }),
    ),
    retry: Type.Optional(freeObject({ description: 'The retry policy of this integration.' })),
    capture: Type.Optional(
      Type.Boolean({
        description:
          'Captures messages in the outbox instead of sending them: the provider is never called, and no credentials are needed.',
      }),
    ),
    whenUnsure: Type.Optional(
      Type.Union([Type.Literal('retry'), Type.Literal('skip'), Type.Null()], {
        description:
          'What to do when it is unknown whether the provider accepted a message, because the provider timed out or the service was interrupted: `retry` sends it again, `skip` leaves it with a warning. Default: `retry` for e-mail and push, `skip` for SMS and chat. Providers with idempotency keys are always retried.',
      }),
    ),
    maxPerSecond: Type.Optional(
      Type.Union([Type.Number({ exclusiveMinimum: 0, maximum: 100_000 }), Type.Null()], {
        description: 'The maximum number of messages per second, over all nodes. Further messages wait.',
      }),
    ),
    payloadWebhookHosts: Type.Optional(
      Type.Union(
        [Type.Array(Type.String({ maxLength: 253, pattern: hostNamePattern }), { maxItems: 20 }), Type.Null()],
        {
          description:
            'Chat: hosts (`hooks.example.com`, `*.example.com`, `chat.example.com:8443`) that the `webhookUrl` of an event’s payload may name, over https. Without any, the `webhookUrl` in payloads is ignored and messages go to the addresses of the subscribers.',
        },
      ),
    ),
  },
  { title: 'Configurations' },
)

export const channel = literals(channels)
/** Trimmed or not, it is the caller's own; only what cannot be displayed is rejected. */
export const integrationName = Type.String({
  maxLength: 255,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  description: 'The display name. Default: the name of the provider.',
})
export const integrationIdentifier = identifierText({
  maxLength: 255,
  description: 'Unique in the environment, including deleted integrations. Default: derived from the name.',
})
export const environmentId = uuid({ description: 'Must be the environment of the API key.' })

export const integration = Type.Object(
  {
    _id: Type.String(),
    _environmentId: Type.String(),
    _organizationId: Type.String(),
    name: Type.String(),
    identifier: Type.String(),
    providerId: Type.String(),
    channel,
    credentials,
    configurations: Type.Optional(configurations),
    active: Type.Boolean({ description: 'Whether it sends messages.' }),
    deleted: Type.Boolean(),
    deletedAt: Type.Optional(timestamp()),
    deletedBy: Type.Optional(Type.String()),
    primary: Type.Boolean({
      description: 'Whether it is the default integration of its channel; e-mail and SMS only.',
    }),
    conditions,
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Integration' },
)
