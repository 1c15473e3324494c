// Windows of digests and throttles as they stand, for simulations: read, and neither joined nor locked. Their times are those
// of the node's clock, by which it simulates.
import type { Clock } from '../../db/clock.ts'
import { shownAt } from '../../db/due.ts'
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { DigestIdentity, JoinedWindow } from './digests.ts'
import type { ThrottleIdentity } from './throttle-windows.ts'

/** As a simulation reads it: nothing joins it. */
export interface OpenWindow extends Omit<JoinedWindow, 'opened'> {
  readonly opened: false
  readonly event_count: number
  readonly opened_at: Date
  /** Later than its due_at where the subscriber's hours put its end off. */
  readonly open_until: Date
  readonly transaction_ids: string[]
}

/** The node's own time, and the clock by which windows are kept. */
export interface WindowTime {
  readonly clock: Clock
  readonly now: Date
}

/** This many events of an open window are shown by their transaction ids. */
const eventsShownMax = 10

export async function findOpenWindows(
  db: Sql,
  environment: Environment,
  identities: readonly DigestIdentity[],
  { clock, now }: WindowTime,
): Promise<OpenWindow[]> {
  if (identities.length === 0) return []
  return db.rows<OpenWindow>(sql`
    select w.id, w.step_id, w.subscriber_id, w.key_hash, w.notification_id, w.due_at, false as opened, w.event_count,
      w.opened_at,
      coalesce((select ${shownAt(clock, sql`j.due_at`, now)} from jobs j
        where j.environment_id = ${environment.id} and j.id = w.job_id limit 1), w.due_at) as open_until,
      array(select e.transaction_id from digest_events d
        cross join lateral (select found.transaction_id from events found
          where found.environment_id = ${environment.id} and found.id = d.event_id limit 1) e
        where d.environment_id = ${environment.id} and d.window_id = w.id
        order by d.seq limit ${eventsShownMax}) as transaction_ids
    from ${askedFor(identities)}
    cross join lateral (select * from digest_windows found
      where found.environment_id = ${environment.id} and found.step_id = asked.step_id
        and found.subscriber_id = asked.subscriber_id and found.key_hash = asked.key_hash and found.closed_at is null
      limit 1) w`)
}

/** When a digest that backs off last heard of something. */
export interface LastHeard {
  readonly step_id: string
  readonly subscriber_id: string
  readonly key_hash: Buffer
  readonly last_at: Date
}

export async function findLastHeard(
  db: Sql,
  environment: Environment,
  identities: readonly DigestIdentity[],
  { clock, now }: WindowTime,
): Promise<LastHeard[]> {
  if (identities.length === 0) return []
  return db.rows<LastHeard>(sql`
    select b.step_id, b.subscriber_id, b.key_hash, ${shownAt(clock, sql`b.last_at`, now)} as last_at
    from ${askedFor(identities)}
    cross join lateral (select * from digest_backoffs found
      where found.environment_id = ${environment.id} and found.step_id = asked.step_id
        and found.subscriber_id = asked.subscriber_id and found.key_hash = asked.key_hash limit 1) b`)
}

export interface OpenThrottle {
  readonly step_id: string
  readonly subscriber_id: string
  readonly key_hash: Buffer
  readonly asked: number
  readonly until_at: Date
}

export async function findOpenThrottles(
  db: Sql,
  environment: Environment,
  identities: readonly ThrottleIdentity[],
  { clock, now }: WindowTime,
): Promise<OpenThrottle[]> {
  if (identities.length === 0) return []
  return db.rows<OpenThrottle>(sql`
    select t.step_id, t.subscriber_id, t.key_hash, t.asked, ${shownAt(clock, sql`t.until_at`, now)} as until_at
    from ${askedFor(identities)}
    cross join lateral (select * from throttle_windows found
      where found.environment_id = ${environment.id} and found.step_id = asked.step_id
        and found.subscriber_id = asked.subscriber_id and found.key_hash = asked.key_hash limit 1) t`)
}

const askedFor = (identities: readonly DigestIdentity[]) => sql`
  unnest(${identities.map((one) => one.stepId)}::uuid[], ${identities.map((one) => one.subscriberId)}::uuid[],
         ${identities.map((one) => one.keyHash)}::bytea[]) as asked (step_id, subscriber_id, key_hash)`
