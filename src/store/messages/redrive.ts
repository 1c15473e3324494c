// Messages of steps that failed: what became of each, and sending them again.
import type { Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { RedrivableMessage } from '../../domain/delivery/redrive.ts'
import { idsOfMessages } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { notYetSent } from '../../domain/messages/message.ts'

/** With all its recipients. */
export type LockedMessage = Omit<RedrivableMessage, 'isSuppressed'> & { readonly addresses: readonly string[] }

/** One per device token, of which a subscriber has a limited number at a provider. */
const messagesPerJobMax = 1_000

/** The messages of these jobs, held until the transaction ends. */
export async function lockMessagesOfJobs(
  tx: Tx,
  environment: Environment,
  jobs: readonly { readonly id: string; readonly eventId: string }[],
): Promise<LockedMessage[]> {
  if (jobs.length === 0) return []
  const ranges = jobs.map((job) => idsOfMessages(job.eventId, job.id))
  const found = await tx.rows<{ id: string }>(sql`
    select m.id
    from unnest(${jobs.map((job) => job.id)}::uuid[], ${ranges.map((range) => range.from)}::uuid[],
                ${ranges.map((range) => range.to)}::uuid[]) as asked (job_id, from_id, to_id)
    cross join lateral (
      select id from messages found
      where found.environment_id = ${environment.id} and found.id between asked.from_id and asked.to_id
        and found.job_id = asked.job_id
      order by found.id limit ${messagesPerJobMax}) m`)
  const ids = found.map((row) => row.id)
  if (ids.length === 0) return []
  const rows = await tx.rows<Omit<LockedMessage, 'addresses'> & AddressRow>(sql`
    select m.id, m.job_id as "jobId", m.channel, m.state, m.status, m.deleted_at is not null as "isDeleted",
      coalesce((m.sending->>'unsureRepeats')::int, 0) + coalesce((m.sending->>'interruptions')::int, 0) > 0 as "isPerhapsSent", m.envelope is not null as "isWhole",
      m.email, m.phone, m.envelope->'to' as "to", m.envelope->'cc' as cc, m.envelope->'bcc' as bcc
    from messages m where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[])
    order by m.id for no key update`)
  return rows.map(({ email, phone, to, cc, bcc, ...message }) => ({
    ...message,
    addresses: [...new Set([email, phone, to, cc, bcc].flatMap((one) => one ?? []))],
  }))
}

interface AddressRow {
  readonly email: string | null
  readonly phone: string | null
  readonly to: string | readonly string[] | null
  readonly cc: readonly string[] | null
  readonly bcc: readonly string[] | null
}

/**
 * To be sent unchanged, as if for the first time, and without reports: e-mails and SMS by whichever integration is the
 * first choice now, the others by the integration that their entry belongs to.
 */
export async function redriveMessages(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  if (ids.length === 0) return
  await tx.run(sql`
    update messages m set state = 'ready', updated_at = ${now}, poll_at = null, receipts = null,
      integration_id = case when m.channel in ('email', 'sms') then null else m.integration_id end,
      sending = ${json(notYetSent)}::jsonb
        || jsonb_build_object('redrives', coalesce((m.sending->>'redrives')::int, 0) + 1)
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.state = 'done'
      and m.status in ('error', 'warning')`)
}
