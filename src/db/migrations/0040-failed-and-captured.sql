-- Steps that failed, in the order in which they did: a step of an old event fails long after the event came.
create index jobs_failed_at on jobs (environment_id, updated_at, id) where status = 'failed';

-- Messages that were captured instead of sent, or made by a test: few in production, and listed apart from what was sent.
create index messages_captured on messages (environment_id, channel, created_at, id)
  where is_test and status is not null and deleted_at is null;
