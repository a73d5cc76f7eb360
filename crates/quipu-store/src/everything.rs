//! Everything that is kept about a user, read whole and in a stable order: to be hashed, written out
//! or shown as files. One person's memory is small; nothing here is on the path of a request that
//! an assistant waits for.

use quipu_core::{Episode, Link, Session, Turn, Version};

use crate::error::Result;
use crate::fact::{version, version_columns};
use crate::learning::{episode, episode_columns};
use crate::link::{link, link_columns};
use crate::row::all;
use crate::scope::Scope;
use crate::session::{session, session_columns, turn, turn_columns};

/// Every version that is known now, in whatever standing.
pub async fn versions(scope: &Scope) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null \
          order by fact_id, valid_from, version_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, version)
}

/// Every version there ever was, except what was erased.
pub async fn history(scope: &Scope) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 order by fact_id, known_from, valid_from, version_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, version)
}

/// Every link that is known now.
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
