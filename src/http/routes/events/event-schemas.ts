// The body of a trigger, as documented. The checks themselves are more lenient: each event is checked separately, and
// an error in an override fails the step that would use it, not the request.
import type { TSchema } from 'typebox'
import { Type } from 'typebox'
import { attachmentsPerEventMax, excludedPerTopicMax } from '../../../domain/delivery/event.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import { severities, timeUnits } from '../../../domain/workflows/workflow.ts'
import { freeObject, literals } from '../../schemas.ts'
import { bulkSubscriber } from '../people/subscriber-schemas.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
const object = (description: string) => Type.Optional(freeObject({ description }))
const addresses = (description: string) =>
  Type.Optional(
    Type.Unsafe<string | string[]>({
      type: ['string', 'array'],
      items: Type.String({ description: 'An e-mail address.' }),
      description,
    }),
  )

/** What every channel's overrides have in common. */
const forAccount = {
  integrationIdentifier: text('The integration that sends, instead of the usual choice.'),
  customData: object('Fields for the provider.'),
}
const open = { additionalProperties: true } as const

const emailOverrides = Type.Object(
  {
    to: addresses('Additional recipients; at most 50 addresses together with `cc` and `bcc`.'),
    cc: addresses('Copies.'),
    bcc: addresses('Blind copies.'),
    toRecipient: text('Replaces the address of the subscriber.'),
    replaceToRecipient: Type.Optional(
      Type.Boolean({ description: 'The first entry of `to` replaces the address of the subscriber.' }),
    ),
    from: text('`hello@example.com` or `Acme <hello@example.com>`.'),
    senderName: text('Replaces that of the integration.'),
    replyTo: text('The reply-to address.'),
    subject: text('Used as is, not as a template.'),
    html: text('Used as is, not as a template, and without a layout.'),
    text: text('The plain-text part.'),
    headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Additional headers.' })),
    ipPoolName: text('For providers with IP pools.'),
    ...forAccount,
  },
  { title: 'EmailOverrides', ...open, examples: [{ cc: ['boss@example.com'], replyTo: 'jo@example.com' }] },
)
const smsOverrides = Type.Object(
  {
    to: text('Replaces the phone number of the subscriber.'),
    from: text('Replaces the sender of the integration.'),
    content: text('Used as is, not as a template.'),
    ...forAccount,
  },
  { title: 'SmsOverrides', ...open, examples: [{ from: 'Acme' }] },
)
const otherOverrides = Type.Object(forAccount, {
  title: 'ChannelOverrides',
  ...open,
  description: 'All other fields are passed to the provider.',
})
const providerOverrides = Type.Record(Type.String(), freeObject(), {
  description:
    'By provider id: fields of the provider’s own request; `_passthrough` adds `body`, `headers` and `query` unchanged.',
})

export const shownOverrides = Type.Object(
  {
    email: Type.Optional(emailOverrides),
    sms: Type.Optional(smsOverrides),
    push: Type.Optional(otherOverrides),
    chat: Type.Optional(otherOverrides),
    providers: Type.Optional(providerOverrides),
    steps: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            providers: Type.Optional(providerOverrides),
            layoutId: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] })),
          },
          open,
        ),
        { description: 'By step: its `_id`, its `uuid`, or the slug of its name.' },
      ),
    ),
    channels: object('`{"email": {"layoutId": "acme"}}` selects a layout; null means none.'),
    layoutIdentifier: Type.Optional(Type.String({ deprecated: true, description: 'Use `channels.email.layoutId`.' })),
    delay: Type.Optional(
      Type.Object(
        { amount: Type.Integer({ minimum: 1 }), unit: literals(timeUnits) },
        { description: 'Replaces the duration of regular delays and digests.' },
      ),
    ),
    severity: Type.Optional(literals(severities, { description: 'Replaces that of the workflow.' })),
  },
  {
    title: 'TriggerOverrides',
    ...open,
    description:
      'Settings of this event that override the workflow. A field named after a provider takes the fields of its channel and applies to that provider only.',
    examples: [{ email: { cc: ['boss@example.com'] }, severity: 'high' }],
  },
)

const attachment = Type.Object(
  {
    file: Type.Unsafe<unknown>({
      type: ['string', 'object'],
      description: 'Base64, a `data:` URL, or a Node.js Buffer as JSON. At most 18 MiB in total.',
    }),
    name: text('`attachment-1` by default.'),
    mime: text('`application/octet-stream` by default.'),
    channels: Type.Optional(Type.Array(literals(channels), { description: 'Only for these channels.' })),
    cid: text('The content id of an inline image, referenced as `<img src="cid:logo">`.'),
    disposition: Type.Optional(literals(['attachment', 'inline'])),
  },
  { title: 'Attachment', ...open, examples: [{ file: 'SGVsbG8=', name: 'invoice.txt', mime: 'text/plain' }] },
)

export const shownPayload = Type.Object(
  {
    attachments: Type.Optional(
      Type.Array(attachment, { maxItems: attachmentsPerEventMax, description: 'Files for the e-mails of the event.' }),
    ),
  },
  {
    title: 'TriggerPayload',
    ...open,
    description: 'Data for conditions and templates. All field names are yours to choose, except `attachments`.',
    examples: [{ order: { id: 7 } }],
  },
)

const topicRecipient = Type.Object(
  {
    type: Type.Optional(literals(['Topic'], { description: 'May be left out; its case does not matter.' })),
    topicKey: Type.String(),
    exclude: Type.Optional(
      Type.Array(Type.String(), { maxItems: excludedPerTopicMax, description: 'The subscriberIds to exclude.' }),
    ),
  },
  { title: 'TopicRecipient', examples: [{ type: 'Topic', topicKey: 'project:42' }] },
)
const recipient: readonly TSchema[] = [Type.String({ description: 'A subscriberId.' }), topicRecipient, bulkSubscriber]

export const shownRecipients = Type.Unsafe<unknown>({
  anyOf: [...recipient, Type.Array(Type.Unsafe<unknown>({ anyOf: recipient }))],
  description:
    'A subscriberId, a subscriber (created or updated first; null clears a field), a topic, or an array of these. Each person is notified once.',
})
