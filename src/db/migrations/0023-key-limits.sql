-- API keys: from where and how often they may be used, when they were used last, and which key one replaces.
-- Nodes of an earlier release pass over all of it: allow-lists hold once every node is upgraded.
alter table api_keys
  -- Addresses and networks that requests with the key may come from; null for any.
  add column allowed_addresses text[],
  -- Tokens a second of this key alone; null where only the environment limits it.
  add column rate_per_second integer,
  -- Within some minutes: it is written seldom.
  add column last_used_at timestamptz,
  -- The key that this one was made in place of.
  add column replaces uuid;
