// New messages: delivered by being written, on their way to a provider, or never to be sent.

import { arrayText } from '../../db/array-text.ts'
import type { Part } from '../../db/one-statement.ts'
import type { Column } from '../../db/row-set.ts'
import { namesOf, rowSet } from '../../db/row-set.ts'
import type { Statement } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import type { MessageDraft, MessageError, MessageState, MessageStatus, Sending } from '../../domain/messages/message.ts'
import { inboxCounting, inboxNumbers } from './inbox-changes.ts'

export interface NewMessage {
  /** Derived from the job and the draft's target. */
  readonly id: string
  readonly eventId: string
  readonly notificationId: string
  readonly jobId: string
  /** The subscriber's internal id. */
  readonly subscriberId: string
  readonly versionId: string
  readonly step: number
  readonly draft: MessageDraft
  readonly state: MessageState
  /** Null before the first outcome. */
  readonly status: MessageStatus | null
  readonly providerId: string | null
  readonly integrationId: string | null
  readonly sending: Sending | null
  readonly error: MessageError | null
  readonly contextKeys: readonly string[] | null
  /** Null for `none`. */
  readonly severity: string | null
  readonly isTest: boolean
  readonly deliveredAt: Date | null
  readonly createdAt: Date
  /** Whether what becomes of it is sent to an endpoint of the customer's. */
  readonly isReported?: boolean
  /** Sealed, in the place of what the draft leaves out then. */
  readonly addresses?: Buffer
  readonly addressDigest?: Buffer | null
}

const uuid = sql`uuid`
const text = sql`text`
const jsonb = sql`jsonb`
const timestamp = sql`timestamptz`

/** Undefined where it is the HTML that the envelope has: an e-mail may have a hundred kilobytes, and each copy is read and compressed. */
const ownContent = ({ content, envelope }: MessageDraft): unknown =>
  envelope !== undefined && 'html' in envelope && envelope.html === content ? undefined : content

const jobColumn: Column<NewMessage> = { name: sql`job_id`, type: uuid, read: (m) => m.jobId }
const subscriberColumn: Column<NewMessage> = { name: sql`subscriber_id`, type: uuid, read: (m) => m.subscriberId }
const columns: readonly Column<NewMessage>[] = [
  { name: sql`id`, type: uuid, read: (m) => m.id },
  { name: sql`event_id`, type: uuid, read: (m) => m.eventId },
  { name: sql`notification_id`, type: uuid, read: (m) => m.notificationId },
  jobColumn,
  subscriberColumn,
  { name: sql`version_id`, type: uuid, read: (m) => m.versionId },
  { name: sql`step`, type: sql`smallint`, isUsuallySame: true, read: (m) => m.step },
  { name: sql`channel`, type: text, isUsuallySame: true, read: (m) => m.draft.channel },
  { name: sql`state`, type: text, isUsuallySame: true, read: (m) => m.state },
  { name: sql`status`, type: text, isUsuallySame: true, read: (m) => m.status },
  { name: sql`provider_id`, type: text, isUsuallySame: true, read: (m) => m.providerId },
  { name: sql`integration_id`, type: uuid, isUsuallySame: true, read: (m) => m.integrationId },
  { name: sql`sending`, type: jsonb, read: (m) => json(m.sending) },
  { name: sql`error_id`, type: text, isUsuallySame: true, read: (m) => m.error?.errorId ?? null },
  { name: sql`error_text`, type: text, isUsuallySame: true, read: (m) => m.error?.errorText ?? null },
  { name: sql`content`, type: jsonb, read: (m) => json(ownContent(m.draft)) },
  { name: sql`subject`, type: text, read: (m) => m.draft.subject ?? null },
  { name: sql`title`, type: text, read: (m) => m.draft.title ?? null },
  { name: sql`email`, type: text, read: (m) => m.draft.email ?? null },
  { name: sql`phone`, type: text, isUsuallySame: true, read: (m) => m.draft.phone ?? null },
  { name: sql`direct_webhook_url`, type: text, isUsuallySame: true, read: (m) => m.draft.directWebhookUrl ?? null },
  {
    name: sql`device_tokens`,
    type: sql`text[]`,
    isUsuallySame: true,
    writtenAs: text,
    read: (m) => (m.draft.deviceTokens === undefined ? null : arrayText(m.draft.deviceTokens)),
  },
  { name: sql`envelope`, type: sql`json`, read: (m) => json(m.draft.envelope) },
  { name: sql`cta`, type: jsonb, isUsuallySame: true, read: (m) => json(m.draft.cta) },
  { name: sql`actor`, type: jsonb, isUsuallySame: true, read: (m) => json(m.draft.actor) },
  { name: sql`data`, type: jsonb, isUsuallySame: true, read: (m) => json(m.draft.data) },
  {
    name: sql`context_keys`,
    type: sql`text[]`,
    isUsuallySame: true,
    writtenAs: text,
    read: (m) => m.contextKeys && arrayText(m.contextKeys),
  },
  { name: sql`severity`, type: text, isUsuallySame: true, read: (m) => m.severity },
  { name: sql`is_test`, type: sql`boolean`, isUsuallySame: true, read: (m) => m.isTest },
  {
    name: sql`delivered_at`,
    type: sql`timestamptz[]`,
    isUsuallySame: true,
    writtenAs: text,
    read: (m) => m.deliveredAt && arrayText([m.deliveredAt]),
  },
  { name: sql`created_at`, type: timestamp, isUsuallySame: true, read: (m) => m.createdAt },
  { name: sql`updated_at`, type: timestamp, isUsuallySame: true, read: (m) => m.createdAt },
]
/** For chat and push: the others have none to seal, and are not checked. */
const addressedColumns: readonly Column<NewMessage>[] = [
  ...columns,
  { name: sql`addresses`, type: sql`bytea`, read: (m) => m.addresses ?? null },
  { name: sql`address_digest`, type: sql`bytea`, read: (m) => m.addressDigest ?? null },
]
const names = namesOf(columns)
const addressedNames = namesOf(addressedColumns)

