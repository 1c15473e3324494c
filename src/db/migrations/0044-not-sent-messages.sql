-- Messages that were not sent, or perhaps were, removed ones too: numbers count them all, and either kind is few of many.
create index messages_not_sent on messages (environment_id, channel, created_at, id) where status in ('error', 'warning');
