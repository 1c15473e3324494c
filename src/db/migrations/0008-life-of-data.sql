-- The life of data: months that are old go as a whole, and a person's data goes when it is asked for.

-- How far old data is gone. One row, for the installation as a whole.
create table retention_progress (
  only_row boolean primary key default true check (only_row),
  -- Nothing older is there, and what referred to something older has been swept.
  swept_before timestamptz,
  -- When data was last dropped.
  dropped_at timestamptz
);
insert into retention_progress (only_row) values (true);

-- Months as the partitioned tables have them. `from_id` and `to_id` are the bounds as they were declared.
create function month_partitions() returns table (parent text, name text, from_id uuid, to_id uuid, bytes bigint)
language sql stable as $$
  select kind.name, place.relname::text, bound.parts[1]::uuid, bound.parts[2]::uuid, pg_total_relation_size(place.oid)
  from partitioned_tables() as kind
  join pg_inherits as under on under.inhparent = to_regclass(kind.name)
  join pg_class as place on place.oid = under.inhrelid
  cross join lateral regexp_match(pg_get_expr(place.relpartbound, place.oid),
    '^FOR VALUES FROM \(''([0-9a-f-]{36})''\) TO \(''([0-9a-f-]{36})''\)$') as bound (parts)
  where bound.parts is not null
$$;

-- Months that were taken out of their tables and not yet dropped: a process died in between.
create function detached_months() returns table (name text, bytes bigint) language sql stable as $$
  select place.relname::text, pg_total_relation_size(place.oid)
  from partitioned_tables() as kind
  join pg_class as place on place.relnamespace = (select relnamespace from pg_class where oid = to_regclass(kind.name))
    and place.relkind = 'r' and not place.relispartition
    and place.relname ~ ('^' || kind.name || '_[0-9]{4}_[0-9]{2}$')
$$;

-- Nobody else touches the four tables until the transaction ends. Their partitions are reached through them only.
create function lock_months() returns void language plpgsql as $$
begin
  lock table only events, only notifications, only jobs, only messages in access exclusive mode;
end $$;

-- Takes one month out of all four tables, so that no read sees half of it. The caller holds their locks.
create function detach_month(first_id uuid) returns integer language plpgsql as $$
declare
  place record;
  taken integer := 0;
begin
  for place in select * from month_partitions() where from_id = first_id loop
    execute format('alter table %I detach partition %I', place.parent, place.name);
    taken := taken + 1;
  end loop;
  return taken;
end $$;

-- Drops one that was taken out; nothing that is in use has such a name.
create function drop_detached(place text) returns boolean language plpgsql as $$
begin
  if not exists (select from detached_months() as known where known.name = place) then return false; end if;
  execute format('drop table if exists %I', place);
  return true;
end $$;

-- Privacy erase ---------------------------------------------------------------------------------------------------------

-- A sealed key, made with the first erase: addresses that must not be written to are kept as hashes under it.
alter table environments add column address_key bytea;

-- Receipts of erased people. Nothing in them tells who it was: the subscriberId is a hash under the environment's key.
create table erasures (
  environment_id uuid not null references environments (id),
  id uuid not null,
  subscriber_hash bytea not null,
  -- The API key that asked for it.
  requested_by text not null,
  requested_at timestamptz not null,
  -- What is being done, while it runs.
  phase text not null,
  -- By kind: how many rows went.
  removed jsonb not null,
  completed_at timestamptz,
  primary key (environment_id, id)
);
-- One at a time for a person.
create unique index erasures_running on erasures (environment_id, subscriber_hash) where completed_at is null;

-- Those who were deleted can still be exported and erased.
create index subscribers_deleted on subscribers (environment_id, subscriber_id) where deleted_at is not null;
