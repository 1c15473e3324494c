-- Messages that were deleted or retracted: counted like all others, in no list, and listed for whoever asks for them.
create index messages_removed on messages (environment_id, channel, created_at, id)
  where status is not null and deleted_at is not null;
