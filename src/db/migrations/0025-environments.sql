-- Environments beyond the first two: they are created, renamed and deleted.

alter table environments
  -- As dashboards show it, such as #ff8800.
  add column color text,
  -- The row stays, since the audit log refers to it; everything else of the environment is erased in batches.
  add column deleted_at timestamptz;

create table environment_deletions (
  environment_id uuid primary key references environments (id),
  -- What it was called: the name is free again at once.
  name text not null,
  -- The API key that asked for it, or `cli`.
  requested_by text not null,
  requested_at timestamptz not null,
  -- The table that is being emptied.
  phase text not null,
  -- By table: how many rows went.
  removed jsonb not null,
  completed_at timestamptz,
  -- One node at a time.
  lease uuid,
  leased_until timestamptz
);
