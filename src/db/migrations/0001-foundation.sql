-- The foundation: organizations, environments, keys, subscribers, topics, integrations, tenants,
-- and what every call needs (idempotency, rate limits). environment_id leads every key.

create extension if not exists btree_gin;

-- One row: what belongs to the installation as a whole.
create table installation (
  only_row boolean primary key default true check (only_row),
  -- A sealed constant: a node that cannot open it holds another encryption key and must not start.
  encryption_check bytea not null,
  created_at timestamptz not null
);

create table organizations (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null
);

create table environments (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  parent_id uuid references environments (id),
  name text not null,
  -- The public name of the environment, for clients that must not hold a key.
  identifier text not null unique,
  signing_secret bytea not null,
  created_at timestamptz not null,
  unique (organization_id, name)
);

create table api_keys (
  environment_id uuid not null references environments (id),
  id uuid not null,
  -- SHA-256 of the key; the key itself is nowhere.
  hash bytea not null unique,
  name text not null,
  -- The last four characters, to recognise a key in a list.
  hint text not null,
  scopes text[] not null,
  -- Set by POSTHORN_API_KEY or POSTHORN_API_KEY_2: replaced when the variable changes.
  configured boolean not null default false,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  primary key (environment_id, id)
);

create table idempotency_keys (
  environment_id uuid not null references environments (id),
  -- SHA-256 of method, path and key.
  scope_hash bytea not null,
  -- SHA-256 of the query and the body.
  request_hash bytea not null,
  status smallint not null,
  answer bytea not null,
  expires_at timestamptz not null,
  primary key (environment_id, scope_hash)
);
create index idempotency_keys_expiry on idempotency_keys (expires_at);

create table rate_limits (
  environment_id uuid not null references environments (id),
  category text not null,
  tokens double precision not null,
  -- What the last draw took: an update can return only new values.
  drawn double precision not null,
  refilled_at timestamptz not null,
  primary key (environment_id, category)
) with (fillfactor = 50);

-- What texts can be found by: their first one and two characters (marked), every run of three characters, and every third
-- run of six. A part of three or more characters shares its runs of three with the text it stands in; a part of eight or
-- more shares runs of six at one of three offsets, and those are rare where runs of three are not. In any script and locale.
-- It calls no function of ours: an index is maintained with a search path that holds none.
create function search_grams(variadic texts text[]) returns text[] language plpgsql immutable parallel safe as $$
declare
  grams text[] := '{}';
  value text;
begin
  foreach value in array texts loop
    continue when value is null;
    grams := grams || ('^' || left(value, 1)) || ('^' || left(value, 2));
    for place in 1 .. length(value) - 2 loop
      grams := grams || substr(value, place, 3);
    end loop;
    for place in 1 .. length(value) - 5 by 3 loop
      grams := grams || substr(value, place, 6);
    end loop;
  end loop;
  return grams;
end $$;

create table subscribers (
  environment_id uuid not null references environments (id),
  id uuid not null,
  subscriber_id text not null,
  first_name text,
  last_name text,
  full_name text not null generated always as (btrim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))) stored,
  email text,
  phone text,
  avatar text,
  locale text,
  timezone text,
  data jsonb,
  is_online boolean not null default false,
  last_online_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (environment_id, id)
);
create unique index subscribers_by_subscriber_id on subscribers (environment_id, subscriber_id) where deleted_at is null;
create index subscribers_by_updated_at on subscribers (environment_id, updated_at, id) where deleted_at is null;
-- One index serves every combination of contains-filters. A small pending list keeps searches quick beside writes.
create index subscribers_search on subscribers
  using gin (environment_id, search_grams(full_name, email, phone))
  with (gin_pending_list_limit = 128) where deleted_at is null;
-- No statistics of it: gathering them would cut 30,000 rows at every analyze, and no search is planned by them.
alter index subscribers_search alter column 2 set statistics 0;

-- What a subscriber can be reached by at one provider: a webhook address, device tokens.
create table subscriber_channels (
  environment_id uuid not null,
  subscriber_id uuid not null,
  id uuid not null,
  provider_id text not null,
  -- Null until an integration of that provider exists.
  integration_id uuid,
  credentials bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (environment_id, subscriber_id, id),
  foreign key (environment_id, subscriber_id) references subscribers (environment_id, id)
);
create unique index subscriber_channels_by_integration
  on subscriber_channels (environment_id, subscriber_id, provider_id, integration_id) nulls not distinct;

create table topics (
  environment_id uuid not null references environments (id),
  id uuid not null,
  key text not null,
  name text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (environment_id, id),
  unique (environment_id, key)
);
create index topics_by_updated_at on topics (environment_id, updated_at, id);
create index topics_search on topics using gin (environment_id, search_grams(name)) with (gin_pending_list_limit = 128);
alter index topics_search alter column 2 set statistics 0;

-- No foreign key to topics: a deleted topic's subscriptions are unreachable at once and swept in batches.
create table topic_subscriptions (
  environment_id uuid not null,
  topic_id uuid not null,
  subscriber_id uuid not null,
  id uuid not null,
  -- Given by the caller; without one it is made from the topic's key and the subscriber's id when read.
  identifier text,
  name text,
  created_at timestamptz not null,
  primary key (environment_id, topic_id, subscriber_id),
  foreign key (environment_id, subscriber_id) references subscribers (environment_id, id)
);
create unique index topic_subscriptions_by_id on topic_subscriptions (environment_id, topic_id, id);
create index topic_subscriptions_by_subscriber on topic_subscriptions (environment_id, subscriber_id, id);
create unique index topic_subscriptions_by_identifier on topic_subscriptions (environment_id, topic_id, identifier)
  where identifier is not null;

-- Topics that were deleted and whose subscriptions are still to be swept.
create table deleted_topics (
  environment_id uuid not null,
  topic_id uuid not null,
  primary key (environment_id, topic_id)
);

create table integrations (
  environment_id uuid not null references environments (id),
  id uuid not null,
  identifier text not null,
  name text not null,
  provider_id text not null,
  channel text not null check (channel in ('in_app', 'email', 'sms', 'chat', 'push')),
  credentials bytea not null,
  configurations bytea,
  conditions jsonb not null,
  active boolean not null,
  is_primary boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  deleted_by text,
  primary key (environment_id, id),
  -- Deleted ones included: an identifier in a log must never mean two accounts.
  unique (environment_id, identifier)
);
create unique index integrations_one_primary on integrations (environment_id, channel)
  where is_primary and deleted_at is null;
create index integrations_by_provider on integrations (environment_id, provider_id) where deleted_at is null;

create table tenants (
  environment_id uuid not null references environments (id),
  id uuid not null,
  identifier text not null,
  name text,
  data jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (environment_id, id),
  unique (environment_id, identifier)
);
