-- The dashboard: who is signed in, and the links by which an operator signs in once.

-- A session speaks for an API key, or, opened by a link, for itself. Kept until it has expired.
create table dashboard_sessions (
  environment_id uuid not null references environments (id),
  id uuid not null,
  -- Null where a link opened it. A key that is revoked or expires takes its sessions with it.
  key_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (environment_id, id),
  foreign key (environment_id, key_id) references api_keys (environment_id, id)
);
create index dashboard_sessions_expiry on dashboard_sessions (expires_at);

-- Deleted when used: a link opens one session.
create table dashboard_links (
  environment_id uuid not null references environments (id),
  -- SHA-256 of the secret in the link.
  hash bytea not null,
  expires_at timestamptz not null,
  primary key (environment_id, hash)
);
create index dashboard_links_expiry on dashboard_links (expires_at);
