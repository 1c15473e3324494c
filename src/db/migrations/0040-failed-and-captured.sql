-- Steps that failed, in the order in which they did: a step of an old event fails long after the event came.
create index jobs_failed_at on jobs (environment_id, updated_at, id) where status = 'failed';

-- Captured instead of sent. The outbox forgets, this stays. So far only a message that no test had made was marked as one for it.
alter table messages add column is_captured boolean not null default false;
update messages m set is_captured = true from events e
  where m.is_test and e.environment_id = m.environment_id and e.id = m.event_id and (m.outbox_at is not null or e.test is null);
-- Few in production, and listed apart from what was sent.
create index messages_captured on messages (environment_id, channel, created_at, id)
  where is_captured and status is not null and deleted_at is null;

-- Messages that were not sent, removed ones too: numbers count them all, and either kind is few of many.
drop index messages_unsent;
create index messages_unsent on messages (environment_id, channel, created_at, id) where status in ('error', 'warning');
