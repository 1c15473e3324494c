-- The pipeline: workflows and their versions, events, notifications, jobs, messages, and the queue's own book.
-- environment_id leads every key. What grows with every event is partitioned by id (UUIDv7), so that age is a place.

-- Workflows ---------------------------------------------------------------------------------------------------------

create table notification_groups (
  environment_id uuid not null references environments (id),
  id uuid not null,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (environment_id, id),
  unique (environment_id, name)
);

create table workflows (
  environment_id uuid not null references environments (id),
  id uuid not null,
  -- What a trigger names. Free for another workflow once this one is deleted.
  identifier text not null,
  name text not null,
  tags text[] not null,
  active boolean not null,
  group_id uuid not null,
  -- The version that the next event starts with.
  version_id uuid not null,
  -- The id of the API key that made it.
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  deleted_by text,
  primary key (environment_id, id),
  foreign key (environment_id, group_id) references notification_groups (environment_id, id)
);
create unique index workflows_by_identifier on workflows (environment_id, identifier) where deleted_at is null;
create index workflows_search on workflows
  using gin (environment_id, search_grams(name, identifier)) with (gin_pending_list_limit = 128) where deleted_at is null;
alter index workflows_search alter column 2 set statistics 0;

-- What a workflow said at one time. Never changed: a run keeps the version it started with, and caches go by its id.
create table workflow_versions (
  environment_id uuid not null,
  id uuid not null,
  workflow_id uuid not null,
  number integer not null,
  definition jsonb not null,
  -- The distinct types of its active steps, for the activity list's filter.
  channels text[] not null,
  created_at timestamptz not null,
  primary key (environment_id, id),
  unique (environment_id, workflow_id, number),
  foreign key (environment_id, workflow_id) references workflows (environment_id, id)
);

-- Contexts: what an event was about in the caller's own terms, as type and id.
create table contexts (
  environment_id uuid not null references environments (id),
  type text not null,
  id text not null,
  data jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (environment_id, type, id)
);

-- Events and what becomes of them -------------------------------------------------------------------------------------

-- Which event a caller's own transactionId belongs to. An id that we made is the event's own and needs no row here.
create table transactions (
  environment_id uuid not null references environments (id),
  transaction_id text not null,
  event_id uuid not null,
  primary key (environment_id, transaction_id)
);

-- The order in which events were accepted, for digests.
create sequence events_seq;

create table events (
  environment_id uuid not null,
  id uuid not null,
  seq bigint not null default nextval('events_seq'),
  transaction_id text not null,
  workflow_id uuid not null,
  version_id uuid not null,
  -- Said once, here; notifications, jobs and messages refer to it.
  payload jsonb not null,
  overrides jsonb not null,
  actor_id uuid,
  tenant_id uuid,
  -- Sorted `type:id`; null when the event has no context.
  context_keys text[],
  -- Null for `none`.
  severity text,
  lane smallint not null,
  -- Recipients that are still to become notifications, as given; null when all became some at once.
  recipients jsonb,
  -- The topics it was sent to, and the subscriberIds left out of them.
  topic_ids uuid[],
  topic_keys text[],
  excluded text[],
  -- What the caller should know, such as topics nobody knows.
  warnings jsonb,
  -- How many notifications it became; counted up while it expands.
  notified integer not null,
  -- Null while recipients are still being expanded.
  expanded_at timestamptz,
  created_at timestamptz not null,
  primary key (environment_id, id)
) partition by range (id);
create index events_by_context on events (environment_id, context_keys, id) where context_keys is not null;
create index events_by_severity on events (environment_id, severity, id) where severity is not null;
create index events_by_topic on events using gin (environment_id, topic_keys) where topic_keys is not null;

-- A notification's id carries its event's millisecond and the event's last twelve bits: all notifications of an event
-- stand together in the primary key, and a second insert of the same one collides with the first.
create table notifications (
  environment_id uuid not null,
  id uuid not null,
  event_id uuid not null,
  subscriber_id uuid not null,
  version_id uuid not null,
  -- The recipient as given, where more than a subscriberId was; null otherwise.
  recipient jsonb,
  -- The topics through which the subscriber was reached; null when named directly.
  topic_ids uuid[],
  primary key (environment_id, id)
) partition by range (id);
create index notifications_by_subscriber on notifications (environment_id, subscriber_id, id);
create index notifications_by_version on notifications (environment_id, version_id, id);

-- One step of a notification, and the queue: a job with a due_at is open, and due when that has passed. A job's id is made
-- from its notification and step, so the jobs of a notification are found by computing their ids.
create table jobs (
  environment_id uuid not null,
  id uuid not null,
  notification_id uuid not null,
  event_id uuid not null,
  subscriber_id uuid not null,
  version_id uuid not null,
  -- The place of its step in the version's list.
  step smallint not null,
  status text not null,
  -- 0 for those named directly, 1 for fan-out: neither waits for the other.
  lane smallint not null,
  due_at timestamptz,
  -- Who works on it; a lease that has expired is simply due again.
  lease uuid,
  -- Claims since it was last settled: a job that keeps ending its worker is buried.
  claims smallint not null,
  -- The digest window whose events the step sees.
  digest_id uuid,
  -- What the step must remember between two looks at it.
  state jsonb,
  -- Execution details, oldest first, in short form.
  details jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (environment_id, id)
) partition by range (id);
create index jobs_due on jobs (environment_id, lane, due_at) where due_at is not null;

