-- Which subscribers have an inbox connected, and to which process. Written when the first connection of a subscriber opens on a
-- process and after the last one has closed there; subscribers.is_online follows from it.

-- A process that holds connections shows every 30 s that it is alive, in one row for all of them.
create table inbox_processes (
  id uuid primary key,
  seen_at timestamptz not null default clock_timestamp()
);

create table inbox_presence (
  environment_id uuid not null,
  subscriber_id uuid not null,
  process_id uuid not null,
  primary key (environment_id, subscriber_id, process_id),
  foreign key (environment_id, subscriber_id) references subscribers (environment_id, id) on delete cascade
);
create index inbox_presence_process on inbox_presence (process_id);
