// Many messages, put straight into the tables as copies of one.
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from './app.ts'

/** So many copies of a message, each of an event of its own, a second apart and back in time, in three months' partitions. */
export async function copyMessage(
  app: TestApp,
  id: string,
  copies: number,
  subscriberIds: readonly string[],
): Promise<void> {
  await app.database.db.run(sql`
    with copies as (
      select n, date_trunc('milliseconds', ${app.world.now()}::timestamptz - n * interval '7 minutes') as at
      from generate_series(1, ${copies}::int) as n),
    fresh as (
      select n, at, id_from(at) as base from copies),
    named as (
      select n, at,
             overlay(base::text placing '7' || substr(md5('e' || n || ${id}::text), 1, 3) from 15 for 4)::uuid as family,
             md5('m' || n || ${id}::text) as tail
      from fresh),
    made as (
      select n, at, (substr(family::text, 1, 19) || '8' || substr(tail, 1, 3) || '-' || substr(tail, 4, 12))::uuid as event_id,
             (substr(family::text, 1, 19) || '9' || substr(tail, 1, 3) || '-' || substr(tail, 4, 12))::uuid as message_id
      from named),
    events_made as (
      insert into events (environment_id, id, transaction_id, workflow_id, version_id, payload, overrides, lane, notified, created_at)
      select e.environment_id, made.event_id, made.event_id::text, e.workflow_id, e.version_id,
             jsonb_build_object('n', made.n, 'rare', made.n % 5000 = 7, 'text', repeat('x', 200)), e.overrides, e.lane, 1, made.at
      from made, messages m join events e on e.environment_id = m.environment_id and e.id = m.event_id
      where m.id = ${id})
    insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel, state,
                          status, content, context_keys, read, seen, created_at, updated_at)
    select m.environment_id, made.message_id, made.event_id, m.notification_id, m.job_id,
           (${subscriberIds}::uuid[])[1 + made.n % cardinality(${subscriberIds}::uuid[])], m.version_id, m.step, m.channel, m.state,
           m.status, to_jsonb(repeat('y', 400)),
           case when made.n % 10 = 0 then array['tenant:' || made.n % 50] when made.n % 4001 = 3 then array['tenant:rare'] end,
           made.n % 100 <> 0, made.n % 200 <> 0, made.at, made.at
    from made, messages m where m.id = ${id}`)
}
