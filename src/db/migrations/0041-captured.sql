-- Whether a message was captured instead of sent. The outbox forgets what it showed, this stays. Alone: nothing else is done
-- while no one can read messages.
alter table messages add column is_captured boolean not null default false;
