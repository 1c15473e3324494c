// The outbox as a list, newest first: what was captured instead of sent.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { SendingChannel } from '../../domain/messages/outbound-message.ts'
import type { OutboxFilter } from '../../domain/messages/outbox.ts'
import { struckOut, textWithoutLinks } from '../../domain/messages/shown-addresses.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { addressIn, openAddresses } from '../../store/messages/addresses.ts'
import { outboxConditions } from '../../store/messages/outbox.ts'
import { pinnedIdentifier } from '../../store/workflows/workflows.ts'
import type { CursorPage } from '../page/keyset-page.ts'
import { keysetPage } from '../page/keyset-page.ts'

export interface OutboxItem {
  readonly _id: string
  readonly channel: SendingChannel
  readonly capturedAt: string
  readonly transactionId: string
  /** Absent after the subscriber has been deleted. */
  readonly subscriberId?: string
  /** The addresses it was for. */
  readonly to: readonly string[]
  readonly subject?: string
  readonly title?: string
  /** How its text begins. */
  readonly preview: string
  readonly providerId: string
  /** Who would have sent it. */
  readonly integration?: { readonly _id: string; readonly identifier: string; readonly name: string }
  readonly workflow: { readonly _id: string; readonly identifier: string; readonly name: string }
  readonly _notificationId: string
  readonly _jobId: string
}

export interface OutboxPaging {
  readonly after?: string
  readonly before?: string
  readonly limit?: number
}

/** Enough to recognise a message by, in a list. */
const previewLength = 200

export interface OutboxRow {
  readonly id: string
  readonly channel: SendingChannel
  readonly event_id: string
  readonly notification_id: string
  readonly job_id: string
  readonly subscriber_id: string
  readonly version_id: string
  readonly integration_id: string
  readonly provider_id: string
  readonly outbox_at: Date
  readonly subject: string | null
  readonly title: string | null
  readonly to: (string | null)[] | null
  readonly preview: string | null
  /** Sealed: whom it was for. */
  readonly addresses: Buffer | null
}

/** Of a row called `m`. */
export const outboxColumns = sql`m.id, m.channel, m.event_id, m.notification_id, m.job_id, m.subscriber_id, m.version_id,
  m.integration_id, m.provider_id, m.outbox_at, m.subject, m.title, m.addresses,
  case m.channel
    when 'email' then m.envelope->'to'
    when 'sms' then json_build_array(m.envelope->>'to')
    when 'push' then json_build_array(m.envelope->>'target')
    else json_build_array(coalesce(m.envelope->>'webhookUrl', m.envelope->>'channel', m.envelope->>'phone')) end as "to",
  left(case m.channel when 'email' then m.envelope->>'text' else m.envelope->>'content' end, ${previewLength}::int) as preview`

export async function outboxPage(
  db: Sql,
  environment: Environment,
  filter: OutboxFilter,
  paging: OutboxPaging,
  /** For callers who see where messages went. */
  sealer?: Sealer,
): Promise<CursorPage<OutboxItem>> {
  const page = await keysetPage<OutboxRow>(
    db,
    {
      columns: outboxColumns,
      from: sql`from messages m`,
      where: [sql`m.environment_id = ${environment.id}`, ...outboxConditions(environment, filter)],
      id: sql`m.id`,
      orders: { capturedAt: { column: sql`m.outbox_at`, cast: 'timestamptz' } },
      cursorOf: (row) => ({ value: row.outbox_at.toISOString(), id: row.id }),
    },
    paging,
  )
  return { ...page, data: await outboxItems(db, environment, page.data, sealer) }
}

/** For callers who may not see by what people are reached. Addresses of mail and telephone numbers are no secrets. */
export function itemWithoutAddresses<Item extends OutboxItem>(item: Item): Item {
  const isSecret = item.channel === 'chat' || item.channel === 'push'
  return {
    ...item,
    to: isSecret ? item.to.map(() => struckOut) : item.to,
    preview: textWithoutLinks(item.preview),
    ...(item.subject === undefined ? {} : { subject: textWithoutLinks(item.subject) }),
    ...(item.title === undefined ? {} : { title: textWithoutLinks(item.title) }),
  }
}

