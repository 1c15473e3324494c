-- Steps that failed, in the order in which they did: a step of an old event fails long after the event came.
create index jobs_failed_at on jobs (environment_id, updated_at, id) where status = 'failed';
