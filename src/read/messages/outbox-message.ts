// One message of the outbox with all its parts, and an e-mail as the file and the page it would have been.
import type { Sql } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import { messageFor } from '../../deliver/message-for.ts'
import type { EventAttachment, TriggeredEvent } from '../../domain/delivery/event.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import type { Envelope } from '../../domain/messages/message.ts'
import type { Attachment, EmailMessage, OutboundMessage } from '../../domain/messages/outbound-message.ts'
import {
  outboundWithoutAddresses,
  overridesWithoutAddresses,
  payloadWithoutAddress,
  seesAddresses,
} from '../../domain/messages/shown-addresses.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { withSignedLinks } from '../../domain/preferences/stored-links.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import { prepared } from '../../providers/email/email-message.ts'
import { composed } from '../../providers/email/smtp-mail.ts'
import { findAttachments, listAttachments } from '../../store/events/attachments.ts'
import { findEvents } from '../../store/events/events.ts'
import { findIntegration } from '../../store/integrations/integrations.ts'
import { withWholeEnvelope } from '../../store/messages/addresses.ts'
import { outboxConditions } from '../../store/messages/outbox.ts'
import { findSigningKeys } from '../../store/operate/signing-versions.ts'
import type { OutboxItem, OutboxRow } from './outbox.ts'
import { itemWithoutAddresses, outboxColumns, outboxItems } from './outbox.ts'

type FreeObject = Readonly<Record<string, unknown>>

export interface OutboxAttachment {
  readonly name: string
  readonly mime: string
  readonly bytes: number
  readonly cid?: string
  readonly disposition?: string
}

export interface OutboxMessage extends OutboxItem {
  /** What the provider would have been given, but for the bytes of its attachments. */
  readonly message: FreeObject
  readonly attachments: readonly OutboxAttachment[]
  readonly payload: FreeObject
  readonly overrides: FreeObject
}

interface CapturedRow {
  readonly row: OutboxRow
  readonly event: TriggeredEvent | undefined
  readonly message: OutboundMessage
}

/** Undefined when it is not in the outbox. */
export async function findOutboxMessage(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  id: string,
): Promise<OutboxMessage | undefined> {
  const { environment } = principal
  const kept = await findCaptured(db, sealer, principal, id)
  if (kept === undefined) return undefined
  const { row, event, message } = kept
  const [[item], files] = await Promise.all([
    outboxItems(db, environment, [row], seesAddresses(principal) ? sealer : undefined),
    isEmail(message) && event !== undefined && event.attachments > 0
      ? listAttachments(db, environment, { eventId: event.id, channel: 'email' })
      : [],
  ])
  if (item === undefined) return undefined
  const { id: _, attachments: __, ...parts } = message as EmailMessage
  const { payload, overrides } = { payload: event?.payload ?? {}, overrides: event?.overrides ?? {} }
  return {
    ...(seesAddresses(principal) ? item : itemWithoutAddresses(item)),
    message: parts as unknown as FreeObject,
    attachments: files.map(({ name, mime, bytes, cid, disposition }) => ({
      name,
      mime,
      bytes,
      ...(cid === null ? {} : { cid }),
      ...(disposition === null ? {} : { disposition }),
    })),
    payload: seesAddresses(principal) ? payload : payloadWithoutAddress(payload),
    overrides: seesAddresses(principal) ? overrides : overridesWithoutAddresses(overrides),
  }
}

/** If neither the message nor the account has a sender: a name that no mail ever comes from (RFC 2606). */
const fallbackSender = 'no-reply@outbox.invalid'

/** The e-mail as it would have travelled by SMTP; undefined when it is not in the outbox, or no e-mail. */
export async function outboxEml(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  id: string,
): Promise<Buffer | undefined> {
  const { environment } = principal
  const kept = await findCaptured(db, sealer, principal, id)
  if (kept === undefined || !isEmail(kept.message)) return undefined
  const { row, event, message } = kept
  const files =
    event === undefined || event.attachments === 0
      ? []
      : await findAttachments(db, environment, { eventId: event.id, channel: 'email' })
  const whole = { ...message, from: message.from ?? fallbackSender, attachments: files.map(attachmentOf) }
  const ready = prepared(whole, {})
  // What a vendor would reject can be viewed nevertheless.
  return composed('kind' in ready ? whole : { ...ready, from: whole.from }, row.outbox_at)
}

/** The HTML of an e-mail; undefined when it is not in the outbox, or no e-mail. */
export async function outboxHtml(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  id: string,
): Promise<string | undefined> {
  const kept = await findCaptured(db, sealer, principal, id)
  return kept !== undefined && isEmail(kept.message) ? kept.message.html : undefined
}

const isEmail = (message: OutboundMessage): message is EmailMessage => 'html' in message

/** As this principal may see it. */
async function findCaptured(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  id: string,
): Promise<CapturedRow | undefined> {
  const { environment } = principal
  if (!isUuid(id)) return undefined
  const row = await db.row<OutboxRow & { envelope: Envelope; workflow_id: string | null }>(sql`
    select ${outboxColumns}, m.envelope, (select v.workflow_id from workflow_versions v
      where v.environment_id = ${environment.id} and v.id = m.version_id) as workflow_id
    from messages m
    where m.environment_id = ${environment.id} and m.id = ${id} and ${allOf(outboxConditions(environment, {}))}`)
  if (row === undefined) return undefined
  const [[event], integration] = await Promise.all([
    findEvents(db, environment, [row.event_id]),
    findIntegration(db, sealer, environment, row.integration_id),
  ])
  const { envelope, provider_id: providerId } = seesAddresses(principal)
    ? withWholeEnvelope(sealer, environment, row)
    : row
  const message = messageFor({ id: row.id, envelope, providerId, payload: event?.payload ?? {} })
  const whole = withSender(message, integration)
  if (!seesAddresses(principal)) return { row, event, message: outboundWithoutAddresses(whole) }
  return { row, event, message: isEmail(whole) ? await withLink(db, sealer, environment, row, whole) : whole }
}

/** Who may unsubscribe others is shown the mail as its recipient would have had it. */
async function withLink(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  { subscriber_id: subscriberId, workflow_id: workflowId }: OutboxRow & { workflow_id: string | null },
  email: EmailMessage,
): Promise<EmailMessage> {
  if (workflowId === null) return email
  return withSignedLinks(email, { environmentId: environment.id, subscriberId, workflowId }, async () => {
    const keys = await findSigningKeys(db, sealer, environment)
    if (keys === undefined) throw new Error(`Environment ${environment.id} is missing`)
    return keys
  })
}

/** As the account would have sent it, if the message has no sender of its own. */
function withSender(message: OutboundMessage, integration: Integration | undefined): OutboundMessage {
  const { from = '', senderName = '' } = integration?.credentials ?? {}
  if ('html' in message) {
    return {
      ...message,
      ...(message.from === undefined && from !== '' ? { from } : {}),
      ...(message.senderName === undefined && senderName !== '' ? { senderName } : {}),
    }
  }
  const isSms = 'to' in message
  return isSms && message.from === undefined && from !== '' ? { ...message, from } : message
}

function attachmentOf({ name, mime, content, cid, disposition }: EventAttachment): Attachment {
  return {
    name,
    mime,
    content: content.toString('base64'),
    ...(cid === null ? {} : { cid }),
    ...(disposition === null ? {} : { disposition }),
  }
}
