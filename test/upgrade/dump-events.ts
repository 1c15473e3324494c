// The events that a dump holds: finished ones, and then some that are in every state that a kill can leave.
import assert from 'node:assert/strict'
import type { Json } from '../support/app.ts'
import { eventually } from '../support/service.ts'
import type { Call } from './dump-workflows.ts'
import type { OutsideWorld } from './outside-world.ts'
import type { TemporaryServer } from './temporary-server.ts'

export type Trigger = (name: string, to: unknown, transactionId: string, more?: object) => Promise<void>

export const triggerOf =
  (call: Call): Trigger =>
  async (name, to, transactionId, more = {}) => {
    const result = await call('POST', '/v1/events/trigger', { name, to, transactionId, ...more })
    assert.equal(result.status, 'processed', JSON.stringify(result))
  }

const isOver = (call: Call, transactionId: string) => async (): Promise<boolean> =>
  (await call('GET', `/v1/events/${transactionId}`)).state === 'completed'

/** Events that come to their end, and what people did with them. */
export async function finished(call: Call): Promise<void> {
  const trigger = triggerOf(call)
  const done: string[] = []
  const run: Trigger = async (name, to, transactionId, more) => {
    await trigger(name, to, transactionId, more)
    done.push(transactionId)
  }
  await run('hello', 'ada', 'done-hello-ada', { payload: { n: 1 }, context: { order: 'o-1' } })
  await run('hello', ['ben', { subscriberId: 'new', email: 'new@example.org' }], 'done-hello-two', {
    payload: { n: 2 },
  })
  await run('hello', { type: 'Topic', topicKey: 'team' }, 'done-hello-team', { payload: { n: 3 }, actor: 'cleo' })
  await run('hello', 'ada', 'done-hello-tenant', { payload: { n: 4 }, tenant: 'acme' })
  const file = Buffer.from('a file').toString('base64')
  const attachments = [{ file, name: 'a.txt', mime: 'text/plain' }]
  await run('hello', 'cleo', 'done-hello-file', { payload: { n: 5, attachments } })
  await run('hello', 'dora', 'done-by-smtp', { payload: { n: 6 }, overrides: overSmtp })
  for (const n of [1, 2]) await run('hello', 'dora', `done-refused-${n}`, { payload: { n, mode: 'mode-refuse' } })
  await run('texted', 'ben', 'done-texted', { payload: { n: 1 } })
  await run('chatted', 'ada', 'done-chatted', { payload: { n: 1 } })
  await run('asked', 'ada', 'done-asked', { payload: { n: 1 } })
  await run('bell', 'ada', 'done-bell', { payload: { n: 1 } })
  for (const n of [1, 2]) await run('throttled', 'ada', `done-throttled-${n}`, { payload: { n } })
  for (const n of [1, 2, 3]) await run('gathered-quick', 'cleo', `done-quick-${n}`, { payload: { n } })
  await call(
    'POST',
    '/v1/events/trigger',
    { name: 'hello', to: 'ben', transactionId: 'done-once', payload: { n: 7 } },
    once,
  )
  for (const transactionId of [...done, 'done-once']) await eventually(isOver(call, transactionId))
  await trigger('later', 'ada', 'done-canceled', { payload: { n: 1 } })
  assert.equal(await call('DELETE', '/v1/events/trigger/done-canceled'), true)
  await marks(call)
  const redrive = await call('POST', '/v1/redrives', { filter: { workflow: 'hello', channel: 'email' } })
  await eventually(async () => (await call('GET', `/v1/redrives/${redrive._id}`)).state === 'completed')
  for (const n of [1, 2]) await eventually(isOver(call, `done-refused-${n}`))
}

export const once = { 'idempotency-key': 'an-idempotency-key' }
const overSmtp = { email: { integrationIdentifier: 'post-smtp' } }

async function marks(call: Call): Promise<void> {
  const feed = '/v1/subscribers/ada/notifications/feed?limit=50'
  const items: Json[] = (await call('GET', feed)).data
  assert.ok(items.length >= 5, `${items.length} items`)
  const act = (place: number, what: string, body?: object): Promise<Json> =>
    call('PATCH', `/v2/subscribers/ada/notifications/${items[place]._id}/${what}`, body)
  await act(0, 'read')
  await act(1, 'archive')
  await act(2, 'snooze', { snoozeUntil: new Date(Date.now() + 3_600_000).toISOString() })
  const retraction = await call('POST', '/v1/events/done-bell/retract')
  await eventually(async () => (await call('GET', `/v1/retractions/${retraction._id}`)).state === 'completed')
}

