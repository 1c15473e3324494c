// What a trigger may hold, as the document shows it. The checks themselves are more lenient: each event is judged on its own,
// and what is wrong in an override fails the step that would use it, not the call.
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
  integrationIdentifier: text('The integration that sends, in place of the usual choice.'),
  customData: object('Members for the provider.'),
}
const open = { additionalProperties: true } as const

const emailOverrides = Type.Object(
  {
    to: addresses('Further recipients; 50 addresses in all, with `cc` and `bcc`.'),
    cc: addresses('Copies.'),
    bcc: addresses('Blind copies.'),
    toRecipient: text('In place of the subscriber’s address.'),
    replaceToRecipient: Type.Optional(
      Type.Boolean({ description: 'The first of `to` takes the place of the subscriber’s address.' }),
    ),
    from: text('`hello@example.com` or `Acme <hello@example.com>`.'),
    senderName: text('In place of the integration’s.'),
    replyTo: text('Where answers go.'),
    subject: text('As it is: no template.'),
    html: text('As it is: no template, and no layout around it.'),
    text: text('The plain-text part.'),
    headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Further headers.' })),
    ipPoolName: text('Where the provider has pools of addresses.'),
    ...forAccount,
  },
  { title: 'EmailOverrides', ...open, examples: [{ cc: ['boss@example.com'], replyTo: 'jo@example.com' }] },
)
const smsOverrides = Type.Object(
  {
    to: text('In place of the subscriber’s number.'),
    from: text('In place of the integration’s sender.'),
    content: text('As it is: no template.'),
    ...forAccount,
  },
  { title: 'SmsOverrides', ...open, examples: [{ from: 'Acme' }] },
)
const otherOverrides = Type.Object(forAccount, {
  title: 'ChannelOverrides',
  ...open,
  description: 'All other members are handed to the provider.',
})
const providerOverrides = Type.Record(Type.String(), freeObject(), {
  description:
    'By provider id: members of its own request; `_passthrough` adds `body`, `headers` and `query` as they are.',
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
        { description: 'By step: its `_id`, its `uuid` or the slug of its name.' },
      ),
    ),
    channels: object('`{"email": {"layoutId": "acme"}}`: which layout; null for none.'),
    layoutIdentifier: Type.Optional(Type.String({ deprecated: true, description: 'Use `channels.email.layoutId`.' })),
    delay: Type.Optional(
      Type.Object(
        { amount: Type.Integer({ minimum: 1 }), unit: literals(timeUnits) },
        { description: 'In place of the duration of regular delays and digests.' },
      ),
    ),
    severity: Type.Optional(literals(severities, { description: 'In place of the workflow’s.' })),
  },
  {
    title: 'TriggerOverrides',
    ...open,
    description:
      'What this event does differently from the workflow. A member named after a provider has the members of its channel, for that provider.',
    examples: [{ email: { cc: ['boss@example.com'] }, severity: 'high' }],
  },
)

const attachment = Type.Object(
  {
    file: Type.Unsafe<unknown>({
      type: ['string', 'object'],
      description: 'Base64, a `data:` address, or a Node.js Buffer as JSON. 18 MiB in all.',
    }),
    name: text('`attachment-1` by default.'),
    mime: text('`application/octet-stream` by default.'),
    channels: Type.Optional(Type.Array(literals(channels), { description: 'Only for these channels.' })),
    cid: text('What an inline picture is referred to by: `<img src="cid:logo">`.'),
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
    description: 'Data for conditions and templates. All members are yours, except `attachments`.',
    examples: [{ order: { id: 7 } }],
  },
)

const topicRecipient = Type.Object(
  {
    type: Type.Optional(literals(['Topic'], { description: 'May be left out; its case does not matter.' })),
    topicKey: Type.String(),
    exclude: Type.Optional(
      Type.Array(Type.String(), { maxItems: excludedPerTopicMax, description: 'subscriberIds that are left out.' }),
    ),
  },
  { title: 'TopicRecipient', examples: [{ type: 'Topic', topicKey: 'project:42' }] },
)
const recipient: readonly TSchema[] = [Type.String({ description: 'A subscriberId.' }), topicRecipient, bulkSubscriber]

export const shownRecipients = Type.Unsafe<unknown>({
  anyOf: [...recipient, Type.Array(Type.Unsafe<unknown>({ anyOf: recipient }))],
  description:
    'A subscriberId, a subscriber (stored first: given members are written, null clears), a topic, or an array of any of these. Each person is notified once.',
})
