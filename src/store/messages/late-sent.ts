// Messages that a provider has accepted, as learned by a worker whose lease on their job was lost.
import type { Part } from '../../db/one-statement.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { CallResult } from './sending.ts'

/** The ids of the messages that were not settled before, within the statement. */
export const sentLate = sql`select id from sent_late`

/**
 * Only those whose job was `marked_late`, and none that is settled. The integration that was called has sent it,
 * whichever would be called next.
 */
export function lateSent(environment: Environment, results: readonly CallResult[], now: Date): Part {
  const ids = results.map(({ id }) => id)
  return {
    as: sql`sent_late`,
    name: 'messages-late',
    statement: sql`
        update messages m set state = 'done', status = 'sent', error_id = null, error_text = null, updated_at = ${now},
          provider_message_id = coalesce(s.provider_message_id, m.provider_message_id), sending = m.sending - 'dueAt',
          integration_id = coalesce(s.integration_id, m.integration_id),
          provider_id = coalesce(s.provider_id, m.provider_id), is_test = m.is_test or s.is_test,
          is_captured = m.is_captured or s.is_captured,
          outbox_at = case when s.is_captured then ${now}::timestamptz else m.outbox_at end
        from unnest(${ids}::uuid[], ${results.map((one) => one.providerMessageId)}::text[],
                    ${results.map((one) => one.asked?.integrationId ?? null)}::uuid[],
                    ${results.map((one) => one.asked?.providerId ?? null)}::text[],
                    ${results.map((one) => one.isTest)}::boolean[],
                    ${results.map((one) => one.isCaptured === true)}::boolean[])
          as s (id, provider_message_id, integration_id, provider_id, is_test, is_captured)
        where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.id = s.id
          and m.job_id = any(array(select id from marked_late)) and m.state <> 'done'
        returning m.id`,
  }
}
