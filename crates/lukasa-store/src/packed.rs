//! The passages of closed sessions, packed into one row for each session. A session is unpacked
//! before its turns are removed or embedded again.

use lukasa_core::Timestamp;
use lukasa_text::terms::ANALYZER;
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, all};
use crate::scope::{Batch, Param, Scope};

/// Maximum number of passages of a session that is packed. A row is read whole.
const MAX_PASSAGES: i64 = 4_000;

/// Up to `limit` sessions that were closed before `closed_before` and whose passages can be packed:
/// all that are to be embedded are, with this model and with no other. With `among`, only of these.
pub async fn sessions_to_pack(
    scope: &Scope,
    model: Option<&str>,
    closed_before: Timestamp,
    among: Option<&[String]>,
    limit: i64,
) -> Result<Vec<String>> {
    const SQL: &str = "with part as ( \
          select p.session_id, p.role, count(e.model) as vectors, \
                 count(e.model) filter (where e.model = $2) as of_model \
            from passage p left join embedding e on e.user_id = p.user_id \
              and e.source_id = p.source_id and e.part = p.part \
           where p.user_id = $1 and p.kind = 'turn' and p.analyzer = $6 \
             and ($7::text[] is null or p.session_id = any($7)) \
           group by p.session_id, p.source_id, p.part, p.role) \
        select s.session_id from part join session s \
            on s.user_id = $1 and s.session_id = part.session_id \
          left join packed_session k on k.user_id = $1 and k.session_id = s.session_id \
         where s.user_id = $1 and s.state <> 'active' and s.closed_at < $3 \
           and s.trashed_at is null \
         group by s.session_id, k.passages \
        having count(*) + coalesce(k.passages, 0) <= $4 and bool_and(part.vectors = part.of_model \
           and (part.of_model = 1 or part.role <> 'user' or $2 is null)) \
         order by s.session_id limit $5";
    let user = scope.user().uuid();
    let params: [Param<'_>; 7] =
        [&user, &model, &closed_before, &MAX_PASSAGES, &limit, &ANALYZER, &among];
    all(&scope.query(SQL, &params).await?, |row| Columns::of(row, "session").take())
}

/// Packs the passages of these sessions. Passages that were packed before are packed again with
/// those added since. Nothing changes for recall, so the user's revision stays. A packed session has
/// the latest revision of its passages and their vectors, so that a server which has read the
/// passages reads the vectors that were stored after them.
pub fn pack(batch: &mut Batch, scope: &Scope, sessions: &[String], model: Option<&str>) {
    const PACK: &str = "insert into packed_session (user_id, tenant_id, session_id, revision, \
          analyzer, model, passages, source_ids, parts, languages, words, terms, content_hashes, \
          numbers, roles, said_at, recorded_at, vectors) \
        select $1, $2, session_id, max(greatest(revision, embedded_at)), max(analyzer), $4, count(*), \
               array_agg(source_id), array_agg(part), array_agg(language), array_agg(words), \
               array_agg(terms), array_agg(content_hash), array_agg(number), array_agg(role), \
               array_agg(said_at), array_agg(recorded_at), array_agg(vector) \
          from (select p.*, e.vector, e.revision as embedded_at \
                  from passage p left join embedding e on e.user_id = p.user_id \
                   and e.source_id = p.source_id and e.part = p.part and e.model = $4 \
                 where p.user_id = $1 and p.kind = 'turn' and p.session_id = any($3) \
                 order by p.session_id, p.number, p.source_id, p.part) p \
         group by session_id";
    const ROWS: &str = "delete from passage where user_id = $1 and kind = 'turn' \
                          and session_id = any($2)";
    unpack_sessions(batch, scope, sessions);
    let user = scope.user().uuid();
    batch.push(
        PACK,
        vec![
            Box::new(user),
            Box::new(scope.tenant().uuid()),
            Box::new(sessions.to_vec()),
            Box::new(model.map(str::to_owned)),
        ],
    );
    batch.push(ROWS, vec![Box::new(user), Box::new(sessions.to_vec())]);
}

/// Moves packed passages back into rows. The condition selects the packed sessions `k`.
macro_rules! unpack {
    ($condition:literal) => {
        concat!(
            "with gone as (delete from packed_session k where k.user_id = $1 and ",
            $condition,
            " returning *), part as ( \
               select k.user_id, k.tenant_id, k.session_id, k.revision, k.analyzer, k.model, s.* \
                 from gone k cross join lateral unnest(k.source_ids, k.parts, k.languages, \
                   k.words, k.terms, k.content_hashes, k.numbers, k.roles, k.said_at, \
                   k.recorded_at, k.vectors) as s (source_id, part, language, words, terms, \
                   content_hash, number, role, said_at, recorded_at, vector)), \
             passages as ( \
               insert into passage (user_id, tenant_id, source_id, part, subject_id, kind, \
                   revision, analyzer, language, words, terms, content_hash, session_id, number, \
                   role, said_at, recorded_at) \
               select user_id, tenant_id, source_id, part, source_id, 'turn', revision, analyzer, \
                      language, words, terms, content_hash, session_id, number, role, said_at, \
                      recorded_at from part) \
             insert into embedding (user_id, tenant_id, model, source_id, part, revision, \
                 dimension, content_hash, vector, of_turn) \
             select user_id, tenant_id, model, source_id, part, revision, vector_dims(vector), \
                    content_hash, vector, true from part where vector is not null"
        )
    };
}

/// Moves the passages of these sessions back into rows of their own.
pub fn unpack_sessions(batch: &mut Batch, scope: &Scope, sessions: &[String]) {
    const SQL: &str = unpack!("k.session_id = any($2)");
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(sessions.to_vec())]);
}

