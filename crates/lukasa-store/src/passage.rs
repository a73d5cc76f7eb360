//! A user's passages, which recall reads: all of them, or those since a revision.

use std::collections::HashMap;

use futures_util::try_join;
use half::f16;
use lukasa_core::model::EmbeddingModel;
use lukasa_core::recall::passage::{Passage, PassageKind, TurnPosition};
use lukasa_core::{Project, Role, Timestamp};
use lukasa_text::terms::{ANALYZER, Language, Terms};
use pgvector::HalfVector;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};

/// The revisions of a user's passages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecallState {
    /// A random number drawn when the user's first passage was stored. Revisions of another epoch,
    /// from before the user was erased, are not comparable.
    pub epoch: i64,
    pub revision: i64,
    /// The revision at which a fact last changed.
    pub facts: i64,
    /// The revision at which something was last removed.
    pub removed: i64,
}

impl RecallState {
    /// Whether the facts are as they were at this earlier state. A new turn does not change them.
    pub fn has_facts_of(self, earlier: Self) -> bool {
        let facts = |state: Self| (state.epoch, state.facts, state.removed);
        facts(self) == facts(earlier)
    }

    /// Whether something was removed since this earlier state.
    pub fn has_lost_since(self, earlier: Self) -> bool {
        (self.epoch, self.removed) != (earlier.epoch, earlier.removed)
    }
}

/// The kind of change a write made that recall must see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Turns or embeddings were added.
    Added,
    /// A fact changed, or which facts may be used.
    Facts,
    /// Something was permanently removed.
    Removed,
}

pub async fn state(scope: &Scope) -> Result<RecallState> {
    const SQL: &str = "select epoch, revision, facts, removed from recall_state where user_id = $1";
    let rows = scope.query(SQL, &[&scope.user().uuid()]).await?;
    let read = one(&rows, |row| {
        let mut c = Columns::of(row, "recall_state");
        Ok(RecallState {
            epoch: c.take()?,
            revision: c.take()?,
            facts: c.take()?,
            removed: c.take()?,
        })
    })?;
    Ok(read.unwrap_or_default())
}

/// Increments the revision. It must precede the rows that carry the new revision.
pub fn bump(batch: &mut Batch, scope: &Scope, change: Change) {
    // The user's lock is held. `on conflict do update` would also log a lock of the row.
    const SQL: &str = "with changed as ( \
                         update recall_state set revision = revision + 1, \
                           facts = case when $3 = 1 then revision + 1 else facts end, \
                           removed = case when $4 = 1 then revision + 1 else removed end \
                         where user_id = $1 returning true) \
                       insert into recall_state (user_id, tenant_id, revision, facts, removed) \
                       select $1, $2, 1, $3::int, $4::int \
                       where not exists (select from changed)";
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(i32::from(change != Change::Added)),
            Box::new(i32::from(change == Change::Removed)),
        ],
    );
}

/// Stores passages under the revision that [`bump`] has just made.
pub fn insert(batch: &mut Batch, scope: &Scope, passages: &[Passage]) {
    const SQL: &str = "insert into passage (user_id, tenant_id, analyzer, revision, source_id, \
                       part, subject_id, kind, language, words, terms, content_hash, session_id, \
                       number, role, said_at, recorded_at) \
                       select $1, $2, $3, (select revision from recall_state where user_id = $1), \
                       * from unnest($4::uuid[], $5::smallint[], $6::uuid[], $7::text[], \
                       $8::text[], $9::int[], $10::bytea[], $11::bytea[], $12::text[], \
                       $13::int[], $14::text[], $15::timestamptz[], $16::timestamptz[])";
    fn each<T>(passages: &[Passage], of: impl Fn(&Passage) -> T) -> Vec<T> {
        passages.iter().map(of).collect()
    }
    fn place<T>(passages: &[Passage], of: impl Fn(&TurnPosition) -> T) -> Vec<Option<T>> {
        passages.iter().map(|passage| passage.place.as_ref().map(&of)).collect()
    }
    if passages.is_empty() {
        return;
    }
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(ANALYZER),
            Box::new(each(passages, |p| p.source)),
            Box::new(each(passages, |p| p.part)),
            Box::new(each(passages, |p| p.subject)),
            Box::new(each(passages, |p| p.kind.as_str())),
            Box::new(each(passages, |p| p.language.code())),
            Box::new(each(passages, |p| i32::try_from(p.terms.words).unwrap_or(i32::MAX))),
            Box::new(each(passages, |p| p.terms.to_bytes())),
            Box::new(each(passages, Passage::hash)),
            Box::new(place(passages, |place| place.session.clone())),
            Box::new(place(passages, |place| place.number)),
            Box::new(place(passages, |place| place.role.as_str())),
            Box::new(place(passages, |place| place.said_at)),
            Box::new(place(passages, |place| place.recorded_at)),
        ],
    );
}