create table messages (
  environment_id uuid not null,
  id uuid not null,
  event_id uuid not null,
  notification_id uuid not null,
  job_id uuid not null,
  subscriber_id uuid not null,
  version_id uuid not null,
  step smallint not null,
  channel text not null,
  -- ready: to be sent; calling: a provider is being asked; done: no call will follow.
  state text not null,
  -- sent, error, warning; null before the first outcome, and then in no list.
  status text,
  provider_id text,
  integration_id uuid,
  -- How sending has gone so far: tries, integrations that had their turn.
  sending jsonb,
  provider_message_id text,
  error_id text,
  error_text text,
  content jsonb,
  subject text,
  title text,
  email text,
  phone text,
  -- What goes to the provider, rendered once, so that every retry says the same: json keeps even the order of members.
  envelope json,
  cta jsonb,
  actor jsonb,
  data jsonb,
  context_keys text[],
  is_test boolean not null default false,
  read boolean not null default false,
  seen boolean not null default false,
  archived boolean not null default false,
  first_seen_at timestamptz,
  last_seen_at timestamptz,
  last_read_at timestamptz,
  archived_at timestamptz,
  snoozed_until timestamptz,
  delivered_at timestamptz[],
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (environment_id, id)
) partition by range (id);
create index messages_by_channel on messages (environment_id, channel, created_at, id)
  where status is not null and deleted_at is null;
-- Snoozed ones are not in the feed: with the column in the index, counting needs no look at the rows.
create index messages_by_subscriber on messages (environment_id, subscriber_id, channel, created_at, id)
  include (snoozed_until) where status is not null and deleted_at is null;
create index messages_by_context on messages (environment_id, context_keys, created_at, id)
  where context_keys is not null and status is not null and deleted_at is null;
-- What somebody has not yet read or not yet seen: few of many, and asked for at every page view.
create index messages_open on messages (environment_id, subscriber_id, created_at, id) include (read, seen)
  where channel = 'in_app' and status is not null and deleted_at is null and snoozed_until is null and not (read and seen);

-- Digests --------------------------------------------------------------------------------------------------------------

create table digest_windows (
  environment_id uuid not null,
  id uuid not null,
  workflow_id uuid not null,
  step_id uuid not null,
  subscriber_id uuid not null,
  -- SHA-256 of the value at the digest key; of nothing where there is no key.
  key_hash bytea not null,
  -- Whose jobs go on when the window closes; the others are merged into it.
  job_id uuid not null,
  notification_id uuid not null,
  event_count integer not null,
  opened_at timestamptz not null,
  due_at timestamptz not null,
  closed_at timestamptz,
  primary key (environment_id, id)
);
create unique index digest_windows_open on digest_windows (environment_id, step_id, subscriber_id, key_hash)
  where closed_at is null;

create table digest_events (
  environment_id uuid not null,
  window_id uuid not null,
  -- The event's own, so that a digest tells things in the order they were accepted.
  seq bigint not null,
  event_id uuid not null,
  primary key (environment_id, window_id, seq)
);

-- When a back-off digest last heard of something: the first event after a silence goes out at once.
create table digest_backoffs (
  environment_id uuid not null,
  step_id uuid not null,
  subscriber_id uuid not null,
  key_hash bytea not null,
  last_at timestamptz not null,
  -- What last_at was before: an upsert can return only new values.
  previous_at timestamptz,
  primary key (environment_id, step_id, subscriber_id, key_hash)
) with (fillfactor = 70);

-- The queue's own book --------------------------------------------------------------------------------------------------

-- Work that is no step: expanding an event to its recipients, ending a snooze. Under the same claims as jobs.
create table tasks (
  environment_id uuid not null references environments (id),
  id uuid not null,
  kind text not null,
  lane smallint not null,
  -- Null when it was buried.
  due_at timestamptz,
  lease uuid,
  claims smallint not null,
  -- How far it has come.
  state jsonb not null,
  error text,
  created_at timestamptz not null,
  primary key (environment_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
create index tasks_due on tasks (environment_id, lane, due_at) where due_at is not null;

-- Who works here. A node holds a session lock on its key: whoever can take that lock knows the node is gone.
create table nodes (
  id uuid primary key,
  lock_key bigint not null unique,
  started_at timestamptz not null
);

-- Partitions ------------------------------------------------------------------------------------------------------------

-- The smallest UUIDv7 of a moment.
create function id_from(moment timestamptz) returns uuid language sql immutable parallel safe as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;

create function partitioned_tables() returns table (name text, settings text) language sql immutable as $$
  values ('events', ''),
         ('notifications', ''),
         -- A job is written a few times within seconds: room for it on its own page, and a vacuum that keeps up.
         ('jobs', 'with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
                         autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000)'),
         ('messages', 'with (fillfactor = 90, autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000)')
$$;

-- Makes the partitions of the months from the given moment on, where they are missing. A month whose rows already lie in
-- the default partition stays there: moving them would hold up everybody.
create function make_partitions(from_moment timestamptz, months integer) returns integer language plpgsql as $$
declare
  kind record;
  month timestamp;
  place text;
  made integer := 0;
begin
  for kind in select * from partitioned_tables() loop
    for ahead in 0 .. months - 1 loop
      month := date_trunc('month', from_moment at time zone 'UTC') + make_interval(months => ahead);
      place := kind.name || '_' || to_char(month, 'YYYY_MM');
      continue when to_regclass(place) is not null;
      begin
        execute format('create table %I partition of %I for values from (%L) to (%L) %s', place, kind.name,
          id_from(month at time zone 'UTC'), id_from((month + interval '1 month') at time zone 'UTC'), kind.settings);
        made := made + 1;
      exception when check_violation then null;
      end;
    end loop;
  end loop;
  return made;
end $$;

do $$
declare
  kind record;
begin
  for kind in select * from partitioned_tables() loop
    execute format('create table %I partition of %I default %s', kind.name || '_default', kind.name, kind.settings);
  end loop;
end $$;
