// The schemas of the outbox: its filters, its items, a message with all its parts.
import type { Static } from 'typebox'
import { Type } from 'typebox'
import type { OutboxFilter } from '../../../domain/messages/outbox.ts'
import { outboxChannels } from '../../../domain/messages/outbox.ts'
import { invalidField } from '../../../domain/problem.ts'
import { optionalTimestamp } from '../../../domain/time/timestamp-parameter.ts'
import { freeObject, identifierText, literals, timestamp } from '../../schemas.ts'

/** The address of a chat's webhook is the longest that a message goes to. */
const recipientLengthMax = 2048
const textLengthMax = 200
/** Longer than any ISO 8601 timestamp. */
const timestampLengthMax = 64

// Empty ones are rejected: an ignored empty filter would let a mistake clear the whole outbox.
export const outboxFilters = {
  channel: Type.Optional(literals(outboxChannels, { description: 'Only messages of this channel.' })),
  recipient: Type.Optional(
    identifierText({
      maxLength: recipientLengthMax,
      description: 'A subscriberId, or the e-mail address, phone number, device token or chat address it was for.',
    }),
  ),
  workflow: Type.Optional(identifierText({ maxLength: 255, description: 'The workflow’s identifier.' })),
  text: Type.Optional(
    identifierText({
      maxLength: textLengthMax,
      description: 'Text contained in the subject, title, content, text or HTML; case-insensitive.',
    }),
  ),
  transactionId: Type.Optional(identifierText({ maxLength: 255 })),
  capturedAfter: Type.Optional(
    Type.String({ maxLength: timestampLengthMax, description: 'ISO 8601: captured at or after this time.' }),
  ),
  capturedBefore: Type.Optional(
    Type.String({ maxLength: timestampLengthMax, description: 'ISO 8601: captured before this time.' }),
  ),
}

const filters = Type.Object(outboxFilters)

export function outboxFilterOf(query: Static<typeof filters>): OutboxFilter {
  const { channel, recipient, workflow, text, transactionId } = query
  const capturedAfter = optionalTimestamp('capturedAfter', query.capturedAfter)
  const capturedBefore = optionalTimestamp('capturedBefore', query.capturedBefore)
  if (capturedAfter !== undefined && capturedBefore !== undefined && capturedAfter >= capturedBefore) {
    throw invalidField('capturedBefore', 'capturedBefore must be later than capturedAfter', query.capturedBefore)
  }
  return {
    ...(channel === undefined ? {} : { channel }),
    ...(recipient === undefined ? {} : { recipient }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(text === undefined ? {} : { text }),
    ...(transactionId === undefined ? {} : { transactionId }),
    ...(capturedAfter === undefined ? {} : { capturedAfter }),
    ...(capturedBefore === undefined ? {} : { capturedBefore }),
  }
}

const waitMsDefault = 30_000
/** Longer, and proxies in between would cut the connection. */
const waitMsMax = 60_000
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 }

/** `30s`, `500ms`, `1m`; a number alone is in seconds. */
export function waitMsOf(text: string | undefined): number {
  if (text === undefined) return waitMsDefault
  const match = /^(\d{1,5})(ms|s|m)?$/.exec(text)
  const ms = match === null ? Number.NaN : Number(match[1]) * (unitMs[match[2] ?? 's'] ?? 0)
  if (ms <= waitMsMax) return ms
  throw invalidField('timeout', 'timeout must be a duration such as 500ms, 30s or 1m, at most 60s', text)
}

const named = (title: string) =>
  Type.Object({ _id: Type.String(), identifier: Type.String(), name: Type.String() }, { title })

const itemMembers = {
  _id: Type.String(),
  channel: literals(outboxChannels),
  capturedAt: timestamp({ description: 'When it was captured.' }),
  transactionId: Type.String(),
  subscriberId: Type.Optional(Type.String({ description: 'Absent after the subscriber has been deleted.' })),
  to: Type.Array(Type.String(), { description: 'The addresses it was meant for.' }),
  subject: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  preview: Type.String({ description: 'The beginning of its text.' }),
  providerId: Type.String(),
  integration: Type.Optional(named('OutboxIntegration')),
  workflow: named('OutboxWorkflow'),
  _notificationId: Type.String({ description: 'The notification it belongs to.' }),
  _jobId: Type.String(),
}

export const outboxItem = Type.Object(itemMembers, { title: 'OutboxItem' })

const attachment = Type.Object(
  {
    name: Type.String(),
    mime: Type.String(),
    bytes: Type.Integer(),
    cid: Type.Optional(Type.String()),
    disposition: Type.Optional(Type.String()),
  },
  { title: 'OutboxAttachment' },
)

export const outboxMessage = Type.Object(
  {
    ...itemMembers,
    message: freeObject({
      description:
        'What the provider would have received. E-mail: `from`, `senderName`, `to`, `cc`, `bcc`, `replyTo`, `subject`, `html`, `text`, `headers`, `tags`. SMS: `to`, `from`, `content`. Push: `target`, `title`, `content`, `payload`. Chat: `webhookUrl`, `channel` or `phone`, `content`. All: `metadata`, `customData`, `passthrough`.',
    }),
    attachments: Type.Array(attachment, { description: 'The files of an e-mail; their bytes are in its `.eml`.' }),
    payload: freeObject({ description: 'The payload of the event.' }),
    overrides: freeObject({ description: 'The overrides of the event.' }),
  },
  { title: 'OutboxMessage' },
)