/// A stored passage: the data to find it, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredPassage {
    pub source: Uuid,
    pub part: i16,
    pub subject: Uuid,
    pub kind: PassageKind,
    pub language: Language,
    pub terms: Terms,
    pub place: Option<TurnPosition>,
}

macro_rules! passage_columns {
    () => {
        "source_id, part, subject_id, kind, language, words, terms, session_id, number, role, \
         said_at, recorded_at, revision"
    };
}

/// The passages of memories and episodes since a revision. An index has all of these columns.
macro_rules! memory_passages {
    () => {
        concat!(
            "select ",
            passage_columns!(),
            " from passage where user_id = $1 and revision > $2 and kind <> 'turn'"
        )
    };
}

/// The same of turns that are not packed.
macro_rules! turn_passages {
    () => {
        concat!(
            "select ",
            passage_columns!(),
            " from passage where user_id = $1 and revision > $2 and kind = 'turn'"
        )
    };
}

/// The same of packed sessions, one row for each passage.
macro_rules! packed_passages {
    () => {
        "select s.source_id, s.part, s.source_id, 'turn', s.language, s.words, s.terms, \
                k.session_id, s.number, s.role, s.said_at, s.recorded_at, k.revision \
           from packed_session k cross join lateral unnest(k.source_ids, k.parts, k.languages, \
                k.words, k.terms, k.numbers, k.roles, k.said_at, k.recorded_at) \
                as s (source_id, part, language, words, terms, number, role, said_at, recorded_at) \
          where k.user_id = $1 and k.revision > $2"
    };
}

pub(crate) fn stored(row: &Row, projects: &HashMap<String, Project>) -> Result<StoredPassage> {
    let mut c = Columns::of(row, "passage");
    let (source, part, subject) = (c.take()?, c.take()?, c.take()?);
    let kind = c.word(PassageKind::parse)?;
    let language = Language::parse(c.take()?);
    let words: i32 = c.take()?;
    let terms = Terms::from_bytes(c.take()?, u32::try_from(words).unwrap_or(0));
    let session: Option<String> = c.take()?;
    let number: Option<i32> = c.take()?;
    let role: Option<&str> = c.take()?;
    let (said_at, recorded_at): (Option<Timestamp>, Option<Timestamp>) = (c.take()?, c.take()?);
    let project = session.as_ref().and_then(|session| projects.get(session)).cloned();
    let place = match (session, number, role.and_then(Role::parse), said_at, recorded_at) {
        (Some(session), Some(number), Some(role), Some(said_at), Some(recorded_at)) => {
            Some(TurnPosition { session, project, number, role, said_at, recorded_at })
        }
        _ => None,
    };
    Ok(StoredPassage { source, part, subject, kind, language, terms, place })
}

