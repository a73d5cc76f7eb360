-- Jobs that carry out what the user said outright in a turn. They need no model, so they are in the lane of
-- the sessions.
alter table job drop constraint job_kind_check;
alter table job add constraint job_kind_check
  check (kind in ('close', 'statement', 'extract', 'title', 'compress', 'retell', 'upkeep', 'deliver'));
alter table job alter column lane set expression as (
  case kind when 'deliver' then 'webhooks' when 'upkeep' then 'upkeep'
            when 'close' then 'sessions' when 'statement' then 'sessions' else 'learning' end);