/// Moves the passages of the sessions of these turns back into rows of their own. The turns have to
/// be there still.
pub fn unpack_turns(batch: &mut Batch, scope: &Scope, turns: &[Uuid]) {
    const SQL: &str = unpack!(
        "k.session_id in (select session_id from turn where user_id = $1 and turn_id = any($2))"
    );
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(turns.to_vec())]);
}

/// Removes the packed passages of a session.
pub fn remove_session(batch: &mut Batch, scope: &Scope, session: &str) {
    const SQL: &str = "delete from packed_session where user_id = $1 and session_id = $2";
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(session.to_owned())]);
}

/// Whether a session was packed with the vectors of another model, or with none.
pub async fn has_other_model(scope: &Scope, model: &str) -> Result<bool> {
    const SQL: &str = "select true from packed_session where user_id = $1 \
                         and model is distinct from $2 limit 1";
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &model]).await?.is_empty())
}

/// Moves the passages of all sessions that were packed with another model back into rows, so that
/// they can be embedded with this one.
pub fn unpack_other_models(batch: &mut Batch, scope: &Scope, model: &str) {
    const SQL: &str = unpack!("k.model is distinct from $2");
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(model.to_owned())]);
}

/// Removes the vectors of these models from packed sessions. They stay packed, as if nothing in them
/// was embedded.
pub fn remove_vectors(batch: &mut Batch, scope: &Scope, models: &[String]) {
    const SQL: &str = "with gone as (delete from packed_session where user_id = $1 \
            and model = any($2) returning *) \
        insert into packed_session (user_id, tenant_id, session_id, revision, analyzer, model, \
          passages, source_ids, parts, languages, words, terms, content_hashes, numbers, roles, \
          said_at, recorded_at, vectors) \
        select user_id, tenant_id, session_id, revision, analyzer, null, passages, source_ids, \
               parts, languages, words, terms, content_hashes, numbers, roles, said_at, \
               recorded_at, array_fill(null::halfvec, array[passages]) from gone";
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(models.to_vec())]);
}
