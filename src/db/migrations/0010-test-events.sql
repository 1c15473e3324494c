-- Events that test a workflow, and events whose way is traced.

-- How a test differs from a real event: the steps it is for, whether it waits. Null for real events.
alter table events add column test jsonb;
-- The W3C traceparent of the request that brought it, for those who go on with its trace. Null when it is not traced.
alter table events add column traceparent text;
