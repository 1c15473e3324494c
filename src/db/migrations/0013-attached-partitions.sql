-- Partitions are made beside their table and then attached; retention is one node's work at a time.

-- Months, from the given moment on, that a table has no partition for. The nearest first.
create function missing_partitions(from_moment timestamptz, months integer)
returns table (parent text, month timestamptz) language sql stable as $$
  select kind.name, begins.at at time zone 'UTC'
  from partitioned_tables() as kind
  cross join generate_series(0, months - 1) as ahead
  cross join lateral (
    select date_trunc('month', from_moment at time zone 'UTC') + make_interval(months => ahead) as at) as begins
  where to_regclass(kind.name || '_' || to_char(begins.at, 'YYYY_MM')) is null
  order by begins.at, kind.name
$$;

-- Whether rows of that month lie in the default partition: then it stays there, for moving them would hold up everything.
create function default_holds(parent text, month timestamptz) returns boolean language plpgsql stable as $$
declare
  holds boolean;
begin
  execute format('select exists (select from %I where id >= %L and id < %L)', parent || '_default',
    id_from(month), id_from((month at time zone 'UTC' + interval '1 month') at time zone 'UTC')) into holds;
  return holds;
end $$;

-- `create table … partition of` would lock the whole table against everything. Attaching lets it be read and written; only
-- the default partition is locked, for as long as it takes to see that it holds no row of that month. False when there is
-- such a table already. Whoever calls this sets a short lock timeout: others wait as long as it does.
create function attach_partition(parent text, month timestamptz) returns boolean language plpgsql as $$
declare
  kind record;
  place text := parent || '_' || to_char(month at time zone 'UTC', 'YYYY_MM');
begin
  select * into strict kind from partitioned_tables() where name = parent;
  if to_regclass(place) is not null then return false; end if;
  execute format('create table %I (like %I including all excluding identity) %s', place, parent, kind.settings);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, place,
    id_from(month), id_from((month at time zone 'UTC' + interval '1 month') at time zone 'UTC'));
  return true;
end $$;

-- Who runs retention now, and until when at the most. A row, not a session lock: it means the same behind a pooler.
alter table retention_progress add column run_id uuid;
alter table retention_progress add column run_until timestamptz;