interface Origin {
  readonly id: string
  readonly transaction_id: string | null
  readonly subscriber_id: string | null
  readonly workflow_id: string | null
  readonly workflow_identifier: string | null
  readonly workflow_name: string | null
  readonly integration_identifier: string | null
  readonly integration_name: string | null
}

/** With what they take from elsewhere, in one statement. */
export async function outboxItems(
  db: Sql,
  environment: Environment,
  rows: readonly OutboxRow[],
  sealer?: Sealer,
): Promise<OutboxItem[]> {
  if (rows.length === 0) return []
  const origins = await db.rows<Origin>(sql`
    select asked.id, e.transaction_id, s.subscriber_id, w.id as workflow_id, w.identifier as workflow_identifier,
           w.name as workflow_name, i.identifier as integration_identifier, i.name as integration_name
    from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.event_id)}::uuid[],
                ${rows.map((row) => row.subscriber_id)}::uuid[], ${rows.map((row) => row.version_id)}::uuid[],
                ${rows.map((row) => row.integration_id)}::uuid[])
      as asked (id, event_id, subscriber_id, version_id, integration_id)
    left join lateral (select found.transaction_id from events found
      where found.environment_id = ${environment.id} and found.id = asked.event_id limit 1) as e on true
    left join lateral (select found.subscriber_id from subscribers found
      where found.environment_id = ${environment.id} and found.id = asked.subscriber_id and found.deleted_at is null
      limit 1) as s on true
    left join lateral (select w.id, ${pinnedIdentifier} as identifier, v.definition->>'name' as name
      from workflow_versions v join workflows w on w.environment_id = v.environment_id and w.id = v.workflow_id
      where v.environment_id = ${environment.id} and v.id = asked.version_id limit 1) as w on true
    left join lateral (select found.identifier, found.name from integrations found
      where found.environment_id = ${environment.id} and found.id = asked.integration_id limit 1) as i on true`)
  const byId = new Map(origins.map((origin) => [origin.id, origin]))
  return rows.map((row) => ({
    ...itemOf(row, byId.get(row.id)),
    ...(row.addresses === null ? {} : { to: sealedTo(environment, row, sealer) }),
  }))
}

function sealedTo(environment: Environment, row: OutboxRow, sealer: Sealer | undefined): string[] {
  if (sealer === undefined) return [struckOut]
  const address = addressIn(openAddresses(sealer, environment, row)?.envelope ?? {})
  return address === undefined ? (row.to ?? []).filter((one) => one !== null) : [address]
}

function itemOf(row: OutboxRow, origin: Origin | undefined): OutboxItem {
  const { subscriber_id, integration_identifier } = origin ?? {}
  return {
    _id: row.id,
    channel: row.channel,
    capturedAt: row.outbox_at.toISOString(),
    // An event's partition may be dropped just before its messages'.
    transactionId: origin?.transaction_id ?? row.event_id,
    ...(subscriber_id == null ? {} : { subscriberId: subscriber_id }),
    to: (row.to ?? []).filter((address) => address !== null),
    ...(row.subject === null ? {} : { subject: row.subject }),
    ...(row.title === null ? {} : { title: row.title }),
    preview: row.preview ?? '',
    providerId: row.provider_id,
    ...(integration_identifier == null
      ? {}
      : {
          integration: {
            _id: row.integration_id,
            identifier: integration_identifier,
            name: origin?.integration_name ?? '',
          },
        }),
    workflow: {
      _id: origin?.workflow_id ?? '',
      identifier: origin?.workflow_identifier ?? '',
      name: origin?.workflow_name ?? '',
    },
    _notificationId: row.notification_id,
    _jobId: row.job_id,
  }
}
