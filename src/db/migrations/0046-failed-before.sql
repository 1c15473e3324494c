-- When a step failed before it was sent again, the latest first: numbers of the past still count it. Alone: nothing else is done
-- while no one can read jobs.
alter table jobs add column failed_before timestamptz[];