/// The highest revision of turns to leave out of the index, so that at most `limit` passages of
/// turns are indexed; absent if there are no more than that. A packed session is left out whole.
pub async fn turn_floor(scope: &Scope, limit: i64) -> Result<Option<i64>> {
    const COUNT: &str = "select (select count(*) from \
                            (select 1 from passage where user_id = $1 limit $2) p) \
                          + (select coalesce(sum(passages), 0)::bigint \
                               from packed_session where user_id = $1)";
    const FLOOR: &str = "select max(revision) from \
                           (select revision, sum(passages) over (order by revision desc) as total \
                              from (select revision, 1 as passages from passage \
                                     where user_id = $1 and kind = 'turn' \
                                    union all select revision, passages from packed_session \
                                     where user_id = $1) p) counted \
                          where total > $2";
    let user = scope.user().uuid();
    let counted: Option<i64> =
        one(&scope.query(COUNT, &[&user, &(limit + 1)]).await?, |row| Ok(row.try_get(0)?))?;
    if counted.is_none_or(|count| count <= limit) {
        return Ok(None);
    }
    Ok(one(&scope.query(FLOOR, &[&user, &limit]).await?, |row| Ok(row.try_get(0)?))?.flatten())
}

pub(crate) const PASSAGES_SINCE: &str =
    concat!(memory_passages!(), " union all ", turn_passages!(), " union all ", packed_passages!());

/// The passages that are not packed, of memories and episodes and then of turns, both in the order of
/// their revisions.
pub(crate) const PASSAGES_IN_ORDER: [&str; 2] = [
    concat!(memory_passages!(), " order by revision"),
    concat!(turn_passages!(), " order by revision"),
];

/// The passages since a revision; all of them since revision 0. With a floor, turns up to that
/// revision are left out.
pub async fn since(scope: &Scope, revision: i64, floor: Option<i64>) -> Result<Vec<StoredPassage>> {
    const ABOVE: &str = concat!(
        memory_passages!(),
        " union all ",
        turn_passages!(),
        " and revision > $3 union all ",
        packed_passages!(),
        " and k.revision > $3"
    );
    let user = scope.user().uuid();
    let rows = async {
        match floor {
            None => scope.query(PASSAGES_SINCE, &[&user, &revision]).await,
            Some(floor) => scope.query(ABOVE, &[&user, &revision, &floor]).await,
        }
    };
    let (rows, projects) = try_join!(rows, session_projects(scope))?;
    all(&rows, |row| stored(row, &projects))
}

pub(crate) const FIRST_PASSAGES: &str = concat!(
    memory_passages!(),
    " union all ",
    turn_passages!(),
    " union all ",
    packed_passages!(),
    " limit $3"
);

/// Up to `limit` of the user's passages, in no particular order.
pub async fn first(scope: &Scope, limit: i64) -> Result<Vec<StoredPassage>> {
    let (user, none) = (scope.user().uuid(), 0_i64);
    let params: [Param<'_>; 3] = [&user, &none, &limit];
    let (rows, projects) =
        try_join!(scope.query(FIRST_PASSAGES, &params), session_projects(scope))?;
    all(&rows, |row| stored(row, &projects))
}

/// Makes the next statements of this transaction read rows in the order of the covering indexes, or
/// as the planner prefers again. For a user with most of a table's rows it prefers to read the whole
/// table and to sort it, which takes several times as long.
pub async fn read_in_index_order(scope: &Scope, is_on: bool) -> Result<()> {
    let sql = match is_on {
        true => "set local enable_sort = off",
        false => "set local enable_sort to default",
    };
    scope.query(sql, &[]).await?;
    Ok(())
}

pub(crate) const SESSION_PROJECTS: &str =
    "select session_id, project from session where user_id = $1 and project is not null";

/// The projects of the user's sessions that belong to one. A session's project never changes.
pub async fn session_projects(scope: &Scope) -> Result<HashMap<String, Project>> {
    let rows = scope.query(SESSION_PROJECTS, &[&scope.user().uuid()]).await?;
    let sessions = all(&rows, |row| {
        let mut c = Columns::of(row, "session");
        Ok((c.take()?, c.project()?))
    })?;
    let named = |(session, project): (String, Option<Project>)| Some((session, project?));
    Ok(sessions.into_iter().filter_map(named).collect())
}

/// A passage that a model has not embedded yet, and the source of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnembeddedPassage {
    pub source: Uuid,
    pub part: i16,
    pub subject: Uuid,
    pub kind: PassageKind,
}

