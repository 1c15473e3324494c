-- Few steps are sent again, and they are listed by when they failed last before that.
create index jobs_failed_before on jobs (environment_id, (failed_before[1]), id) where failed_before is not null;