/** Whatever touches these rows from here on hangs in its statement until its connection is ended. */
async function stall(server: TemporaryServer): Promise<void> {
  await server.query(`
    create function stall() returns trigger language plpgsql as $$ begin perform pg_sleep(600); return null; end $$;
    create sequence stall_pages;
    create function stall_second() returns trigger language plpgsql as $$ begin
      if (select count(*) from made) >= 100 then
        if nextval('stall_pages') > 1 then perform pg_sleep(600); end if;
      end if;
      return null; end $$;
    -- The second page of the crowd; other inserts are small.
    create trigger stall_page after insert on notifications referencing new table as made for each statement
      execute function stall_second();
    -- Messages that are tried again: their job is leased, and they are ready.
    create trigger stall_retry after update on messages for each row
      when (old.state = 'ready' and new.state = 'calling') execute function stall();
    -- Decisions: their jobs are leased and queued.
    create trigger stall_decision after insert on messages for each row
      when (new.channel = 'in_app' and new.content::text like '%mode-stall%') execute function stall();`)
}

/** Ends what hangs: what it had begun is undone. */
export async function unstall(server: TemporaryServer): Promise<void> {
  await server.query(`
    select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep';
    drop function stall, stall_second cascade;
    drop sequence stall_pages`)
}

/** Events in every state that a kill can leave. The service must be killed within the 20 s that a call may take. */
export async function inFlight(call: Call, server: TemporaryServer, world: OutsideWorld): Promise<void> {
  const trigger = triggerOf(call)
  for (const n of [1, 2, 3]) await trigger('later', 'ada', `waits-later-${n}`, { payload: { n } })
  for (const n of [1, 2, 3, 4]) await trigger('gathered', 'ada', `waits-gathered-ada-${n}`, { payload: { n } })
  for (const n of [1, 2]) await trigger('gathered', 'ben', `waits-gathered-ben-${n}`, { payload: { n } })
  for (const n of [1, 2]) await trigger('summary', 'ben', `waits-summary-${n}`, { payload: { n, project: 'p' } })
  await trigger('slow-summary', 'ada', 'waits-slow', { payload: { n: 1 } })
  for (const n of [1, 2, 3]) await trigger('gathered-then-wait', 'cleo', `waits-closed-${n}`, { payload: { n } })
  const closed = `select 1 from digest_windows where closed_at is not null and subscriber_id =
    (select id from subscribers where subscriber_id = 'cleo')`
  await eventually(async () => (await server.query(closed)).length === 2)
  await stall(server)
  await trigger('crowded', { type: 'Topic', topicKey: 'crowd' }, 'waits-crowd')
  const halfway = `select 1 from tasks where kind = 'expand' and state->>'after' is not null`
  await eventually(async () => (await server.query(halfway)).length === 1)
  const hold = { mode: 'mode-hold' }
  const before = world.received.length
  for (const n of [1, 2, 3]) await trigger('hello', 'ben', `waits-held-${n}`, { payload: { n, ...hold } })
  await trigger('hello', 'dora', 'waits-held-smtp', { payload: { n: 4, ...hold }, overrides: overSmtp })
  await trigger('texted', 'ben', 'waits-held-sms', { payload: { n: 5, ...hold } })
  await trigger('chatted', 'ada', 'waits-held-chat', { payload: { n: 6, ...hold } })
  await trigger('asked', 'ada', 'waits-held-custom', { payload: { n: 7, ...hold } })
  for (const n of [8, 9]) await trigger('gathered-quick', 'dora', `waits-held-quick-${n}`, { payload: { n, ...hold } })
  for (const n of [1, 2]) await trigger('hello', 'cleo', `waits-busy-${n}`, { payload: { n, mode: 'mode-busy' } })
  // Eight that are held, the digest's one among them, and two that are busy.
  const heldOf = (text: string): number => world.received.slice(before).filter((one) => one.text.includes(text)).length
  await eventually(async () => heldOf('mode-hold') >= 8 && heldOf('mode-busy') >= 2)
  for (const n of [1, 2]) await trigger('hello', 'ada', `waits-stalled-${n}`, { payload: { n, mode: 'mode-stall' } })
  const hanging = `select count(*)::int as count from pg_stat_activity where wait_event = 'PgSleep'`
  await eventually(async () => Number((await server.query(hanging))[0]?.['count']) >= 3)
}

/** Events that were accepted and that no node has begun. */
export async function untouched(call: Call): Promise<void> {
  const trigger = triggerOf(call)
  for (const n of [1, 2, 3]) await trigger('hello', 'cleo', `waits-queued-${n}`, { payload: { n, mode: 'queued' } })
  await trigger('bell', 'ben', 'waits-queued-bell', { payload: { n: 1 } })
  await trigger('gathered', 'ada', 'waits-gathered-ada-5', { payload: { n: 5 } })
  await trigger('hello', { type: 'Topic', topicKey: 'team' }, 'waits-queued-team', { payload: { n: 4 } })
  await call('POST', '/v1/events/done-refused-1/redrive')
  await call('POST', '/v1/events/done-hello-two/retract')
  await call('POST', '/v1/subscribers/zoe/erase')
}
