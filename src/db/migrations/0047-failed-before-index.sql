-- Few steps are sent again, and they are listed by when they failed before that; of those, few are sent again twice.
create index jobs_failed_before on jobs (environment_id, (failed_before[1]), id) where cardinality(failed_before) = 1;
create index jobs_failed_often on jobs (environment_id, (failed_before[1]), id) where cardinality(failed_before) > 1;
