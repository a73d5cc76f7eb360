-- What learning left out, by reference, and the questions whether to open a domain.

-- A proposal of a pass that was left out: why, and the place of the sentence that it quotes. The words are only
-- in the turn, and the row is removed with the turn.
create table left_out (
  user_id   uuid not null,
  tenant_id uuid not null,
  pass_id   uuid not null,
  place     integer not null check (place between 1 and 20),
  reason    text not null,
  turn_id   uuid not null,
  from_char integer not null check (from_char >= 0),
  to_char   integer not null check (to_char > from_char),
  domain    text,                        -- the domain that was not open, if that is the reason
  fact_id   uuid,                        -- the memory that the user made of it; null until then
  primary key (user_id, pass_id, place),
  constraint left_out_of_turn foreign key (user_id, turn_id) references turn on delete cascade
);
-- For the removal of turns.
create index left_out_by_turn on left_out (user_id, turn_id);

-- That the user mentioned a domain which is not open, and what the user answered when asked to open it. It is
-- asked once per domain, and nothing of what was said is stored.
create table domain_question (
  user_id   uuid not null,
  tenant_id uuid not null,
  domain    text not null,
  state     text not null check (state in ('asked', 'opened', 'declined')),
  -- The first turns that mentioned the domain; empty once the question is answered.
  turns     uuid[] not null default '{}' check (cardinality(turns) <= 20),
  asked_at  timestamptz not null,
  primary key (user_id, domain)
);

do $$
declare t text;
begin
  foreach t in array array['left_out', 'domain_question'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
    execute format('alter table %I alter column domain set statistics 0', t);
  end loop;
end $$;

grant select, insert, update (fact_id), delete on left_out to lukasa_serve;
grant select, insert, update (state, turns), delete on domain_question to lukasa_serve;

-- Jobs that learn again from turns about a domain that was opened since.
alter table job drop constraint job_kind_check;
alter table job add constraint job_kind_check
  check (kind in ('close', 'statement', 'extract', 'relearn', 'title', 'compress', 'retell', 'upkeep', 'deliver'));
