// Shows whether the configuration changed since it was last read: one statement for all kinds, run with every batch.
import type { Sql } from '../../db/sql.ts'
import { prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { hasEndpoints } from '../webhooks/webhook-endpoints.ts'

export interface ConfigurationStamps {
  /** Each changes whenever something of its kind was created, changed or deleted. */
  readonly integrations: string
  readonly layouts: string
  readonly translations: string
  readonly variables: string
  /** Whether the whole environment captures what it would send. */
  readonly captures: boolean
  /** Whether the suppression list has any entries: most are empty, and need not be queried. */
  readonly hasSuppressions: boolean
  /** Whether events are sent to an endpoint of the customer's: where there is none, none are written. */
  readonly hasWebhooks: boolean
}

/**
 * `xmin` is the transaction that wrote a row. No clock is asked: two changes may have the same time, on one node within a
 * millisecond, on two whose clocks differ at any time.
 */
export async function readStamps(db: Sql, environment: Environment): Promise<ConfigurationStamps> {
  const row = await db.row<{ [Kind in keyof ConfigurationStamps]: ConfigurationStamps[Kind] | null }>(
    prepared(
      'configuration-stamps',
      sql`select
        (select md5(string_agg(id::text || xmin::text, ',' order by id))
         from integrations where environment_id = ${environment.id} and deleted_at is null) as integrations,
        (select md5(string_agg(id::text || xmin::text, ',' order by id))
         from layouts where environment_id = ${environment.id} and deleted_at is null) as layouts,
        (select md5(string_agg(locale || xmin::text, ',' order by locale))
         from translations where environment_id = ${environment.id}) as translations,
        e.captures, e.variables_at::text as variables,
        exists (select 1 from suppressions where environment_id = ${environment.id}) as "hasSuppressions",
        ${hasEndpoints(environment)} as "hasWebhooks"
        from environments e where e.id = ${environment.id}`,
    ),
  )
  return {
    integrations: row?.integrations ?? '',
    layouts: row?.layouts ?? '',
    translations: row?.translations ?? '',
    variables: row?.variables ?? '',
    captures: row?.captures === true,
    hasSuppressions: row?.hasSuppressions === true,
    hasWebhooks: row?.hasWebhooks === true,
  }
}
