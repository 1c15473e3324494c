-- People who sign in to the dashboard. A user belongs to an organization and has one role in all of its environments.

create table users (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  -- In lower case. The same address in two organizations is two users, with a password each.
  email text not null,
  name text not null,
  role text not null check (role in ('owner', 'editor', 'viewer')),
  -- With salt and cost, as src/domain/operate/password.ts writes it. Null until one is set.
  password_hash text,
  -- Who the identity provider says it is, once it has.
  oidc_issuer text,
  oidc_subject text,
  -- SHA-256 of the secret in the link that sets a password. Gone when it is used.
  link_hash bytea unique,
  link_expires_at timestamptz,
  created_at timestamptz not null,
  last_sign_in_at timestamptz,
  disabled_at timestamptz,
  unique (organization_id, email)
);
create index users_by_organization on users (organization_id, id);
-- Signing in knows the address or the subject, and finds the organizations by it.
create index users_by_email on users (email);
create index users_by_subject on users (oidc_subject, oidc_issuer) where oidc_subject is not null;

-- Apart from dashboard_sessions: a node of an earlier release would take a session without a key for an operator's.
create table user_sessions (
  environment_id uuid not null references environments (id),
  id uuid not null,
  user_id uuid not null references users (id),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (environment_id, id)
);
create index user_sessions_by_user on user_sessions (user_id);
create index user_sessions_expiry on user_sessions (expires_at);
