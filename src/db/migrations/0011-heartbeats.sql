-- Heartbeats: a node shows that it lives by a row that it writes again and again. The table nodes is for nodes of 0.1.0, which
-- hold a session lock instead; it stays for as long as one of them may run beside a newer one.

create sequence node_epochs;

-- (node_id, epoch) is an identity: a node that was taken for dead goes on under a later epoch and another lease key.
create table node_heartbeats (
  node_id uuid not null,
  epoch bigint not null,
  -- The first half of its lease tokens.
  lease_key bigint not null unique,
  beat bigint not null,
  -- Where its process runs, so that others on the same machine can see it end. Null where the platform does not say.
  host_name text,
  boot_id text,
  pid_namespace text,
  pid integer,
  -- In clock ticks after the boot: with the pid it names one process.
  process_started bigint,
  -- How far the node's clock was ahead of the database's.
  clock_ahead_ms bigint,
  -- By the database's clock, for people to read: never used to decide whether a node is dead.
  started_at timestamptz not null,
  seen_at timestamptz not null,
  -- Set when the node was found dead: from then on it cannot beat, and what it held is freed until nothing is left.
  ended_at timestamptz,
  primary key (node_id, epoch)
) with (fillfactor = 50);
