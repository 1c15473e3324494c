-- The inbox: sessions of subscribers, and what their counts need without a look at the rows.

-- A sealed key, made with the first session: what the environment's sessions are signed with.
alter table environments add column inbox_key bytea;

-- Subscribers whose sessions were revoked. A token carries the number it was made under; most subscribers have no row, which
-- is number 0.
create table session_revocations (
  environment_id uuid not null,
  subscriber_id uuid not null,
  generation integer not null,
  revoked_at timestamptz not null,
  primary key (environment_id, subscriber_id),
  foreign key (environment_id, subscriber_id) references subscribers (environment_id, id) on delete cascade
);

-- As its event has it; null for `none`.
alter table messages add column severity text;
update messages m set severity = e.severity from events e
  where e.environment_id = m.environment_id and e.id = m.event_id and e.severity is not null and m.channel = 'in_app';

-- Read with every tab of an inbox: not worth unpacking whole definitions.
alter table workflow_versions add column tags jsonb generated always as (definition->'tags') stored;

-- With everything that the bell asks of messages. Not with what only tabs ask for: a wider entry costs the index its place in plans.
drop index messages_open;
create index messages_open on messages (environment_id, subscriber_id, created_at, id)
  include (read, seen, archived, severity, context_keys)
  where channel = 'in_app' and status is not null and deleted_at is null and snoozed_until is null and not (read and seen);
