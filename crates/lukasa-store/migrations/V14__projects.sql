-- Projects: the name of the work that a memory or a session belongs to. Null: it belongs to the user everywhere.

alter table fact_version add column project text check (char_length(project) between 1 and 64);

-- A rule holds its key within its project, so the same key can have another value in another project.
alter table fact_version alter column slot set expression as (
  case when force = 'hard' then md5(domain || chr(31) || key || coalesce(chr(31) || project, ''))::uuid
       else fact_id end);
-- Changing the expression removes the estimates of the column: see the planner statistics.
select pg_restore_attribute_stats(
  'schemaname', current_schema()::text, 'relname', 'fact_version', 'attname', 'slot', 'inherited', false,
  'null_frac', 0.0::real, 'avg_width', 16, 'n_distinct', -0.8::real);

-- Set when the session is opened; the serving role cannot change it. Recall joins it to the passages of turns,
-- which have no copy of it.
alter table session add column project text check (char_length(project) between 1 and 64);

-- The project whose memories the baseline may quote. A session can get a baseline before it is opened, and
-- with it its project; a baseline of another project is not used.
alter table baseline add column project text check (char_length(project) between 1 and 64);

-- The names are chosen by users, and compared only among the rows of one user.
alter table fact_version alter column project set statistics 0;
alter table session alter column project set statistics 0;
alter table baseline alter column project set statistics 0;
