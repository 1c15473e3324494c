-- The audit log: who changed which part of the configuration, from where and how. Entries are added, nothing else.
create table audit_log (
  environment_id uuid not null references environments (id),
  -- From 1, without a gap: an entry that is missing is seen.
  seq bigint not null,
  at timestamptz not null,
  -- The id of an API key, or `cli` or `start`: keys are no references, since they need not be there.
  key_id text not null,
  key_name text not null,
  address text not null,
  request_id text,
  action text not null,
  resource_kind text not null,
  resource_id text not null,
  resource_name text not null,
  -- What differs, without secrets. Null before it was made and after it was deleted.
  before jsonb,
  after jsonb,
  previous_hash bytea not null,
  -- SHA-256 over the entry and the hash before it.
  hash bytea not null,
  primary key (environment_id, seq)
);
create index audit_log_by_moment on audit_log (environment_id, at, seq);
create index audit_log_by_kind on audit_log (environment_id, resource_kind, at, seq);
create index audit_log_by_resource on audit_log (environment_id, resource_id, at, seq);
create index audit_log_by_action on audit_log (environment_id, action, at, seq);
create index audit_log_by_key on audit_log (environment_id, key_id, at, seq);

create function refuse_audit_log_change() returns trigger language plpgsql as $$
begin
  raise exception 'The audit log is append-only: % is refused', tg_op using errcode = 'restrict_violation';
end
$$;
create trigger audit_log_is_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_audit_log_change();
