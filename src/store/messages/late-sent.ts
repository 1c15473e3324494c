// Messages that a provider has taken, as somebody learns whose lease on their job was lost.
import type { Part } from '../../db/one-statement.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/execution-detail.ts'
import { grouped } from '../../domain/grouped.ts'
import type { CallResult } from './sending.ts'

export interface LateSent {
  readonly result: CallResult
  readonly jobId: string
  /** For the job. */
  readonly details: readonly StoredDetail[]
}

/** The ids of the messages that were not settled before, within the statement. */
export const sentLate = sql`select id from sent_late`

/**
 * Jobs before messages, as everybody else who writes both: whoever holds the job now is waited for. Only messages that are not
 * settled; the one who asked was the one who sent it, whoever is to be asked next.
 */
export function lateSent(environment: Environment, sent: readonly LateSent[], now: Date): Part[] {
  const byJob = [...grouped(sent, ({ jobId }) => jobId)]
  const jobIds = byJob.map(([id]) => id)
  const ids = sent.map(({ result }) => result.id)
  const results = sent.map(({ result }) => result)
  return [
    {
      as: sql`told_late`,
      name: 'jobs-late',
      statement: sql`
        update jobs j set details = j.details || told.details::jsonb, state = coalesce(j.state, '{}') || '{"reached": true}'
        from unnest(${jobIds}::uuid[], ${byJob.map(([, all]) => json(all.flatMap((one) => one.details)))}::text[])
          as told (id, details)
        where j.environment_id = ${environment.id} and j.id = any(${jobIds}::uuid[]) and j.id = told.id and exists (
          select 1 from messages m where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[])
            and m.job_id = j.id and m.state <> 'done')
        returning j.id`,
    },
    {
      as: sql`sent_late`,
      name: 'messages-late',
      statement: sql`
        update messages m set state = 'done', status = 'sent', error_id = null, error_text = null, updated_at = ${now},
          provider_message_id = coalesce(s.provider_message_id, m.provider_message_id), sending = m.sending - 'dueAt',
          integration_id = coalesce(s.integration_id, m.integration_id),
          provider_id = coalesce(s.provider_id, m.provider_id), is_test = m.is_test or s.is_test,
          outbox_at = case when s.is_captured then ${now}::timestamptz else m.outbox_at end
        from unnest(${ids}::uuid[], ${results.map((one) => one.providerMessageId)}::text[],
                    ${results.map((one) => one.asked?.integrationId ?? null)}::uuid[],
                    ${results.map((one) => one.asked?.providerId ?? null)}::text[],
                    ${results.map((one) => one.isTest)}::boolean[],
                    ${results.map((one) => one.isCaptured === true)}::boolean[])
          as s (id, provider_message_id, integration_id, provider_id, is_test, is_captured)
        where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.id = s.id
          and m.job_id = any(array(select id from told_late)) and m.state <> 'done'
        returning m.id`,
    },
  ]
}
