-- What an environment signs with after a rotation. Version 1 is the secret that it was made with.

create table signing_versions (
  environment_id uuid not null references environments (id),
  version integer not null check (version >= 2),
  -- Sealed, as environments.signing_secret is.
  secret bytea not null,
  created_at timestamptz not null,
  primary key (environment_id, version)
);
