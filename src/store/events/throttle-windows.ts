// The throttle_windows table: how often a throttle was asked since its window opened.
import type { Clock } from '../../db/clock.ts'
import { dueNow } from '../../db/due.ts'
import type { Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

/** What one window is for: a step, a subscriber, a value of the throttle key. */
export interface ThrottleIdentity {
  readonly stepId: string
  readonly subscriberId: string
  readonly keyHash: Buffer
}

export interface ThrottleAsk extends ThrottleIdentity {
  /** How many runs ask at once. */
  readonly count: number
  /** The end of the window that these open: so long after they ask, or else at this timestamp. */
  readonly openMs: number | undefined
  readonly until: Date
}

export interface AskedWindow {
  readonly step_id: string
  readonly subscriber_id: string
  readonly key_hash: Buffer
  /** How many have asked, with these. */
  readonly asked: number
  /** By the clock that all nodes share. */
  readonly until_at: Date
}

/** Far below what the column holds, and above every threshold: requests beyond it are refused either way. */
const countedMax = 1_000_000_000

/**
 * Counts the requests of each identity, one row each, in the open window or in a new one. All requests are counted, not
 * only those that are allowed: so what was counted before follows from what is returned, with any number of nodes. Windows
 * begin and end by a clock that all nodes share: otherwise one that is ahead would end those of the others.
 */
export async function askThrottles(
  tx: Tx,
  environment: Environment,
  asks: readonly ThrottleAsk[],
  clock: Clock,
): Promise<AskedWindow[]> {
  if (asks.length === 0) return []
  const isOpen = sql`throttle_windows.until_at > ${clock()}`
  const column = <Value>(read: (ask: ThrottleAsk) => Value): Value[] => asks.map(read)
  return tx.rows<AskedWindow>(sql`
    insert into throttle_windows (environment_id, step_id, subscriber_id, key_hash, asked, opened_at, until_at)
    select ${environment.id}, a.step_id, a.subscriber_id, a.key_hash, a.count, ${clock()},
      coalesce(${clock()} + a.open_ms * interval '1 millisecond', a.until_at)
    from unnest(${column((a) => a.stepId)}::uuid[], ${column((a) => a.subscriberId)}::uuid[],
                ${column((a) => a.keyHash)}::bytea[], ${column((a) => a.count)}::int[],
                ${column((a) => a.openMs ?? null)}::double precision[], ${column((a) => a.until)}::timestamptz[])
      as a (step_id, subscriber_id, key_hash, count, open_ms, until_at)
    order by a.step_id, a.subscriber_id, a.key_hash
    on conflict (environment_id, step_id, subscriber_id, key_hash) do update set
      asked = case when ${isOpen}
                then least(throttle_windows.asked, ${countedMax}) + excluded.asked else excluded.asked end,
      opened_at = case when ${isOpen} then throttle_windows.opened_at else excluded.opened_at end,
      until_at = case when ${isOpen} then throttle_windows.until_at else excluded.until_at end
    returning step_id, subscriber_id, key_hash, asked, until_at`)
}

/** Deletes at most `limit` finished windows of all environments and returns how many it deleted. */
export async function sweepThrottleWindows(tx: Tx, now: Date, limit: number): Promise<number> {
  return tx.run(sql`
    delete from throttle_windows where ctid = any(array(
      select ctid from throttle_windows where until_at <= ${dueNow(now)}
      order by until_at limit ${limit} for update skip locked))`)
}

/**
 * What was counted for a person. Their step comes first in the key, so the whole environment is scanned: it is swept.
 */
export async function forgetThrottlesOf(
  tx: Tx,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<number> {
  return tx.run(sql`
    delete from throttle_windows
    where environment_id = ${environment.id} and subscriber_id = any(${subscriberIds}::uuid[])`)
}
