-- The audit log: a keyed hash of each entry, and streams that send entries to addresses of the operator's own.

-- HMAC-SHA256 of the entry under the environment's audit key; null before there was one.
alter table audit_log add column mac bytea;

-- Sealed: the number of the first entry that has a keyed hash, a colon, and the key in base64.
alter table environments add column audit_key bytea;

create table audit_streams (
  environment_id uuid not null references environments (id),
  id uuid not null,
  -- Sealed: an address may hold a token.
  url bytea not null,
  -- The last entry that was taken there.
  position bigint not null,
  failures integer not null default 0,
  last_error text,
  next_try_at timestamptz not null,
  delivered_at timestamptz,
  -- Whose turn it is: one node at a time sends the entries of a stream, in their order.
  lease uuid,
  leased_until timestamptz,
  created_at timestamptz not null,
  primary key (environment_id, id)
);
