-- Chapter 17. What the planner believes of a record that nobody has counted yet.
--
-- Until PostgreSQL first looks for itself, it takes a row of one user for as rare as a row with one
-- fingerprint, and reads everything a user has to find one memory: each of ten thousand memories that are
-- imported into a new database is then looked for among all before it. With the first `analyze` this
-- gives way to what is there.

do $$
declare
  belief record;
begin
  if exists (select from pg_stats where schemaname = current_schema() and tablename = 'fact_version') then
    return;
  end if;
  for belief in
    select * from (values
      -- column,       width, distinct, null, lies in order, commonest values with their shares, a histogram
      ('user_id',      16,    10.0,     0.0,  0.9,        null::text, null::real[], null::text),
      ('tenant_id',    16,     1.0,     0.0,  null,       null, null, null),
      ('fact_id',      16,    -0.8,     0.0,  null,       null, null, null),
      ('version_id',   16,    -1.0,     0.0,  null,       null, null, null),
      ('fingerprint',  16,    -0.8,     0.0,  null,       null, null, null),
      ('slot',         16,    -0.8,     0.0,  null,       null, null, null),
      ('known_until',   8,    -0.2,     0.8,  null,       null, null, null),
      ('valid_until',   8,    -0.1,     0.9,  null,       null, null, null),
      ('valid_from',    8,    -0.5,     0.0,  null,       null, null, '{2000-01-01,2010-01-01,2020-01-01}'),
      ('state',         7,     5.0,     0.0,  null,       '{active,forgotten}', array[0.9, 0.05]::real[], null)
    ) as beliefs (attname, width, n_distinct, null_frac, correlation, common, shares, bounds)
  loop
    perform pg_restore_attribute_stats(
      'schemaname', current_schema()::text, 'relname', 'fact_version', 'attname', belief.attname,
      'inherited', false, 'null_frac', belief.null_frac::real, 'avg_width', belief.width,
      'n_distinct', belief.n_distinct::real, 'correlation', belief.correlation::real,
      'most_common_vals', belief.common, 'most_common_freqs', belief.shares,
      'histogram_bounds', belief.bounds);
  end loop;
end $$;
