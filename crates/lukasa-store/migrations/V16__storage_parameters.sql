-- Storage parameters of the large and of the often updated tables.

-- Index-only scans need pages that are marked as all-visible. By default a table of a thousand million rows is
-- vacuumed after two hundred million insertions, so its newest fifth, which is read most, would never be marked.
do $$
declare t text;
begin
  foreach t in array array['operation', 'fact', 'fact_version', 'turn', 'passage', 'embedding', 'retrieval',
                           'usage', 'model_call', 'delivery', 'idempotency'] loop
    execute format('alter table %I set (autovacuum_vacuum_insert_scale_factor = 0.02)', t);
  end loop;
end $$;

-- Rows that are updated often keep room on their page for the next version, so that no index changes.
alter table recall_state set (fillfactor = 70);
alter table session set (fillfactor = 80);

-- Dead rows at the head of a queue are read by every claim, so they are removed early and without pauses.
alter table job set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
