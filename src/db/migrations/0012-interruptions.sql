-- What speaks against a job or a task: how often it was in flight when its process ended, and how often it threw. A claim
-- alone accuses nobody. `claims` is left to nodes of release 0.1.0, which may run beside this one; the next release drops it.

alter table jobs
  -- Process deaths with the row in flight since it last made progress. From three on it waits in lanes 2 and 3, where rows
  -- are claimed one at a time, so that a further death is the row's own.
  add column interruptions smallint not null default 0,
  -- Times it threw while it ran alone, and since when.
  add column faults smallint not null default 0,
  add column faulted_since timestamptz,
  alter column claims set default 0;

alter table tasks
  add column interruptions smallint not null default 0,
  add column faults smallint not null default 0,
  add column faulted_since timestamptz,
  alter column claims set default 0;
