// The schemas of messages, feed items and a subscriber's notifications.
import { Type } from 'typebox'
import { channels } from '../../../domain/delivery/integration.ts'
import { messageStatuses } from '../../../domain/messages/message.ts'
import { actionStatuses, buttonTypes } from '../../../domain/messages/message-marks.ts'
import type { EmailBlock } from '../../../domain/workflows/workflow.ts'
import { linkTargets, severities } from '../../../domain/workflows/workflow.ts'
import { freeObject, literals, nullableFreeObject, nullableString, timestamp } from '../../schemas.ts'
import { subscriber } from '../people/subscriber-schemas.ts'
import { workflow } from '../workflows/workflow-schemas.ts'

const text = (description?: string) => Type.Optional(Type.String(description === undefined ? {} : { description }))
const optionalTimestamp = (description: string) => Type.Optional(timestamp({ description }))

const button = Type.Object({
  type: literals(buttonTypes),
  content: Type.String(),
  resultContent: text('The label after it was pressed.'),
  redirect: Type.Optional(
    Type.Object({ url: Type.String(), target: text() }, { description: 'The URL that pressing it opens.' }),
  ),
})

const cta = Type.Object(
  {
    type: Type.Optional(literals(['redirect'])),
    data: Type.Optional(Type.Object({ url: text(), target: text('Where the link opens.') })),
    action: Type.Optional(
      Type.Object({
        status: Type.Optional(literals(actionStatuses)),
        buttons: Type.Optional(Type.Array(button)),
        result: Type.Optional(
          Type.Object({ payload: Type.Optional(freeObject()), type: Type.Optional(literals(buttonTypes)) }),
        ),
      }),
    ),
  },
  { title: 'MessageCallToAction', description: 'The buttons of the message.' },
)

const actor = Type.Object(
  {
    data: nullableString({ description: 'An image or icon; for a user, their avatar.' }),
    type: literals(['none', 'user', 'system_icon', 'system_custom']),
  },
  { title: 'MessageActor', description: 'Whose image is shown.' },
)

const emailBlock = Type.Object(
  {
    type: literals(['button', 'text']),
    content: Type.String(),
    url: text(),
    styles: Type.Optional(Type.Object({ textAlign: Type.Optional(literals(['center', 'left', 'right'])) })),
  },
  { title: 'RenderedEmailBlock' },
)

const content = Type.Unsafe<string | EmailBlock[]>({
  type: ['array', 'string'],
  items: emailBlock,
  description: 'The content: the blocks of an e-mail that has blocks, otherwise a string.',
})

/** What messages and feed items have in common. */
const shared = {
  _templateId: Type.String({ description: 'The workflow.' }),
  _environmentId: Type.String(),
  _organizationId: Type.String(),
  _notificationId: Type.String(),
  _subscriberId: Type.String({ description: 'The subscriber’s internal id.' }),
  _jobId: Type.String(),
  templateIdentifier: Type.String({ description: 'The workflow’s identifier.' }),
  transactionId: Type.String(),
  channel: literals(channels),
  read: Type.Boolean(),
  seen: Type.Boolean(),
  archived: Type.Boolean(),
  status: literals(messageStatuses),
  cta,
  payload: freeObject({ description: 'The payload of the event.' }),
  overrides: freeObject({ description: 'The overrides of the event.' }),
  tags: Type.Array(Type.String(), { description: 'The workflow’s tags.' }),
  createdAt: timestamp({ description: 'When it was created, or returned from a snooze.' }),
  updatedAt: timestamp(),
}

const messageMembers = {
  _id: Type.String(),
  ...shared,
  _messageTemplateId: nullableString({ description: 'The template of the workflow’s step.' }),
  _feedId: nullableString(),
  subscriber: Type.Optional(subscriber),
  template: Type.Optional(workflow),
  stepId: text('The step of the workflow.'),
  deliveredAt: Type.Optional(Type.Array(timestamp(), { description: 'More than one after a snooze.' })),
  firstSeenDate: optionalTimestamp('When it was first seen.'),
  lastSeenDate: optionalTimestamp('When it was last seen.'),
  lastReadDate: optionalTimestamp('When it was last read.'),
  archivedAt: optionalTimestamp('When it was archived.'),
  snoozedUntil: optionalTimestamp('When it returns to the feed.'),
  content: Type.Optional(content),
  subject: text(),
  email: text('The address it went to.'),
  phone: text('The number it went to.'),
  directWebhookUrl: text('The address it went to.'),
  deviceTokens: Type.Optional(Type.Array(Type.String())),
  providerId: text('The provider that sent it.'),
  identifier: text('The provider’s id of the message.'),
  title: text(),
  errorId: text('Why it was not delivered, as a code.'),
  errorText: text('Why it was not delivered, as text.'),
  actor: Type.Optional(actor),
  data: Type.Optional(freeObject({ description: 'Custom data of the message.' })),
  severity: literals(severities),
  contextKeys: Type.Array(Type.String(), { description: 'The contexts of its event, each `type:id`.' }),
  isTest: Type.Boolean({ description: 'Whether it was captured instead of sent, or created by a workflow test.' }),
  captured: Type.Optional(
    Type.Boolean({ description: 'True if it was captured instead of sent, whatever its status says.' }),
  ),
}

