-- A restore and a move both hold an environment, and each has its own time: backup_at is null where nothing was restored, moved_at
-- where nothing has moved. A move used to be a backup_at that is not before held_at.

alter table sending_holds
  alter column backup_at drop not null,
  -- When everything moved to another database, which sends what is due here.
  add column moved_at timestamptz;

update sending_holds set
  moved_at = held_at,
  backup_at = nullif(held_at - (backup_at - held_at), held_at)
where backup_at >= held_at;

alter table sending_holds add constraint sending_holds_reason check (backup_at is not null or moved_at is not null);
