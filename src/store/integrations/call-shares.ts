// The call_shares table: which node may make how many calls at once by an account that takes few.
import type { Tx } from '../../db/sql.ts'
import { prepared, sql } from '../../db/sql.ts'
import type { ShareHolder } from '../../domain/delivery/call-share.ts'
import type { Environment } from '../../domain/environment.ts'

export interface LockedShares {
  readonly holders: readonly ShareHolder[]
  /** The database's clock, which all nodes share. */
  readonly nowMs: number
}

/** Locks the account's row until the transaction ends, and creates it if there is none. */
export async function lockShares(tx: Tx, environment: Environment, integrationId: string): Promise<LockedShares> {
  const row = await tx.row<LockedShares>(
    prepared(
      'call-shares-lock',
      sql`insert into call_shares as s (environment_id, integration_id, holders)
          values (${environment.id}, ${integrationId}, '[]')
          on conflict (environment_id, integration_id) do update set holders = s.holders
          returning holders, (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`,
    ),
  )
  return row ?? { holders: [], nowMs: 0 }
}

/** An account that no node wants needs no row. */
export async function writeShares(
  tx: Tx,
  environment: Environment,
  integrationId: string,
  holders: readonly ShareHolder[],
): Promise<void> {
  if (holders.length === 0) {
    await tx.run(
      sql`delete from call_shares where environment_id = ${environment.id} and integration_id = ${integrationId}`,
    )
    return
  }
  await tx.run(
    prepared(
      'call-shares-write',
      sql`update call_shares set holders = ${JSON.stringify(holders)}::jsonb
          where environment_id = ${environment.id} and integration_id = ${integrationId}`,
    ),
  )
}