export const message = Type.Object(messageMembers, { title: 'Message' })

export const listedMessage = Type.Object(
  {
    ...messageMembers,
    removedAt: optionalTimestamp('When it was deleted or retracted. Its contents and addresses are left out then.'),
    retracted: Type.Optional(Type.Boolean({ description: 'True if it was retracted; absent if it was deleted.' })),
  },
  { title: 'ListedMessage' },
)

const feedMembers = {
  ...shared,
  _messageTemplateId: text('The template of the workflow’s step.'),
  actor,
  subscriber: Type.Object({
    _id: text(),
    firstName: text(),
    lastName: text(),
    avatar: text(),
    subscriberId: Type.String(),
  }),
  providerId: Type.String(),
  content: Type.String({ description: 'The content.' }),
}

export const feedItem = Type.Object(
  {
    _id: Type.String({ description: 'The id of the message.' }),
    ...feedMembers,
    _feedId: nullableString(),
    subject: nullableString(),
    deviceTokens: Type.Unsafe<string[] | null>({ type: ['array', 'null'], items: { type: 'string' } }),
    data: nullableFreeObject({ description: 'Custom data of the message.' }),
  },
  { title: 'FeedItem' },
)

const redirect = Type.Optional(
  Type.Object(
    { url: Type.String(), target: Type.Optional(literals(linkTargets)) },
    { description: 'The URL that it opens.' },
  ),
)
const inboxAction = Type.Object(
  { label: Type.String(), isCompleted: Type.Boolean(), redirect },
  { title: 'InboxAction' },
)

/** What inbox clients read. */
const inboxMembers = {
  id: Type.String({ description: 'The id of the message.' }),
  transactionId: Type.String(),
  subject: text(),
  body: Type.String({ description: 'The content.' }),
  to: Type.Object({
    id: Type.String(),
    subscriberId: Type.String(),
    firstName: text(),
    lastName: text(),
    avatar: text(),
  }),
  isRead: Type.Boolean(),
  isSeen: Type.Boolean(),
  isArchived: Type.Boolean(),
  isSnoozed: Type.Boolean(),
  snoozedUntil: optionalTimestamp('When it returns to the feed.'),
  deliveredAt: Type.Optional(Type.Array(timestamp())),
  createdAt: timestamp({ description: 'When it was created, or returned from a snooze.' }),
  readAt: optionalTimestamp('When it was last read.'),
  firstSeenAt: optionalTimestamp('When it was first seen.'),
  archivedAt: optionalTimestamp('When it was archived.'),
  avatar: text('The image of the actor.'),
  primaryAction: Type.Optional(inboxAction),
  secondaryAction: Type.Optional(inboxAction),
  channelType: literals(channels),
  tags: Type.Array(Type.String(), { description: 'The workflow’s tags.' }),
  data: Type.Optional(freeObject()),
  redirect,
  workflow: Type.Object({
    id: Type.String(),
    identifier: Type.String(),
    name: Type.String(),
    critical: Type.Boolean(),
    tags: Type.Array(Type.String()),
    severity: literals(severities),
  }),
  severity: literals(severities),
}

export const inboxNotification = Type.Object(inboxMembers, { title: 'InboxNotification' })

export const subscriberNotification = Type.Object(
  {
    _id: Type.String({ description: 'The id of the message, same as `id`.' }),
    ...feedMembers,
    _feedId: text(),
    ...inboxMembers,
    body: Type.String({ description: 'The content, same as `content`.' }),
  },
  { title: 'SubscriberNotification', description: 'A feed item, with the fields that inbox clients read.' },
)
