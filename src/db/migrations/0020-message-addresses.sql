-- Where chat and push messages go to: sealed, beside columns that hold it in clear (direct_webhook_url, device_tokens, parts of
-- envelope). Nodes of release 0.1.0 write and read those; once `posthorn reseal` has run, new messages leave them empty.

alter table messages
  add column addresses bytea,
  -- A keyed hash of the address that it is found by in the outbox.
  add column address_digest bytea;
