-- Captured messages: few in production, and listed apart from what was sent.
create index messages_captured on messages (environment_id, channel, created_at, id)
  where is_captured and status is not null and deleted_at is null;
