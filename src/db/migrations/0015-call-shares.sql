-- How many calls at once each node may make by an account that takes few: nodes that want some share what there is.

create table call_shares (
  environment_id uuid not null references environments (id),
  integration_id uuid not null,
  -- As domain/call-share.ts has them: node, slots and until when they hold, by the database's clock.
  holders jsonb not null,
  primary key (environment_id, integration_id)
) with (fillfactor = 50);
