-- Counts: how much of what happened, over time.

-- What a batch added, as its own statement knows it: only ever inserted, so that no two batches wait for each other. It is
-- folded into `counts` within seconds; until then readers add it to them.
create table count_deltas (
  environment_id uuid not null,
  minute_at timestamptz not null,
  measure text collate "C" not null,
  -- Workflow and channel follow from these two; -1 where it is of no step.
  version_id uuid not null,
  step smallint not null,
  provider_id text collate "C" not null,
  outcome text collate "C" not null,
  -- Of failures: the code of the execution detail, and what kind of refusal or error it was.
  code text collate "C" not null,
  reason text collate "C" not null,
  -- Of times to deliver; -1 elsewhere.
  bucket smallint not null,
  count integer not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 5000);
create index count_deltas_by_minute on count_deltas (environment_id, minute_at);

-- Everything that was folded stands here twice, by minute and by day (UTC): each question is answered by the coarsest that
-- can. A day tells its hours as well, in one row: a month of hours is then a thirtieth as many rows to read.
create table counts (
  environment_id uuid not null,
  measure text collate "C" not null,
  grain text collate "C" not null,
  start_at timestamptz not null,
  workflow_id uuid not null,
  -- The type of the step.
  channel text collate "C" not null,
  provider_id text collate "C" not null,
  outcome text collate "C" not null,
  code text collate "C" not null,
  reason text collate "C" not null,
  bucket smallint not null,
  count bigint not null,
  -- Of a day: how many of them in each of its 24 hours.
  hours bigint[],
  -- With the count: a month is then added up from the index alone, in half the time.
  primary key (environment_id, measure, grain, start_at, workflow_id, channel, provider_id, outcome, code, reason, bucket)
    include (count)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
        autovacuum_analyze_scale_factor = 0.02);
create index counts_by_age on counts (grain, start_at);
