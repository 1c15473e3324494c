// The schemas of subscribers and their channels.
import { Type } from 'typebox'
import { channelProviderIds } from '../../../domain/people/channel-settings.ts'
import { literals, nullableBoolean, nullableFreeObject, nullableString, timestamp } from '../../schemas.ts'

export const channelCredentials = Type.Object(
  {
    webhookUrl: Type.Optional(
      Type.String({ format: 'web-address', maxLength: 4096, description: 'Webhook address, from the chat provider.' }),
    ),
    channel: Type.Optional(Type.String({ maxLength: 255, description: 'Channel, for Mattermost.' })),
    deviceTokens: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
        maxItems: 1000,
        description: 'Device tokens, for push. Appended to those already there; the newest 100 are kept.',
      }),
    ),
    alertUid: Type.Optional(Type.String({ maxLength: 255, description: 'Alert UID, for Grafana on-call.' })),
    title: Type.Optional(Type.String({ maxLength: 1024, description: 'Title, for Grafana on-call.' })),
    imageUrl: Type.Optional(Type.String({ maxLength: 4096, description: 'Image, for Grafana on-call.' })),
    state: Type.Optional(Type.String({ maxLength: 255, description: 'State, for Grafana on-call.' })),
    externalUrl: Type.Optional(Type.String({ maxLength: 4096, description: 'Details, for Grafana on-call.' })),
  },
  { title: 'ChannelCredentials' },
)

const channelSettings = Type.Object(
  {
    providerId: Type.String({ description: 'The provider, such as `slack` or `fcm`.' }),
    integrationIdentifier: Type.Optional(Type.String()),
    credentials: channelCredentials,
    _integrationId: Type.String({ description: 'Empty until an integration of the provider exists.' }),
  },
  { title: 'ChannelSettings' },
)

export const subscriber = Type.Object(
  {
    _id: Type.Optional(Type.String({ description: 'Made by the service; differs from `subscriberId`.' })),
    subscriberId: Type.String({ description: 'The id of the person in the caller’s own system.' }),
    firstName: Type.Optional(nullableString()),
    lastName: Type.Optional(nullableString()),
    email: Type.Optional(nullableString()),
    phone: Type.Optional(nullableString()),
    avatar: Type.Optional(nullableString()),
    locale: Type.Optional(nullableString()),
    channels: Type.Optional(Type.Array(channelSettings)),
    topics: Type.Optional(Type.Array(Type.String(), { deprecated: true })),
    isOnline: Type.Optional(nullableBoolean()),
    lastOnlineAt: Type.Optional(nullableString()),
    __v: Type.Optional(Type.Number()),
    data: Type.Optional(nullableFreeObject()),
    timezone: Type.Optional(nullableString()),
    _organizationId: Type.String(),
    _environmentId: Type.String(),
    deleted: Type.Boolean(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Subscriber' },
)

/** Not empty once trimmed, and nothing that cannot be seen. */
export const subscriberId = Type.String({
  maxLength: 255,
  pattern: '^(?!\\s*$)\\P{Cc}+$',
  description: 'The id of the person in the caller’s own system.',
})

export const subscriberFields = {
  firstName: Type.Optional(nullableString({ maxLength: 255, description: 'First name.' })),
  lastName: Type.Optional(nullableString({ maxLength: 255, description: 'Last name.' })),
  email: Type.Optional(nullableString({ format: 'email', description: 'E-mail address.' })),
  phone: Type.Optional(nullableString({ maxLength: 64, description: 'Phone number.' })),
  avatar: Type.Optional(nullableString({ maxLength: 4096, description: 'Address or identifier of an image.' })),
  timezone: Type.Optional(nullableString({ format: 'timezone', description: 'IANA time zone: `Europe/Berlin`.' })),
  locale: Type.Optional(nullableString({ format: 'locale', description: 'Language, and region: `en`, `en-US`.' })),
  data: Type.Optional(nullableFreeObject({ description: 'Custom data. Replaced as a whole.' })),
}

export const subscriberExample = {
  subscriberId: 'user-1',
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.com',
  phone: '+441632960001',
  locale: 'en-GB',
  timezone: 'Europe/London',
  data: { plan: 'team' },
}

/** One entry of `channels` in a request. The list of providers is read when the server is made: others may join until then. */
export const channelInput = Type.Object(
  {
    providerId: literals(channelProviderIds, { description: 'The provider.' }),
    integrationIdentifier: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Which integration, where the provider has several.' }),
    ),
    credentials: channelCredentials,
  },
  {
    title: 'SubscriberChannel',
    examples: [{ providerId: 'fcm', credentials: { deviceTokens: ['token-of-a-phone'] } }],
  },
)

export const bulkSubscriber = Type.Object(
  { subscriberId, ...subscriberFields, channels: Type.Optional(Type.Array(channelInput, { maxItems: 50 })) },
  { title: 'BulkSubscriber', examples: [subscriberExample] },
)

export const bulkResult = Type.Object(
  {
    updated: Type.Array(Type.Object({ subscriberId: Type.String() })),
    created: Type.Array(Type.Object({ subscriberId: Type.String() })),
    failed: Type.Array(Type.Object({ subscriberId: Type.Optional(Type.String()), message: Type.String() })),
  },
  { title: 'BulkSubscribersResult' },
)
