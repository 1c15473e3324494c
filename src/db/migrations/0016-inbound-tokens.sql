-- Words that a vendor signs once, for vendors that sign no body: whoever has seen one could send another report with it.

create table inbound_tokens (
  environment_id uuid not null references environments (id),
  integration_id uuid not null,
  -- SHA-256 of the word, and of what came with it.
  token bytea not null,
  content bytea not null,
  seen_at timestamptz not null,
  primary key (environment_id, integration_id, token)
);

create index inbound_tokens_seen on inbound_tokens (seen_at);
