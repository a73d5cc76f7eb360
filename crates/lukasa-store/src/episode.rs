//! Episodes as recall reads them: by their ids, with their turns and the facts learned from these.

use lukasa_core::{Episode, EpisodeId, FactId, TurnId};
use uuid::Uuid;

use crate::error::Result;
use crate::learning::{episode, episode_columns};
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};

/// The condition that an episode is in use: neither it nor its session was removed. An episode whose
/// session is unknown, such as one from a vault, might belong to any project.
macro_rules! in_use {
    () => {
        "withdrawn_by is null and session_id in (select session_id from session \
           where user_id = $1 and trashed_at is null)"
    };
}

/// Those of these episodes that are in use and may be found, in no particular order.
pub async fn by_id(scope: &Scope, ids: &[EpisodeId]) -> Result<Vec<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and episode_id = any($2) and searchable and ",
        in_use!()
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &uuids(ids)]).await?, episode)
}

/// An episode that was not removed. Its session may be unknown.
pub async fn find(scope: &Scope, id: EpisodeId) -> Result<Option<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and episode_id = $2 and withdrawn_by is null \
           and session_id not in (select session_id from session where user_id = $1 \
             and trashed_at is not null)"
    );
    one(&scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?, episode)
}

/// The turns of an episode's range that were not summarised.
pub async fn left_out(scope: &Scope, id: EpisodeId) -> Result<Vec<i32>> {
    const SQL: &str = "select left_out from episode where user_id = $1 and episode_id = $2";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?;
    Ok(one(&rows, |row| Columns::of(row, "episode").take())?.unwrap_or_default())
}

/// The episodes in use of a session.
pub async fn of_session(scope: &Scope, session: &str) -> Result<Vec<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and session_id = $2 and withdrawn_by is null"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &session]).await?, episode)
}

/// Up to `limit` episodes that the titles and summaries of these sessions are made from: those in use, and
/// all of a session in the trash.
pub async fn of_sessions(scope: &Scope, sessions: &[String], limit: i64) -> Result<Vec<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and session_id = any($2) and (withdrawn_by is null \
           or session_id in (select session_id from session where user_id = $1 \
             and trashed_at is not null)) \
          order by session_id, first_turn, episode_id limit $3"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &sessions, &limit]).await?, episode)
}

/// Up to `limit` episodes in use that may be found and have no passage, the latest first: they were
/// stored before recall found episodes.
pub async fn without_passage(scope: &Scope, limit: i64) -> Result<Vec<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode e where user_id = $1 and searchable and ",
        in_use!(),
        " and not exists (select 1 from passage p where p.user_id = $1 \
             and p.source_id = e.episode_id) \
          order by ended_at desc, episode_id desc limit $2"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &limit]).await?, episode)
}

/// Those of these episodes of which not every turn is stored that was summarised.
pub async fn with_missing_turns(scope: &Scope, ids: &[EpisodeId]) -> Result<Vec<EpisodeId>> {
    const SQL: &str = "select e.episode_id from episode e \
                        where e.user_id = $1 and e.episode_id = any($2) and exists \
                          (select 1 from generate_series(e.first_turn, e.last_turn) n \
                            where n <> all(e.left_out) and not exists \
                              (select 1 from turn t where t.user_id = $1 \
                                 and t.session_id = e.session_id and t.number = n))";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &uuids(ids)]).await?;
    all(&rows, |row| Ok(EpisodeId::from_uuid(Columns::of(row, "episode").take()?)))
}

/// Has search find these episodes no longer.
pub fn mark_unsearchable(batch: &mut Batch, scope: &Scope, ids: &[EpisodeId]) {
    const SQL: &str =
        "update episode set searchable = false where user_id = $1 and episode_id = any($2)";
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(uuids(ids))]);
}

/// The stored turns of these episodes, with their numbers.
pub async fn turns_of(scope: &Scope, ids: &[EpisodeId]) -> Result<Vec<(EpisodeId, TurnId, i32)>> {
    const SQL: &str = "select e.episode_id, t.turn_id, t.number from episode e join turn t \
                           on t.user_id = e.user_id and t.session_id = e.session_id \
                          and t.number between e.first_turn and e.last_turn \
                        where e.user_id = $1 and e.episode_id = any($2)";
    all(&scope.query(SQL, &[&scope.user().uuid(), &uuids(ids)]).await?, |row| {
        let mut c = Columns::of(row, "turn");
        Ok((EpisodeId::from_uuid(c.take()?), TurnId::from_uuid(c.take()?), c.take()?))
    })
}

/// A current fact that was learned from turns or in a session.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedHere {
    pub fact: FactId,
    /// The turns that it or its evidence cites.
    pub turns: Vec<String>,
    pub session: Option<String>,
    pub domain: Option<String>,
    /// Whether it is strong, stated or confirmed.
    pub settled: bool,
    /// Whether it was forgotten on request.
    pub forgotten: bool,
    /// Whether it is in the trash.
    pub trashed: bool,
}

/// The facts that cite one of these turns or were learned in one of these sessions, also those in the
/// trash; of those that were forgotten, the ones forgotten on request.
pub async fn learned_here(
    scope: &Scope,
    turns: &[String],
    sessions: &[String],
) -> Result<Vec<LearnedHere>> {
    // A version that the user edited cites no turn, but its evidence still does.
    const SQL: &str = "select f.fact_id, c.turns, f.session, f.domain, \
                         f.tier = 'strong' or not f.extracted or f.consented_at is not null, \
                         f.state = 'forgotten', f.state = 'trashed' \
                        from fact_version f, lateral (select f.turns || array(select e ->> 'turn' \
                          from jsonb_array_elements(f.evidence) e \
                         where e ->> 'turn' is not null) as turns) c \
                        where f.user_id = $1 and f.known_until is null \
                          and (c.turns && $2 or f.session = any($3)) \
                          and (f.state in ('active', 'candidate', 'proposed', 'trashed') \
                            or f.state = 'forgotten' and exists (select 1 from operation o \
                                 where o.user_id = $1 and o.operation_id = f.opened_by \
                                   and o.verb = 'forget'))";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &turns, &sessions];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "fact_version");
        Ok(LearnedHere {
            fact: FactId::from_uuid(c.take()?),
            turns: c.take()?,
            session: c.take()?,
            domain: c.take()?,
            settled: c.take()?,
            forgotten: c.take()?,
            trashed: c.take()?,
        })
    })
}

fn uuids(ids: &[EpisodeId]) -> Vec<Uuid> {
    ids.iter().map(|id| id.uuid()).collect()
}
