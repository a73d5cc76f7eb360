//! Reads all rows about a user in a stable order: to be hashed, exported or rendered as files. One
//! user's data is small, and no request that an assistant waits for uses this.

use lukasa_core::{
    Episode, EpisodeId, FactId, Link, LinkId, Operation, Session, Timestamp, Turn, Version,
};

use crate::error::Result;
use crate::fact::{version, version_columns};
use crate::learning::{episode, episode_columns};
use crate::link::{link, link_columns};
use crate::operation::{operation, operation_columns, with_undo_state};
use crate::row::all;
use crate::scope::{Param, Scope};
use crate::session::{session, session_columns, turn, turn_columns};

/// Every current version, in any state.
pub async fn versions(scope: &Scope) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null \
          order by fact_id, valid_from, version_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, version)
}

/// Every version, open or closed, except erased ones.
pub async fn history(scope: &Scope) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 order by fact_id, known_from, valid_from, version_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, version)
}

/// Every open link.
pub async fn links(scope: &Scope) -> Result<Vec<Link>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        " from link where user_id = $1 and known_until is null order by link_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, link)
}

pub async fn episodes(scope: &Scope) -> Result<Vec<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and withdrawn_by is null \
           and session_id not in (select session_id from session where user_id = $1 \
             and trashed_at is not null) \
          order by started_at, episode_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, episode)
}

pub async fn sessions(scope: &Scope) -> Result<Vec<Session>> {
    const SQL: &str = concat!(
        "select ",
        session_columns!(),
        " from session where user_id = $1 and not incognito order by opened_at, session_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, session)
}

/// Every turn of the sessions that are not in the trash.
pub async fn turns(scope: &Scope) -> Result<Vec<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and withdrawn_by is null \
           and session_id not in (select session_id from session where user_id = $1 \
             and (trashed_at is not null or incognito)) \
          order by session_id, number"
    );
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, turn)
}

/// Every version of the next facts after one, whole facts at a time: either of facts in the trash,
/// or of all others.
pub async fn facts_after(
    scope: &Scope,
    after: Option<FactId>,
    trashed: bool,
    limit: i64,
) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and fact_id in ( \
            select f.fact_id from fact f where f.user_id = $1 \
               and ($2::uuid is null or f.fact_id > $2) \
               and $3 = exists (select 1 from fact_version v where v.user_id = $1 \
                     and v.fact_id = f.fact_id and v.known_until is null and v.state = 'trashed') \
             order by f.fact_id limit $4) \
          order by fact_id, known_from, valid_from, version_id"
    );
    let after = after.map(FactId::uuid);
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &after, &trashed, &limit];
    all(&scope.query(SQL, &params).await?, version)
}

/// The next links after one, including closed ones.
pub async fn links_after(scope: &Scope, after: Option<LinkId>, limit: i64) -> Result<Vec<Link>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        " from link where user_id = $1 and ($2::uuid is null or link_id > $2) \
          order by link_id limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &after.map(LinkId::uuid), &limit];
    all(&scope.query(SQL, &params).await?, link)
}

/// The next operations after a time, oldest first.
pub async fn operations_after(
    scope: &Scope,
    after: Option<Timestamp>,
    limit: i64,
) -> Result<Vec<Operation>> {
    const SQL: &str = concat!(
        "select ",
        operation_columns!(),
        " from operation o where o.user_id = $1 \
           and ($2::timestamptz is null or o.recorded_at > $2) order by o.recorded_at limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &after, &limit];
    with_undo_state(scope, all(&scope.query(SQL, &params).await?, operation)?).await
}

/// The next episodes after one, including those of sessions in the trash.
pub async fn episodes_after(
    scope: &Scope,
    after: Option<EpisodeId>,
    limit: i64,
) -> Result<Vec<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and withdrawn_by is null \
           and ($2::uuid is null or episode_id > $2) \
          order by episode_id limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &after.map(EpisodeId::uuid), &limit];
    all(&scope.query(SQL, &params).await?, episode)
}

/// The next sessions after an id, including those in the trash.
pub async fn sessions_after(
    scope: &Scope,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<Session>> {
    const SQL: &str = concat!(
        "select ",
        session_columns!(),
        " from session where user_id = $1 and not incognito \
           and ($2::text is null or session_id > $2) order by session_id limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &after, &limit];
    all(&scope.query(SQL, &params).await?, session)
}

/// The next turns after one, including those of sessions in the trash.
pub async fn turns_after(
    scope: &Scope,
    after: Option<(&str, i32)>,
    limit: i64,
) -> Result<Vec<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and withdrawn_by is null \
           and ($2::text is null or (session_id, number) > ($2, $3)) \
           and session_id not in (select session_id from session where user_id = $1 and incognito) \
          order by session_id, number limit $4"
    );
    let (session, number) = (after.map(|(session, _)| session), after.map(|(_, number)| number));
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &session, &number, &limit];
    all(&scope.query(SQL, &params).await?, turn)
}
