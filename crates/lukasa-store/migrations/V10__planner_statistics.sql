-- Planner statistics: columns that must not be sampled, dependent columns, and estimates for a new database.

-- PostgreSQL's statistics contain samples of column values, and an erasure does not reach them. Columns with
-- user content are never searched by value, and identifiers chosen by clients are only looked up within one
-- user, so no samples of them are needed.
do $$
declare c record;
begin
  for c in select * from (values
    ('users',        array['name']),
    ('credential',   array['name', 'user_name']),
    ('fact_version', array['content', 'summary', 'detail', 'key', 'value', 'tags', 'evidence',
                           'reasoning', 'session', 'turns']),
    ('session',      array['session_id', 'title', 'summary']),
    ('turn',         array['session_id', 'content', 'speaker', 'spans']),
    ('passage',      array['session_id', 'terms']),
    ('embedding',    array['vector']),
    ('idempotency',  array['key', 'outcome']),
    ('baseline',     array['session_id', 'wishes', 'content', 'items']),
    ('retrieval',    array['session_id', 'dynamic', 'trace']),
    ('usage',        array['session_id', 'influence']),
    ('pass',         array['session_id', 'answer', 'outcome']),
    ('episode',      array['session_id', 'title', 'summary']),
    ('portrait',     array['sentences']),
    ('user_policy',  array['body']),
    ('job',          array['key', 'last_error']),
    ('import',       array['name']),
    ('import_item',  array['session_id'])) as t (tab, cols)
  loop
    for i in 1 .. array_length(c.cols, 1) loop
      execute format('alter table %I alter column %I set statistics 0', c.tab, c.cols[i]);
    end loop;
  end loop;
end $$;

-- user_id determines tenant_id. Without this the planner multiplies the two selectivities and expects one
-- row where there are two hundred.
create statistics fact_version_owner (dependencies) on user_id, tenant_id from fact_version;

-- Estimates that apply until the first `analyze` replaces them. Without statistics the planner assumes that
-- a condition on user_id is as selective as one on fingerprint, and reads all facts of a user to find one:
-- importing ten thousand facts into a new database would then scan all earlier ones for each.
do $$
declare
  estimate record;
begin
  for estimate in
    select * from (values
      -- column,       width, distinct, null, correlation, most common values and frequencies, histogram
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
    ) as estimates (attname, width, n_distinct, null_frac, correlation, common, frequencies, bounds)
  loop
    perform pg_restore_attribute_stats(
      'schemaname', current_schema()::text, 'relname', 'fact_version', 'attname', estimate.attname,
      'inherited', false, 'null_frac', estimate.null_frac::real, 'avg_width', estimate.width,
      'n_distinct', estimate.n_distinct::real, 'correlation', estimate.correlation::real,
      'most_common_vals', estimate.common, 'most_common_freqs', estimate.frequencies,
      'histogram_bounds', estimate.bounds);
  end loop;
end $$;
