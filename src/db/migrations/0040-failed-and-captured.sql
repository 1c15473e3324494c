-- Steps that failed, in the order in which they did: a step of an old event fails long after the event came.
create index jobs_failed_at on jobs (environment_id, updated_at, id) where status = 'failed';

-- Messages that were captured instead of sent: few in production, and listed apart from what was sent. As one expression, whose rows
-- the planner takes to be many: it then walks this index in its order, and sorts nothing.
create index messages_captured on messages (environment_id, channel, created_at, id)
  where coalesce(is_test and provider_message_id = id::text, false) and status is not null and deleted_at is null;

-- Messages that were not sent, removed ones too: numbers count them all, and either kind is few of many.
drop index messages_unsent;
create index messages_unsent on messages (environment_id, channel, created_at, id) where status in ('error', 'warning');
