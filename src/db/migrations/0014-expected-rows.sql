-- Ends a statement, and all that it wrote, where it did not write as many rows as expected: another transaction was faster.

create function expect_rows(written bigint, expected bigint) returns void language plpgsql as $$
begin
  if written <> expected then
    raise exception 'Wrote % rows instead of %: another transaction was faster', written, expected using errcode = 'PH001';
  end if;
end
$$;
