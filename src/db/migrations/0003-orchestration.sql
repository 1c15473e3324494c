-- Orchestration: who wants to hear of what and when, whom nothing is sent to, and what workflows are made of beside steps.

-- What a subscriber chose: for all workflows, for single ones, and the hours they want to be told in. One document, read
-- with the row that every step reads anyway; null for the many who never chose anything.
alter table subscribers add column preferences jsonb;

-- Addresses that bounced for good, complained or opted out: nothing is sent to them.
create table suppressions (
  environment_id uuid not null references environments (id),
  channel text not null,
  -- In the form it is compared in: e-mail addresses in lower case, numbers without spaces.
  address text collate "C" not null,
  reason text not null,
  -- Who said so: a provider's receipt, the recipient, or the caller.
  source text not null,
  note text,
  created_at timestamptz not null,
  primary key (environment_id, channel, address)
);
create index suppressions_by_age on suppressions (environment_id, created_at, channel, address);
create index suppressions_by_reason on suppressions (environment_id, reason, created_at, channel, address);
create index suppressions_by_channel on suppressions (environment_id, channel, created_at, address);

-- The frame around e-mails. One of an environment is its default; without any, the built-in one is used.
create table layouts (
  environment_id uuid not null references environments (id),
  id uuid not null,
  -- Free for another one once this one is deleted.
  identifier text not null,
  name text not null,
  description text not null,
  content text not null,
  is_default boolean not null,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (environment_id, id)
);
create unique index layouts_by_identifier on layouts (environment_id, identifier) where deleted_at is null;
create unique index layouts_default on layouts (environment_id) where is_default and deleted_at is null;

-- Named parts of the in-app feed.
create table feeds (
  environment_id uuid not null references environments (id),
  id uuid not null,
  identifier text not null,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (environment_id, id),
  unique (environment_id, identifier)
);

-- What a tenant wants otherwise of a workflow: whether it runs, and on which channels. Null leaves the workflow's own.
create table workflow_overrides (
  environment_id uuid not null references environments (id),
  id uuid not null,
  workflow_id uuid not null,
  tenant_id uuid not null,
  active boolean,
  preference_settings jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (environment_id, id),
  unique (environment_id, workflow_id, tenant_id)
);

-- Texts by locale, for the filter `t`.
create table translations (
  environment_id uuid not null references environments (id),
  locale text not null,
  texts jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (environment_id, locale)
);

-- How often a throttle was asked since its window opened, whether it let through or not. One row an identity, used anew when
-- it is over.
create table throttle_windows (
  environment_id uuid not null references environments (id),
  step_id uuid not null,
  subscriber_id uuid not null,
  -- SHA-256 of the value at the throttle key.
  key_hash bytea not null,
  asked integer not null,
  opened_at timestamptz not null,
  until_at timestamptz not null,
  primary key (environment_id, step_id, subscriber_id, key_hash)
) with (fillfactor = 70);
create index throttle_windows_over on throttle_windows (until_at);

-- Files that came with an event, apart from it: they are large, read only to send e-mail, and kept for days only.
create table attachments (
  environment_id uuid not null references environments (id),
  event_id uuid not null,
  place smallint not null,
  name text not null,
  mime text not null,
  cid text,
  disposition text,
  -- The channels it is for; null for all.
  channels text[],
  content bytea not null,
  created_at timestamptz not null,
  primary key (environment_id, event_id, place)
);
create index attachments_by_age on attachments (created_at);

-- How many files came with it.
alter table events add column attachments smallint not null default 0;
-- For everybody in the environment: expanded by walking the subscribers.
alter table events add column is_broadcast boolean not null default false;
-- Nobody else is told of it from here on.
alter table events add column canceled_at timestamptz;

-- Who made the workflow last: the API's first face, its second, or files.
alter table workflows add column origin text not null default 'v1';

-- Chat: where it went; push: all devices of the entry, of which each has a message of its own.
alter table messages add column direct_webhook_url text;
alter table messages add column device_tokens text[];

-- The activity of some workflows and severities: neither alone may be rare.
create index events_by_workflow_severity on events (environment_id, workflow_id, severity, id) where severity is not null;

-- Contexts are searched by any part of their key, and asked for by their id whatever their type.
create index contexts_search on contexts
  using gin (environment_id, search_grams(type || ':' || id)) with (gin_pending_list_limit = 128);
create index contexts_by_id on contexts (environment_id, id, type);

-- What is gathered for somebody, to be let go when they change their mind.
create index digest_windows_of_subscriber on digest_windows (environment_id, subscriber_id) where closed_at is null;
