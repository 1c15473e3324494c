-- Messages that were not sent, or perhaps were: few of many, and what one looks for when something is wrong.
create index messages_unsent on messages (environment_id, channel, created_at, id)
  where status in ('error', 'warning') and deleted_at is null;
