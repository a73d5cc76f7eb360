//! Queries for the review by the user: proposals, facts that may be outdated, and recently
//! extracted facts.

use lukasa_core::{Timestamp, Version};

use crate::error::Result;
use crate::fact::{version, version_columns};
use crate::row::all;
use crate::scope::{Param, Scope};

/// Proposals and candidates, newest first.
pub async fn waiting(scope: &Scope, limit: i64) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null \
           and state in ('proposed', 'candidate') order by state desc, known_from desc, \
           version_id limit $2"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &limit]).await?, version)
}

/// Stated active facts that were last confirmed before `before`, or that use has contradicted
/// since; contradicted ones first, then the longest unconfirmed. The flag says whether use
/// contradicted it.
pub async fn doubtful(
    scope: &Scope,
    before: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(Version, bool)>> {
    const SQL: &str = concat!(
        "select * from (select ",
        version_columns!(),
        ", exists (select 1 from usage u where u.user_id = $1 and u.fact_id = v.fact_id \
             and u.type in ('contradicted', 'overridden') \
             and u.at >= coalesce(v.last_confirmed_at, v.known_from)) as refuted \
           from fact_version v where user_id = $1 and known_until is null and state = 'active' \
             and (not extracted or consented_at is not null) and valid_from <= $3 \
             and (valid_until is null or valid_until > $3)) t \
         where refuted or coalesce(last_confirmed_at, known_from) < $2 \
         order by refuted desc, coalesce(last_confirmed_at, known_from), version_id limit $4"
    );
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &before, &now, &limit];
    all(&scope.query(SQL, &params).await?, |row| {
        let refuted = crate::row::Columns::of(row, "fact_version").named("refuted")?;
        Ok((version(row)?, refuted))
    })
}

/// Active facts extracted since `since` that the user has not confirmed; newest first.
pub async fn learned_since(
    scope: &Scope,
    since: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null and state = 'active' \
           and extracted and consented_at is null and known_from >= $2 and valid_from <= $3 \
           and (valid_until is null or valid_until > $3) \
         order by known_from desc, version_id limit $4"
    );
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &since, &now, &limit];
    all(&scope.query(SQL, &params).await?, version)
}