/// Up to `limit` passages that are not embedded with the model, in a stable order. Turns of others
/// than the user are found by their words alone.
pub async fn unembedded(scope: &Scope, model: &str, limit: i64) -> Result<Vec<UnembeddedPassage>> {
    const SQL: &str = "select p.source_id, p.part, p.subject_id, p.kind from passage p \
                        where p.user_id = $1 and (p.role is null or p.role = 'user') \
                          and not exists (select 1 from embedding e \
                          where e.user_id = $1 and e.model = $2 and e.source_id = p.source_id \
                            and e.part = p.part) \
                        order by p.source_id, p.part limit $3";
    all(&scope.query(SQL, &[&scope.user().uuid(), &model, &limit]).await?, |row| {
        let mut c = Columns::of(row, "passage");
        Ok(UnembeddedPassage {
            source: c.take()?,
            part: c.take()?,
            subject: c.take()?,
            kind: c.word(PassageKind::parse)?,
        })
    })
}

/// Switches `synchronous_commit` off for this transaction, because what it writes can be
/// recomputed.
pub async fn relax_durability(scope: &Scope) -> Result<()> {
    scope.query("set local synchronous_commit = off", &[]).await?;
    Ok(())
}

/// An embedding to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEmbedding {
    pub source: Uuid,
    pub part: i16,
    pub hash: Vec<u8>,
    pub values: Vec<f32>,
}

/// Stores embeddings under the revision that [`bump`] has just made. Passages that were removed in
/// the meantime are skipped, and existing embeddings are kept.
pub fn embed(batch: &mut Batch, scope: &Scope, model: &EmbeddingModel, made: Vec<NewEmbedding>) {
    const SQL: &str = "insert into embedding (user_id, tenant_id, model, dimension, revision, \
                       source_id, part, content_hash, vector, of_turn) \
                       select $1, $2, $3, $4, (select revision from recall_state \
                         where user_id = $1), e.*, p.kind = 'turn' \
                       from unnest($5::uuid[], $6::smallint[], $7::bytea[], $8::halfvec[]) \
                         as e (source_id, part, content_hash, vector) \
                       join passage p on p.user_id = $1 \
                         and p.source_id = e.source_id and p.part = e.part \
                       on conflict do nothing";
    let sources: Vec<Uuid> = made.iter().map(|e| e.source).collect();
    let parts: Vec<i16> = made.iter().map(|e| e.part).collect();
    let hashes: Vec<Vec<u8>> = made.iter().map(|e| e.hash.clone()).collect();
    let half = |e: NewEmbedding| {
        HalfVector::from(e.values.into_iter().map(f16::from_f32).collect::<Vec<_>>())
    };
    let vectors: Vec<HalfVector> = made.into_iter().map(half).collect();
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(model.name.clone()),
            Box::new(i32::try_from(model.dimension).unwrap_or(i32::MAX)),
            Box::new(sources),
            Box::new(parts),
            Box::new(hashes),
            Box::new(vectors),
        ],
    );
}

/// How many passages to be embedded the user has, and how many of them are not embedded with the
/// model.
pub async fn count(scope: &Scope, model: &str) -> Result<(i64, i64)> {
    const SQL: &str = "select p.here + k.here, p.here + k.here - e.made - k.made from \
                         (select count(*) as here from passage where user_id = $1 \
                           and (role is null or role = 'user')) p, \
                         (select count(*) as made from embedding \
                           where user_id = $1 and model = $2) e, \
                         (select count(*) as here, \
                                 count(*) filter (where model = $2 and vector is not null) as made \
                            from packed_session cross join lateral \
                              unnest(roles, vectors) as s (role, vector) \
                           where user_id = $1 and role = 'user') k";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &model]).await?;
    let counted = one(&rows, |row| {
        let mut c = Columns::of(row, "passage");
        Ok((c.take()?, c.take()?))
    })?;
    Ok(counted.unwrap_or_default())
}
