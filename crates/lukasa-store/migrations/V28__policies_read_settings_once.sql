-- The policies of the tables that recall reads whole, or many rows of, read the tenant's setting once for a statement
-- instead of once for every row, which took about as long as reading the row. They admit the same rows as before. The
-- user's setting is compared only once already, because every statement names user_id.

do $$
declare t text;
begin
  foreach t in array array['passage', 'embedding', 'link', 'session', 'turn', 'fact_version'] loop
    execute format($policy$
      alter policy own on %I
        using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid)
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;
