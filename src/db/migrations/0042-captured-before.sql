-- What was captured so far: it is in the outbox, or is marked as a test although its event was none.
update messages m set is_captured = true from events e
  where m.is_test and e.environment_id = m.environment_id and e.id = m.event_id and (m.outbox_at is not null or e.test is null);
