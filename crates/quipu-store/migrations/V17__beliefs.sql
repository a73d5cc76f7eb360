-- Chapter 17. What the planner believes of a record that nobody has counted yet.
--
-- Until PostgreSQL first looks for itself, it takes a row of one user for as rare as a row with one
-- fingerprint, and reads everything a user has to find one memory: an import of ten thousand memories
-- into a new database took six times as long. With the first `analyze` this gives way to what is there.

do $$
declare
  belief record;
begin
  if exists (select from pg_stats where schemaname = current_schema() and tablename = 'fact_version') then
    return;
  end if;
  for belief in
    select * from (values
      ('user_id',     16, 10.0, 0.0, null::text, null::real[]),
      ('fact_id',     16, -0.8, 0.0, null, null),
      ('version_id',  16, -1.0, 0.0, null, null),
      ('fingerprint', 16, -0.8, 0.0, null, null),
      ('slot',        16, -0.8, 0.0, null, null),
      ('known_until',  8, -0.2, 0.8, null, null),
      ('state',        7,  5.0, 0.0, '{active,forgotten}', array[0.9, 0.05]::real[])
    ) as beliefs (attname, width, n_distinct, null_frac, values, frequencies)
  loop
    if belief.values is null then
      perform pg_restore_attribute_stats(
        'schemaname', current_schema()::text, 'relname', 'fact_version', 'attname', belief.attname,
        'inherited', false, 'null_frac', belief.null_frac::real, 'avg_width', belief.width,
        'n_distinct', belief.n_distinct::real);
    else
      perform pg_restore_attribute_stats(
        'schemaname', current_schema()::text, 'relname', 'fact_version', 'attname', belief.attname,
        'inherited', false, 'null_frac', belief.null_frac::real, 'avg_width', belief.width,
        'n_distinct', belief.n_distinct::real,
        'most_common_vals', belief.values, 'most_common_freqs', belief.frequencies);
    end if;
  end loop;
end $$;
