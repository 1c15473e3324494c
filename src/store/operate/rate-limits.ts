// The rate_limits table: one token bucket an environment and category, or key, from which nodes draw slices.

import type { Sql, Tx } from '../../db/sql.ts'
import { prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

/** The bucket of a key that has a rate of its own. */
export const bucketOfKey = (keyId: string): string => `key:${keyId}`

/** When the key is gone. */
export async function deleteBucketOfKey(tx: Tx, environment: Environment, keyId: string): Promise<void> {
  await tx.run(
    sql`delete from rate_limits where environment_id = ${environment.id} and category = ${bucketOfKey(keyId)}`,
  )
}

export interface Bucket {
  readonly category: string
  readonly burst: number
  readonly tokensPerSecond: number
}

/**
 * Refills the bucket by the time passed and takes `wanted` tokens, or as many as there are if that is at least `needed`.
 * One statement, so that nodes cannot draw the same tokens; the clock is the database's, so that theirs need not agree.
 */
export async function drawTokens(
  db: Sql,
  environment: Environment,
  bucket: Bucket,
  draw: { wanted: number; needed: number },
): Promise<{ taken: number; left: number }> {
  const { category, burst, tokensPerSecond } = bucket
  const first = Math.min(draw.wanted, burst)
  const row = await db.row<{ taken: number; left: number }>(
    prepared(
      'rate-limits-draw',
      sql`insert into rate_limits as r (environment_id, category, tokens, drawn, refilled_at)
          values (${environment.id}, ${category}, ${burst - first}::float8, ${first}::float8, clock_timestamp())
          on conflict (environment_id, category) do update set (tokens, drawn, refilled_at) = (
            select refilled.tokens - taken.tokens, taken.tokens, clock_timestamp()
            from (select least(${burst}::float8, r.tokens
                    + greatest(0, extract(epoch from clock_timestamp() - r.refilled_at)) * ${tokensPerSecond}::float8)) as refilled (tokens)
            cross join lateral (select case when refilled.tokens >= ${draw.needed}::float8
                    then least(${draw.wanted}::float8, floor(refilled.tokens)) else 0 end) as taken (tokens))
          returning drawn as taken, tokens as left`,
    ),
  )
  return row ?? { taken: 0, left: 0 }
}
