-- What streams of the inbox go by: a number for every change of an inbox that somebody has opened.

-- Subscribers who opened their inbox once. All others have no row, and their messages cost nothing more. The number is counted
-- up in the transaction that changes their messages and is held until it ends, so its order is the order of the commits.
create table inbox_changes (
  environment_id uuid not null,
  subscriber_id uuid not null,
  number bigint not null default 0,
  opened_at timestamptz not null default clock_timestamp(),
  -- What was there when it was opened. A statement that began before did not see this row, and its messages have no number.
  opened_in pg_snapshot not null default pg_current_snapshot(),
  primary key (environment_id, subscriber_id),
  foreign key (environment_id, subscriber_id) references subscribers (environment_id, id) on delete cascade
) with (fillfactor = 50);

-- A transaction's id as rows have it, with the turns of the counter that they leave out. Of transactions that are not old.
create function whole_xid(short xid) returns xid8 language sql stable as $$
  select (case when candidate > latest then candidate - 4294967296 else candidate end)::text::xid8
  from (
    select latest, latest - latest % 4294967296 + short::text::bigint as candidate
    from (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as latest) as present) as counted
$$;

-- The number of the last change, and of the one that brought it into the feed: written, or back from a snooze.
alter table messages add column change bigint;
alter table messages add column arrival bigint;
create index messages_changed on messages (environment_id, subscriber_id, change, id) where change is not null;
