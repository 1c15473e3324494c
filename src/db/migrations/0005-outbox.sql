-- The outbox: what was kept instead of sent, for people and test suites to look at.

-- Everything that would go out is kept instead, whatever the integration says.
alter table environments add column captures boolean not null default false;

-- When it was kept; null for what was sent, and once it has left the outbox.
alter table messages add column outbox_at timestamptz;
create index messages_in_outbox on messages (environment_id, outbox_at, id) where outbox_at is not null;
