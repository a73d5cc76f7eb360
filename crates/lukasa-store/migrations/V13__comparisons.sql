-- Comparisons of memories by consolidation: the result for each pair, so that a pair is not compared again
-- while the words of both are the same, and how far the comparison has come.

-- The result of comparing two facts. It is stored before it is applied, so that a model is not asked again
-- after a crash or a dry run. It contains no words: it is removed with either fact.
create table compared_pair (
  user_id      uuid not null,
  tenant_id    uuid not null,
  older_fact   uuid not null,
  older_digest uuid not null,             -- of the words, key and value that were compared
  newer_fact   uuid not null,
  newer_digest uuid not null,
  answer       text not null check (answer in ('same', 'supersedes', 'contradicts', 'unrelated')),
  reason       text not null check (reason in ('key', 'attribute', 'negation', 'similar')),
  -- The name and version of the prompt; null if rules alone compared the two.
  prompt       text,
  compared_at  timestamptz not null,
  -- When consolidation acted on it, or found nothing to do; null before.
  applied_at   timestamptz,
  primary key (user_id, older_fact, newer_fact),
  constraint compared_older foreign key (user_id, older_fact) references fact,
  constraint compared_newer foreign key (user_id, newer_fact) references fact
);
-- The results that are not applied yet; and those of a fact, in both directions.
create index compared_pair_open on compared_pair (user_id, compared_at) where applied_at is null;
create index compared_pair_newer on compared_pair (user_id, newer_fact);

-- How far the memories of a user were compared: those up to this version of the record, in the order in
-- which they came to be known.
create table comparison (
  user_id    uuid not null,
  tenant_id  uuid not null,
  known_from timestamptz not null,
  fact_id    uuid not null,
  primary key (user_id)
);

do $$
declare t text;
begin
  foreach t in array array['compared_pair', 'comparison'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;

grant select, insert, delete, update (older_digest, newer_digest, answer, reason, prompt, compared_at, applied_at)
  on compared_pair to lukasa_serve;
grant select, insert, delete, update (known_from, fact_id) on comparison to lukasa_serve;
