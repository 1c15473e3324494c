// What happens to a job's messages after it has finished: appended to its details.
import type { Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import type { DetailCode, StoredDetail } from '../../domain/insight/execution-detail.ts'

export interface AppendedDetails {
  readonly jobId: string
  readonly details: readonly StoredDetail[]
}

/** Only the first time is worth recording: a message can be marked unread and read again forever. */
const recordedOnce: readonly DetailCode[] = ['seen', 'read']
/** A row is read whole with every page that shows it; a message may be snoozed every day. */
export const detailsPerJobMax = 200

/**
 * One statement, however many jobs. Unfinished jobs are left out: the holder of one changes its messages too, and the
 * caller, who holds the messages, would wait for them in the other order.
 */
export async function appendDetails(
  tx: Tx,
  environment: Environment,
  entries: readonly AppendedDetails[],
): Promise<void> {
  const byJob = [...grouped(entries, (entry) => entry.jobId)].filter(([, all]) =>
    all.some((one) => one.details.length > 0),
  )
  if (byJob.length === 0) return
  const ids = byJob.map(([id]) => id)
  await tx.run(sql`
    with held as materialized (
      select id from jobs where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and due_at is null
        and jsonb_array_length(details) < ${detailsPerJobMax}
      order by id for no key update)
    update jobs j
    set details = j.details || coalesce((
      select jsonb_agg(one order by place) from jsonb_array_elements(added.details::jsonb) with ordinality as listed (one, place)
      where not (one->>'code' = any(${recordedOnce}::text[])
        and j.details @> jsonb_build_array(jsonb_build_object('code', one->'code')))), '[]')
    from unnest(${ids}::uuid[], ${byJob.map(([, all]) => json(all.flatMap((one) => one.details)))}::text[])
      as added (id, details)
    where j.environment_id = ${environment.id} and j.id = any(array(select id from held)) and j.id = added.id`)
}