/**
 * Written with the settling of their job, which only its lease holder can do: those of a job that is not among `kept`
 * are not; if it is omitted, the jobs are new as well. Channel by channel, as those of one have most in common. A write
 * whose commit was unknown is repeated under the same lease and finds its messages there.
 */
export function messageInsertions(environment: Environment, messages: readonly NewMessage[], kept?: Statement): Part[] {
  const byChannel = grouped(messages, ({ draft }) => draft.channel)
  return [...byChannel].flatMap(([channel, group]) => {
    const isAddressed = channel === 'chat' || channel === 'push'
    const { values, from, shape, valueIn } = rowSet(group, isAddressed ? addressedColumns : columns)
    const fence =
      kept === undefined
        ? sql``
        : sql`where ${valueIn(jobColumn)} in (${kept}) on conflict (environment_id, id) do nothing`
    const part = { as: insertionNames[channel], name: `${channel}-${kept === undefined ? 'new-' : ''}${shape}` }
    if (channel !== 'in_app') {
      const statement = sql`
        insert into messages (environment_id, ${isAddressed ? addressedNames : names})
        select ${environment.id}::uuid, ${values} from ${from} ${fence}`
      return [{ ...part, statement }]
    }
    // Those of inboxes that were opened are numbered.
    const statement = sql`
      insert into messages (environment_id, ${names}, change, arrival)
      select ${environment.id}::uuid, ${values}, n.number, n.number from ${from}
      left join ${inboxNumbers} n on n.subscriber_id = ${valueIn(subscriberColumn)} ${fence}`
    return [inboxCounting(environment, distinct(group.map((one) => one.subscriberId))), { ...part, statement }]
  })
}

const distinct = (ids: readonly string[]): string[] => [...new Set(ids)]

const insertionNames: Readonly<Record<Channel, Statement>> = {
  in_app: sql`new_in_app`,
  email: sql`new_email`,
  sms: sql`new_sms`,
  chat: sql`new_chat`,
  push: sql`new_push`,
}
