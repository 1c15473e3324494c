-- Outbound webhooks: endpoints of the customer's backend, events that are to be reported, and their deliveries.

create table webhook_endpoints (
  environment_id uuid not null references environments (id),
  id uuid not null,
  -- Sealed: the address, which may hold a token, and the secrets that sign.
  sealed bytea not null,
  description text not null,
  -- Empty for all of them.
  event_types text[] not null,
  -- The ids of workflows; empty for all of them.
  workflow_ids uuid[] not null,
  concurrency smallint not null,
  disabled_at timestamptz,
  -- Who disabled it: 'caller', 'failures' or 'gone'.
  disabled_by text,
  -- Since the last delivery that was accepted.
  failing_since timestamptz,
  failures integer not null default 0,
  last_error text,
  delivered_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Its deliveries are swept, and it goes after the last of them.
  deleted_at timestamptz,
  primary key (environment_id, id)
);

-- What happened and is to be reported, written by the transaction in which it happened. A task turns it into deliveries.
create table webhook_news (
  environment_id uuid not null references environments (id),
  id uuid not null,
  type text not null,
  -- What it is about: events about the same subject are delivered in their order.
  subject_id uuid not null,
  subscriber_id uuid,
  facts jsonb not null,
  created_at timestamptz not null,
  primary key (environment_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

create table webhook_deliveries (
  environment_id uuid not null references environments (id),
  endpoint_id uuid not null,
  -- That of the event: the webhook-id of every attempt.
  id uuid not null,
  type text not null,
  subject_id uuid not null,
  subscriber_id uuid,
  -- Exactly what is sent: json keeps the order of the members, which is signed.
  body json not null,
  status text not null,
  -- Since it was created or redriven.
  attempts smallint not null default 0,
  -- The next attempt; null when there is none.
  due_at timestamptz,
  -- The newest attempts, oldest first.
  answers jsonb not null default '[]',
  created_at timestamptz not null,
  settled_at timestamptz,
  primary key (environment_id, endpoint_id, id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
create index webhook_deliveries_due on webhook_deliveries (environment_id, endpoint_id, due_at, id) where due_at is not null;
create index webhook_deliveries_subject on webhook_deliveries (environment_id, endpoint_id, subject_id, id)
  where due_at is not null;
create index webhook_deliveries_status on webhook_deliveries (environment_id, endpoint_id, status, id);
create index webhook_deliveries_subscriber on webhook_deliveries (environment_id, subscriber_id)
  where subscriber_id is not null;
