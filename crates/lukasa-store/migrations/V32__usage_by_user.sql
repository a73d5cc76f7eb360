-- Outcomes that the user reported count in full. Those that an assistant or an application reported could be made up
-- to move the user's thresholds.

-- Whether the user reported the use, or said it in a turn. False for what was recorded before the column existed.
alter table usage add column by_user boolean not null default false;
