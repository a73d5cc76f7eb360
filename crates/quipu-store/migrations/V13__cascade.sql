-- The cascade: what was taken away with what it was made from, until it is removed for good.

-- The operation that took it away; null while it is there. Its words are never updated.
alter table turn add column withdrawn_by uuid;
grant update (withdrawn_by) on turn to quipu_serve;

alter table episode
  add column withdrawn_by uuid,
  -- The operation after which it was told again, without what that took away.
  add column made_for     uuid,
  -- The turns of its stretch that were gone when it was told.
  add column left_out     integer[] not null default '{}';
grant update (withdrawn_by) on episode to quipu_serve;

alter table session
  -- The operation that put it into the trash.
  add column withdrawn_by uuid,
  -- If a model gave the title: the last turn it was made from.
  add column named_from   integer;
grant update (withdrawn_by, named_from) on session to quipu_serve;

-- What an operation took away or brought back besides facts: names, and none of the words.
alter table operation add column sources jsonb;
create index operation_with_sources on operation (user_id, recorded_at) where sources is not null;

-- Turns that were erased leave their id here too, so that no import brings them back.
alter table tombstone add column kind text not null default 'fact' check (kind in ('fact', 'turn'));

alter table job drop constraint job_kind_check;
alter table job add constraint job_kind_check
  check (kind in ('close', 'extract', 'title', 'compress', 'retell', 'upkeep'));

-- No samples are taken of what portraits say, nor of what imports are called.
alter table portrait alter column sentences set statistics 0;
alter table import alter column name set statistics 0;
alter table import_item alter column session_id set statistics 0;
