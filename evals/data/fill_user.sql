insert into operation (user_id, tenant_id, operation_id, recorded_at, verb, caller, credential, origin,
                       extracted, facts)
select $1::uuid, $2::uuid, md5('operation' || n || $1::uuid)::uuid,
       '2020-01-01'::timestamptz + n * interval '1 second', 'save', 'human', 'local', 'user_said', false,
       array[md5('fact' || n || $1::uuid)::uuid]
  from generate_series(1, $3::int) n;
insert into fact (user_id, tenant_id, fact_id)
select $1::uuid, $2::uuid, md5('fact' || n || $1::uuid)::uuid from generate_series(1, $3::int) n;
insert into fact_version (user_id, tenant_id, fact_id, version_id, number, content, category, type, kind,
                          force, tags, importance, evidence, state, tier, origin, extracted, turns,
                          valid_from, known_from, opened_by, fingerprint)
select $1::uuid, $2::uuid, md5('fact' || n || $1::uuid)::uuid, md5('version' || n || $1::uuid)::uuid, 1,
       'canary ' || n, 'fact', 'profile', 'fact', 'soft', '{}', 0.5, '[]', 'active', 'strong',
       'user_said', false, '{}', '2020-01-01', '2020-01-01'::timestamptz + n * interval '1 second',
       md5('operation' || n || $1::uuid)::uuid, md5('version' || n || $1::uuid)::uuid
  from generate_series(1, $3::int) n;
insert into link (user_id, tenant_id, link_id, from_fact, to_fact, relation, known_from, opened_by)
select $1::uuid, $2::uuid, md5('link' || n || $1::uuid)::uuid, md5('fact' || n || $1::uuid)::uuid,
       md5('fact' || n + 1 || $1::uuid)::uuid, 'relates_to', '2020-01-01',
       md5('operation' || n || $1::uuid)::uuid
  from generate_series(1, $3::int - 1) n;
insert into session (user_id, tenant_id, session_id, opened_at, last_turn_at, turns)
select $1::uuid, $2::uuid, 'filled ' || n, '2020-01-01', '2020-01-01', 100
  from generate_series(0, ($3::int - 1) / 100) n;
insert into turn (user_id, tenant_id, turn_id, session_id, number, role, content, origin, said_at,
                  recorded_at)
select $1::uuid, $2::uuid, md5('turn' || n || $1::uuid)::uuid, 'filled ' || (n - 1) / 100,
       (n - 1) % 100 + 1, 'user', 'canary turn ' || n, 'user_turn', '2020-01-01', '2020-01-01'
  from generate_series(1, $3::int) n;
insert into passage (user_id, tenant_id, source_id, part, subject_id, kind, revision, analyzer, language,
                     words, terms, content_hash)
select $1::uuid, $2::uuid, md5('turn' || n || $1::uuid)::uuid, 0, md5('turn' || n || $1::uuid)::uuid,
       'turn', 1, 1, 'en', 3, '\x', '\x' from generate_series(1, $3::int) n;
insert into embedding (user_id, tenant_id, model, source_id, part, revision, dimension, content_hash,
                       vector)
select $1::uuid, $2::uuid, 'filled', md5('turn' || n || $1::uuid)::uuid, 0, 1, 3, '\x', '[1,2,3]'
  from generate_series(1, $3::int) n;
