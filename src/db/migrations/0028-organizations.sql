-- Organizations beyond the first: the boundary above environments. The row of one that is deleted stays, since its deleted
-- environments, whose audit logs are kept, refer to it.

alter table organizations add column deleted_at timestamptz;

create unique index organizations_name on organizations (name) where deleted_at is null;
