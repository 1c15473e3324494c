-- Receipts: what providers report of messages after they took them.

-- By what was reported: when. Each thing is told once, so a report that comes twice changes nothing.
alter table messages add column receipts jsonb;
-- For providers that must be asked: when to ask next.
alter table messages add column poll_at timestamptz;
-- Reports name messages by the provider's id.
create index messages_by_provider_message on messages (environment_id, provider_message_id)
  where provider_message_id is not null;
create index messages_to_poll on messages (environment_id, integration_id, poll_at) where poll_at is not null;
