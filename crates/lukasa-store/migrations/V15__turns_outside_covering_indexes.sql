-- outside a transaction
-- The covering indexes of recall are for memories and episodes. The passages of a turn are packed soon after
-- its session is closed. Until then they are few and read from the heap, so repeating their terms and vectors in
-- an index took more of the write-ahead log than their rows.

drop index concurrently if exists passage_of_memory;
create index concurrently passage_of_memory on passage (user_id, revision)
  include (tenant_id, source_id, part, subject_id, kind, language, words, terms,
           session_id, number, role, said_at, recorded_at) where kind <> 'turn';
drop index concurrently if exists passage_of_turn;
create index concurrently passage_of_turn on passage (user_id, revision) where kind = 'turn';
drop index concurrently if exists passage_to_read;

drop index concurrently if exists embedding_of_memory;
create index concurrently embedding_of_memory on embedding (user_id, model, revision)
  include (tenant_id, source_id, part, vector) where dimension <= 1024 and not of_turn;
-- Of turns, and vectors that do not fit into an index row.
drop index concurrently if exists embedding_of_turn;
create index concurrently embedding_of_turn on embedding (user_id, model, revision) where dimension > 1024 or of_turn;
drop index concurrently if exists embedding_to_read;
drop index concurrently if exists embedding_to_fetch;
