-- Covering indexes for everything recall reads, with the columns that row-level security compares. Without
-- tenant_id the indexes could not answer by themselves, and every row was read from the heap, where the rows of
-- many users are mixed.

drop index passage_to_read;
create index passage_to_read on passage (user_id, revision)
  include (tenant_id, source_id, part, subject_id, kind, language, words, terms,
           session_id, number, role, said_at, recorded_at);

drop index embedding_to_read;
create index embedding_to_read on embedding (user_id, model, revision)
  include (tenant_id, source_id, part, vector) where dimension <= 1024;

-- The sessions that belong to a project, which are few. Recall reads them beside the passages.
create index session_projects on session (user_id)
  include (tenant_id, session_id, project) where project is not null;

create index link_to_read on link (user_id)
  include (tenant_id, from_fact, to_fact) where known_until is null;

-- Only the turns of the user are ranked by their meaning.
delete from embedding e using passage p
 where p.user_id = e.user_id and p.source_id = e.source_id and p.part = e.part and p.role <> 'user';
