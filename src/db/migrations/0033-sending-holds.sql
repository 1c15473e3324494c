-- Environments in which nothing is sent until the operator has seen what is due: set by a restore. Read with each heartbeat.

create table sending_holds (
  environment_id uuid primary key references environments (id),
  held_at timestamptz not null,
  -- When the backup was taken: what was sent after it is due again.
  backup_at timestamptz not null
);
