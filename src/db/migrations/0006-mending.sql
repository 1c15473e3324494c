-- Mending: what failed is sent again, what was buried is listed, what was said is taken back.

-- Failed jobs, in the order of their events. Only those that fail are in it: the others pay nothing.
create index jobs_failed on jobs (environment_id, id) where status = 'failed';

-- When a job was given up by a fault of ours; null for all others, and again once it is redriven.
alter table jobs add column buried_at timestamptz;
create index jobs_buried on jobs (environment_id, buried_at, id) where buried_at is not null;
update jobs set buried_at = updated_at where status = 'failed' and details @> '[{"code": "buried"}]';

alter table tasks add column buried_at timestamptz;
create index tasks_buried on tasks (environment_id, buried_at, id) where buried_at is not null;
update tasks set buried_at = date_trunc('milliseconds', now()) where due_at is null;

-- Taken back by request: out of every list, and shown to whoever asks why.
alter table messages add column retracted_at timestamptz;

-- Calls to send again what failed, by filter, and how far each has come.
create table redrives (
  environment_id uuid not null references environments (id),
  id uuid not null,
  -- running, completed or stopped.
  state text not null,
  -- As asked, and the same in our own ids.
  filter jsonb not null,
  bounds jsonb not null,
  -- The key that asked.
  requested_by text not null,
  -- The last failed job that was looked at.
  after_id uuid,
  looked_at integer not null default 0,
  -- Notifications, each once.
  matched integer not null default 0,
  redriven integer not null default 0,
  -- By reason: how many.
  skipped jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  primary key (environment_id, id)
);

-- Calls to take back an event, and how far each has come.
create table retractions (
  environment_id uuid not null references environments (id),
  id uuid not null,
  state text not null,
  event_id uuid not null,
  transaction_id text not null,
  requested_by text not null,
  -- Steps that will not run.
  canceled integer not null default 0,
  -- Messages taken out of the feed.
  removed integer not null default 0,
  -- By channel: how many a provider has taken.
  sent jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  primary key (environment_id, id)
);
