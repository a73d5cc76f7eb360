//! Reads all rows about a user in a stable order, in blocks: what is hashed, exported or rendered as
//! files.

use lukasa_core::{Episode, FactId, Link, Observation, Operation, Session, Turn, Version};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::blocks::Blocks;
use crate::context::{USAGE, Usage, use_of};
use crate::error::Result;
use crate::fact::{version, version_columns};
use crate::learning::{episode, episode_columns};
use crate::link::{link, link_columns};
use crate::observation::{observation, observation_columns};
use crate::operation::{operation_columns, operation_with_undos};
use crate::row::all;
use crate::scope::{Param, Scope};
use crate::session::{session, session_columns, turn, turn_columns};

/// Every current version, in any state.
pub async fn version_blocks(scope: &Scope) -> Result<Blocks<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null \
          order by fact_id, valid_from, version_id"
    );
    Blocks::open(scope, SQL, &[&scope.user().uuid()], version).await
}

/// The current versions of these facts, in any state.
pub async fn version_blocks_of(scope: &Scope, facts: &[FactId]) -> Result<Blocks<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and fact_id = any($2) and known_until is null \
          order by fact_id, valid_from, version_id"
    );
    let params: [Param<'_>; 2] = [&scope.user().uuid(), &uuids(facts)];
    Blocks::open(scope, SQL, &params, version).await
}

/// Every open link.
pub async fn open_link_blocks(scope: &Scope) -> Result<Blocks<Link>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        " from link where user_id = $1 and known_until is null order by link_id"
    );
    Blocks::open(scope, SQL, &[&scope.user().uuid()], link).await
}

/// The open links that begin at these facts.
pub async fn links_from(scope: &Scope, facts: &[FactId]) -> Result<Vec<Link>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        " from link where user_id = $1 and from_fact = any($2) and known_until is null \
          order by link_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &uuids(facts)]).await?, link)
}

fn uuids(facts: &[FactId]) -> Vec<Uuid> {
    facts.iter().map(|fact| fact.uuid()).collect()
}

/// Every open link in blocks, with whether both of its facts have a version outside the trash.
pub async fn link_blocks(scope: &Scope) -> Result<Blocks<(Link, bool)>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        ", exists (select 1 from fact_version v where v.user_id = $1 and v.fact_id = l.from_fact \
               and v.known_until is null and v.state <> 'trashed') \
           and exists (select 1 from fact_version v where v.user_id = $1 and v.fact_id = l.to_fact \
               and v.known_until is null and v.state <> 'trashed') as is_kept \
          from link l where user_id = $1 and known_until is null order by link_id"
    );
    let read = |row: &Row| Ok((link(row)?, row.try_get("is_kept")?));
    Blocks::open(scope, SQL, &[&scope.user().uuid()], read).await
}

/// Every episode of the sessions that are not in the trash.
pub async fn episode_blocks(scope: &Scope) -> Result<Blocks<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and withdrawn_by is null \
           and session_id not in (select session_id from session where user_id = $1 \
             and trashed_at is not null) \
          order by started_at, episode_id"
    );
    Blocks::open(scope, SQL, &[&scope.user().uuid()], episode).await
}

/// Every turn of the sessions that are not in the trash.
pub async fn turn_blocks(scope: &Scope) -> Result<Blocks<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and withdrawn_by is null \
           and session_id not in (select session_id from session where user_id = $1 \
             and (trashed_at is not null or incognito)) \
          order by session_id, number"
    );
    Blocks::open(scope, SQL, &[&scope.user().uuid()], turn).await
}

/// Every version of the facts in the trash, or of all others; those of a fact follow one another.
pub async fn history_blocks(scope: &Scope, trashed: bool) -> Result<Blocks<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version f where f.user_id = $1 \
           and $2 = exists (select 1 from fact_version v where v.user_id = $1 \
                 and v.fact_id = f.fact_id and v.known_until is null and v.state = 'trashed') \
          order by fact_id, known_from, valid_from, version_id"
    );
    let params: [Param<'_>; 2] = [&scope.user().uuid(), &trashed];
    Blocks::open(scope, SQL, &params, version).await
}

/// Every link, including closed ones.
pub async fn all_link_blocks(scope: &Scope) -> Result<Blocks<Link>> {
    const SQL: &str =
        concat!("select ", link_columns!(), " from link where user_id = $1 order by link_id");
    Blocks::open(scope, SQL, &[&scope.user().uuid()], link).await
}

/// Every operation, oldest first.
pub async fn operation_blocks(scope: &Scope) -> Result<Blocks<Operation>> {
    const SQL: &str = concat!(
        "select ",
        operation_columns!(),
        ", undos.undo_ids, undos.undone_ids \
          from operation o, lateral ( \
            with recursive undo as ( \
              select u.operation_id, u.undoes, u.recorded_at from operation u \
               where u.user_id = $1 and u.undoes = o.operation_id \
              union \
              select u.operation_id, u.undoes, u.recorded_at from undo \
                join operation u on u.user_id = $1 and u.undoes = undo.operation_id) \
            select array_agg(operation_id order by recorded_at desc) as undo_ids, \
                   array_agg(undoes order by recorded_at desc) as undone_ids from undo) as undos \
         where o.user_id = $1 order by o.recorded_at"
    );
    Blocks::open(scope, SQL, &[&scope.user().uuid()], operation_with_undos).await
}

/// Every episode, including those of sessions in the trash.
pub async fn all_episode_blocks(scope: &Scope) -> Result<Blocks<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and withdrawn_by is null order by episode_id"
    );
    Blocks::open(scope, SQL, &[&scope.user().uuid()], episode).await
}

/// Every session, including those in the trash.
pub async fn session_blocks(scope: &Scope) -> Result<Blocks<Session>> {
    const SQL: &str = concat!(
        "select ",
        session_columns!(),
        " from session where user_id = $1 and not incognito order by session_id"
    );
    Blocks::open(scope, SQL, &[&scope.user().uuid()], session).await
}

/// Whether there is any session, also in the trash.
pub async fn has_sessions(scope: &Scope) -> Result<bool> {
    const SQL: &str = "select 1 from session where user_id = $1 and not incognito limit 1";
    Ok(!scope.query(SQL, &[&scope.user().uuid()]).await?.is_empty())
}

/// Every turn, including those of sessions in the trash.
pub async fn all_turn_blocks(scope: &Scope) -> Result<Blocks<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and withdrawn_by is null \
           and session_id not in (select session_id from session where user_id = $1 and incognito) \
          order by session_id, number"
    );
    Blocks::open(scope, SQL, &[&scope.user().uuid()], turn).await
}

/// Every observation outside the trash.
pub async fn observation_blocks(scope: &Scope) -> Result<Blocks<Observation>> {
    const SQL: &str = concat!(
        "select ",
        observation_columns!(),
        " from observation where user_id = $1 and withdrawn_by is null order by observation_id"
    );
    Blocks::open(scope, SQL, &[&scope.user().uuid()], observation).await
}

/// Every use of a memory, newest first.
pub async fn usage_blocks(scope: &Scope) -> Result<Blocks<Usage>> {
    let (none, no_limit) = (None::<Uuid>, None::<i64>);
    let at = None::<lukasa_core::Timestamp>;
    let params: [Param<'_>; 6] = [&scope.user().uuid(), &none, &at, &none, &none, &no_limit];
    Blocks::open(scope, USAGE, &params, use_of).await
}
